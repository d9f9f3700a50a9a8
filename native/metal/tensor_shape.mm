#include <algorithm>

#include "graph/axes.hpp"
#include "metal/lowerings.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {
namespace {

Lowered same(const LoweringSite& site) { return {[site.graph identityWithTensor:site.inputs[0] name:nil]}; }

/// Puts stride − 1 zeros between the elements of one axis, whose size the shape then holds.
MPSGraphTensor* spread(MPSGraph* graph, MPSGraphTensor* tensor, const TensorType& type, int axis, std::int64_t stride,
                       Shape& shape) {
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t count = shape[axis], span = (count - 1) * stride + 1;
  check_intermediate(SliceGradient::name, "strides", {type.dtype, {outer, count, stride, inner}});
  tensor = reshaped(graph, tensor, {outer, count, 1, inner});
  tensor = padded(graph, tensor, {0, 0, 0, 0}, {0, 0, stride - 1, 0}, 0);
  tensor = reshaped(graph, tensor, {outer, count * stride, inner});
  tensor = sliced(graph, tensor, std::array<SliceAxis, 3>{{{0, 1, outer}, {0, 1, span}, {0, 1, inner}}});
  shape[axis] = span;
  return reshaped(graph, tensor, shape);
}

/// Zeros around and between the elements, by padding alone.
MPSGraphTensor* scattered(const LoweringSite& site, std::span<const SliceAxis> axes) {
  const TensorType& type = site.output_types[0];
  MPSGraphTensor* tensor = site.inputs[0];
  Shape shape = site.input_types[0]->shape, before, after;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const SliceAxis& taken = axes[static_cast<std::size_t>(axis)];
    if (taken.stride > 1 && taken.count > 1) tensor = spread(site.graph, tensor, type, axis, taken.stride, shape);
    before.push_back(taken.start);
    after.push_back(type.shape[axis] - taken.start - shape[axis]);
  }
  return padded(site.graph, tensor, before, after, 0);
}

}  // namespace

Lowered lower(const Reshape&, const LoweringSite& site) {
  return {reshaped(site.graph, site.inputs[0], site.output_types[0].shape)};
}

Lowered lower(const Transpose& attributes, const LoweringSite& site) {
  if (attributes.permutation.empty()) return same(site);
  Shape permutation;
  for (const std::int64_t axis : attributes.permutation)
    permutation.push_back(resolve_axis(attributes.name, "permutation", axis, attributes.permutation.rank()));
  return {transposed(site.graph, site.inputs[0], permutation)};
}

Lowered lower(const Broadcast& attributes, const LoweringSite& site) {
  const Shape& shape = site.input_types[0]->shape;
  MPSGraphTensor* tensor = site.inputs[0];
  if (shape.rank() < attributes.shape.rank()) {
    Shape aligned;
    for (int axis = shape.rank(); axis < attributes.shape.rank(); ++axis) aligned.push_back(1);
    for (const std::int64_t dim : shape) aligned.push_back(dim);
    tensor = reshaped(site.graph, tensor, aligned);
  }
  return {[site.graph broadcastTensor:tensor toShape:shape_array(attributes.shape) name:nil]};
}

Lowered lower(const Cast& attributes, const LoweringSite& site) {
  const TensorType& type = *site.input_types[0];
  if (type.dtype == attributes.dtype) return same(site);
  // A cast may truncate before it looks, and fractions are true.
  if (attributes.dtype == DataType::Bool)
    return {[site.graph notEqualWithPrimaryTensor:site.inputs[0]
                                  secondaryTensor:filled(site.graph, 0, {type.dtype, {}})
                                             name:nil]};
  return {converted(site.graph, site.inputs[0], attributes.dtype)};
}

Lowered lower(const Slice& attributes, const LoweringSite& site) {
  const Shape& shape = site.input_types[0]->shape;
  if (shape.empty()) return same(site);
  return {sliced(site.graph, site.inputs[0],
                 resolve_slice(attributes.name, shape, attributes.starts, attributes.ends, attributes.strides))};
}

Lowered lower(const SliceGradient& attributes, const LoweringSite& site) {
  const Shape& shape = attributes.fwd_in_shape;
  if (shape.empty()) return same(site);
  const auto axes = resolve_slice(attributes.name, shape, attributes.starts, attributes.ends, attributes.strides);
  if (concerned(Fault::StridedSliceGradient, attributes, site)) return {scattered(site, axes)};
  Shape starts, ends, strides;
  for (const SliceAxis& axis : axes) {
    starts.push_back(axis.start);
    ends.push_back(axis.start + axis.count);
    strides.push_back(1);
  }
  return {[site.graph sliceGradientTensor:site.inputs[0]
                         fwdInShapeTensor:int32_vector(site.graph, shape)
                                   starts:shape_array(starts)
                                     ends:shape_array(ends)
                                  strides:shape_array(strides)
                                     name:nil]};
}

}  // namespace mpsgraph_native::metal
