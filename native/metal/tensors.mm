#include "metal/tensors.hpp"

#include <algorithm>
#include <utility>

namespace mpsgraph_native::metal {

NSArray<NSNumber*>* number_array(std::span<const std::int64_t> values) {
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray arrayWithCapacity:values.size()];
  for (const std::int64_t value : values) [numbers addObject:[NSNumber numberWithLongLong:value]];
  return numbers;
}

NSArray<NSNumber*>* shape_array(const Shape& shape) {
  const std::int64_t one = 1;
  return shape.empty() ? number_array({&one, 1}) : number_array({shape.begin(), shape.end()});
}

MPSDataType data_type(DataType dtype) {
  if (!has_data_type(dtype)) throw DTypeError(text("Metal has no ", dtype));
  return static_cast<MPSDataType>(dtype);  // both enumerations have MPSGraph's values
}

MPSGraphTensor* reshaped(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& shape) {
  return [graph reshapeTensor:tensor withShape:shape_array(shape) name:nil];
}

MPSGraphTensor* converted(MPSGraph* graph, MPSGraphTensor* tensor, DataType dtype) {
  return [graph castTensor:tensor toType:data_type(dtype) name:nil];
}

MPSGraphTensor* filled(MPSGraph* graph, double value, const TensorType& type) {
  return [graph constantWithScalar:value shape:shape_array(type.shape) dataType:data_type(type.dtype)];
}

MPSGraphTensor* transposed(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& permutation) {
  if (is_available(Transpose::name))
    return [graph transposeTensor:tensor permutation:number_array({permutation.begin(), permutation.end()}) name:nil];
  Shape order;  // of the tensor's axes so far
  for (int axis = 0; axis < permutation.rank(); ++axis) order.push_back(axis);
  for (int axis = 0; axis < permutation.rank(); ++axis) {
    const int from = static_cast<int>(std::find(order.begin(), order.end(), permutation[axis]) - order.begin());
    if (from == axis) continue;
    tensor = [graph transposeTensor:tensor
                          dimension:static_cast<NSUInteger>(axis)
                      withDimension:static_cast<NSUInteger>(from)
                               name:nil];
    std::swap(order[axis], order[from]);
  }
  return tensor;
}

MPSGraphTensor* sliced(MPSGraph* graph, MPSGraphTensor* tensor, std::span<const SliceAxis> axes) {
  Shape starts, ends, strides;
  for (const SliceAxis& axis : axes) {
    starts.push_back(axis.start);
    ends.push_back(axis.start + (axis.count - 1) * axis.stride + 1);
    strides.push_back(axis.count > 1 ? axis.stride : 1);
  }
  return [graph sliceTensor:tensor
                     starts:number_array({starts.begin(), starts.end()})
                       ends:number_array({ends.begin(), ends.end()})
                    strides:number_array({strides.begin(), strides.end()})
                       name:nil];
}

MPSGraphTensor* padded(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& before, const Shape& after, double value) {
  return [graph padTensor:tensor
          withPaddingMode:MPSGraphPaddingModeConstant
              leftPadding:shape_array(before)
             rightPadding:shape_array(after)
            constantValue:value
                     name:nil];
}

MPSGraphTensor* copied(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& shape) {
  // A view that is flattened must be copied. The negations, which undo each other exactly, keep the two reshapes from
  // being folded into none.
  MPSGraphTensor* flat = [graph negativeWithTensor:reshaped(graph, tensor, {shape.elements()}) name:nil];
  return [graph negativeWithTensor:reshaped(graph, flat, shape) name:nil];
}

MPSGraphTensor* int32_vector(MPSGraph* graph, const Shape& values) {
  std::vector<std::int32_t> elements(values.begin(), values.end());
  NSData* data = [NSData dataWithBytes:elements.data() length:elements.size() * sizeof(std::int32_t)];
  return [graph constantWithData:data shape:shape_array({values.rank()}) dataType:MPSDataTypeInt32];
}

void check_intermediate(std::string_view operation, std::string_view argument, const TensorType& type) {
  check_size(type.shape, operation, argument);
  if (type.bytes() > maximum_array_bytes)
    fail<ShapeError>(operation, argument, "must keep what device mps holds in between within 2**32 bytes, got ",
                     type.bytes());
}

}  // namespace mpsgraph_native::metal
