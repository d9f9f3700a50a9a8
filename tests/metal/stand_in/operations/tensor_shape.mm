#include "positions.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "../element.hpp"

using namespace stand_in;

namespace {

MPSGraphTensor* add_reshape(const Site& site, MPSGraphTensor* tensor, Dims shape) {
  const std::int64_t elements = count(site.shape(tensor));
  std::int64_t known = 1, unknown = 0;
  for (const std::int64_t dim : shape) {
    site.require(dim >= -1, "a dimension is negative");
    if (dim == -1)
      ++unknown;
    else
      known *= dim;
  }
  site.require(unknown <= 1, "two dimensions are -1");
  for (std::int64_t& dim : shape)
    if (dim == -1) dim = known == 0 ? 0 : elements / known;
  site.require(count(shape) == elements, "the shapes differ in size");
  return site.add_one({tensor}, {shape, tensor.dataType}, [](const Operands& in) { return in[0].values; });
}

MPSGraphTensor* add_transpose(const Site& site, MPSGraphTensor* tensor, const std::vector<std::size_t>& permutation) {
  const Dims shape = site.shape(tensor);
  Dims result(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) result[axis] = shape[permutation[axis]];
  return site.add_one({tensor}, {result, tensor.dataType}, [=](const Operands& in) {
    Values values(in[0].values.size());
    Dims from(shape.size());
    each_position(result, [&](std::size_t number, const Dims& position) {
      for (std::size_t axis = 0; axis < position.size(); ++axis) from[permutation[axis]] = position[axis];
      values[number] = in[0].values[number_of(shape, from)];
    });
    return values;
  });
}

MPSGraphTensor* add_concat(const Site& site, NSArray<MPSGraphTensor*>* tensors, NSInteger dimension) {
  site.require(tensors.count > 0, "there are no tensors");
  Dims shape = site.shape(tensors[0]);
  const std::size_t along = site.axis(dimension, shape.size());
  std::vector<MPSGraphTensor*> inputs;
  shape[along] = 0;
  for (MPSGraphTensor* tensor in tensors) {
    Dims other = site.shape(tensor);
    site.require(other.size() == shape.size(), "the tensors differ in rank");
    const std::int64_t length = other[along];
    other[along] = shape[along];
    site.require(other == shape, "the tensors differ along another dimension");
    site.require(tensor.dataType == tensors[0].dataType, "the tensors differ in type");
    shape[along] += length;
    inputs.push_back(tensor);
  }
  return site.add_one(inputs, {shape, tensors[0].dataType}, [=](const Operands& in) {
    Values values(static_cast<std::size_t>(count(shape)));
    std::int64_t start = 0;
    for (const HostTensor& tensor : in) {
      each_position(tensor.shape, [&](std::size_t number, const Dims& position) {
        Dims to = position;
        to[along] += start;
        values[number_of(shape, to)] = tensor.values[number];
      });
      start += tensor.shape[along];
    }
    return values;
  });
}

/// Floats truncate and saturate, NaN is 0; integers wrap around.
Value converted(Value value, MPSDataType from, MPSDataType to) {
  if (to == MPSDataTypeBool) return value != 0 ? 1 : 0;
  if (!is_integer(to)) return value;
  if (!is_floating(from)) return wrapped(to, static_cast<__int128>(value));
  if (std::isnan(value)) return 0;
  const int bits = static_cast<int>(static_cast<std::uint32_t>(to) & 0xff);
  const bool is_signed = (static_cast<std::uint32_t>(to) & MPSDataTypeSignedBit) != 0;
  const __int128 one = 1;
  const __int128 largest = (one << (is_signed ? bits - 1 : bits)) - 1, smallest = is_signed ? -largest - 1 : 0;
  if (value >= std::ldexp(Value(1), is_signed ? bits - 1 : bits)) return static_cast<Value>(largest);
  if (value <= static_cast<Value>(smallest)) return static_cast<Value>(smallest);
  return std::trunc(value);
}

}  // namespace

@implementation MPSGraph (MPSGraphTensorShapeOps)
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor withShape:(MPSShape*)shape name:(NSString*)name {
  const Site site{self, "reshape"};
  site.require(shape != nil, "the shape is nil");
  return add_reshape(site, tensor, dims(shape));
}
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)first
                     withDimension:(NSUInteger)second
                              name:(NSString*)name {
  const Site site{self, "transpose"};
  const std::size_t rank = site.shape(tensor).size();
  site.require(first < rank && second < rank, "a dimension is out of range");
  std::vector<std::size_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[first], permutation[second]);
  return add_transpose(site, tensor, permutation);
}
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                       permutation:(NSArray<NSNumber*>*)permutation
                              name:(NSString*)name {
  const Site site{self, "transpose"};
  const std::size_t rank = site.shape(tensor).size();
  const Dims order = site.sizes(permutation, rank, 0, "the permutation does not name every dimension");
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : order) {
    site.require(axis < static_cast<std::int64_t>(rank), "the permutation names a dimension out of range");
    site.require(!seen[static_cast<std::size_t>(axis)], "the permutation names a dimension twice");
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return add_transpose(site, tensor, {order.begin(), order.end()});
}
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor toShape:(MPSShape*)shape name:(NSString*)name {
  const Site site{self, "broadcast"};
  site.require(shape != nil, "the shape is nil");
  const Dims to = dims(shape);
  Dims joined;
  site.require(broadcast(site.shape(tensor), to, joined) && joined == to, "the tensor does not broadcast to the shape");
  return site.add_one({tensor}, {to, tensor.dataType}, [to](const Operands& in) { return expanded(in[0], to); });
}
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString*)name {
  const Site site{self, "cast"};
  const Dims shape = site.shape(tensor);
  site.require(element_size(type) > 0, "the type cannot be cast to");
  return site.add_one({tensor}, {shape, type}, [type](const Operands& in) {
    Values values = in[0].values;
    for (Value& value : values) value = converted(value, in[0].type, type);
    return values;
  });
}
- (MPSGraphTensor*)concatTensor:(MPSGraphTensor*)tensor
                     withTensor:(MPSGraphTensor*)second
                      dimension:(NSInteger)dimension
                           name:(NSString*)name {
  const Site site{self, "concat"};
  site.require(tensor != nil && second != nil, "a tensor is nil");
  return add_concat(site, @[ tensor, second ], dimension);
}
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                            name:(NSString*)name {
  return add_concat({self, "concat"}, tensors, dimension);
}
- (MPSGraphTensor*)padTensor:(MPSGraphTensor*)tensor
             withPaddingMode:(MPSGraphPaddingMode)mode
                 leftPadding:(MPSShape*)leftPadding
                rightPadding:(MPSShape*)rightPadding
               constantValue:(double)constantValue
                        name:(NSString*)name {
  const Site site{self, "pad"};
  const Dims shape = site.shape(tensor);
  site.require(mode == MPSGraphPaddingModeConstant || mode == MPSGraphPaddingModeZero,
               "the stand-in pads with constants only");
  const Dims before = site.sizes(leftPadding, shape.size(), 0, "leftPadding is not one size per dimension");
  const Dims after = site.sizes(rightPadding, shape.size(), 0, "rightPadding is not one size per dimension");
  const Value fill = mode == MPSGraphPaddingModeZero ? 0 : constantValue;
  Dims result = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) result[axis] += before[axis] + after[axis];
  return site.add_one({tensor}, {result, tensor.dataType}, [=](const Operands& in) {
    Values values(static_cast<std::size_t>(count(result)), fill);
    each_position(shape, [&](std::size_t number, const Dims& position) {
      Dims to = position;
      for (std::size_t axis = 0; axis < to.size(); ++axis) to[axis] += before[axis];
      values[number_of(result, to)] = in[0].values[number];
    });
    return values;
  });
}
@end
