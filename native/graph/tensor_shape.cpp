#include "graph/tensor_shape.hpp"

#include "graph/axes.hpp"

namespace mpsgraph_native {
namespace {

/// A start or end within [0, size] once a negative one is counted from the end.
std::int64_t resolve_bound(std::string_view operation, std::string_view argument, std::int64_t bound, int axis,
                           std::int64_t size) {
  if (bound < -size || bound > size)
    fail<ShapeError>(operation, argument, "must lie in [", -size, ", ", size, "] for axis ", axis, ", got ", bound);
  return bound < 0 ? bound + size : bound;
}

void require_one_per_axis(std::string_view operation, std::string_view argument, const Shape& values, int rank) {
  if (values.rank() != rank)
    fail<ShapeError>(operation, argument, "must have one value per axis, ", rank, ", got ", values);
}

Shape shape_of(const std::vector<SliceAxis>& axes) {
  Shape shape;
  for (const SliceAxis& axis : axes) shape.push_back(axis.count);
  return shape;
}

}  // namespace

std::vector<SliceAxis> resolve_slice(std::string_view operation, const Shape& shape, const Shape& starts,
                                     const Shape& ends, const Shape& strides) {
  const int rank = shape.rank();
  require_one_per_axis(operation, "starts", starts, rank);
  require_one_per_axis(operation, "ends", ends, rank);
  if (!strides.empty()) require_one_per_axis(operation, "strides", strides, rank);
  std::vector<SliceAxis> axes;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t stride = strides.empty() ? 1 : strides[axis];
    if (stride < 1 || stride > maximum_elements)
      fail<ShapeError>(operation, "strides", "must lie in [1, 2**31 - 1], got ", strides);
    const std::int64_t start = resolve_bound(operation, "starts", starts[axis], axis, shape[axis]);
    const std::int64_t end = resolve_bound(operation, "ends", ends[axis], axis, shape[axis]);
    axes.push_back({start, stride, end > start ? (end - start + stride - 1) / stride : 0});
  }
  return axes;
}

ResultTypes infer(const Reshape& attributes, const Operands& operands) {
  const std::int64_t elements = operands[0].shape.elements();
  Shape shape = attributes.shape;
  int inferred = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) continue;
    if (inferred >= 0)
      fail<ShapeError>(operands.operation(), "shape", "must have one -1 at most, got ", attributes.shape);
    inferred = axis;
    shape[axis] = 1;
  }
  check_size(shape, operands.operation(), "shape");
  const std::int64_t given = shape.elements();
  if (inferred >= 0) {
    if (given == 0 || elements % given != 0)
      fail<ShapeError>(operands.operation(), "shape", "must divide the ", elements, " elements of shape ",
                       operands[0].shape, ", got ", attributes.shape);
    shape[inferred] = elements / given;
  } else if (given != elements) {
    fail<ShapeError>(operands.operation(), "shape", "must have the ", elements, " elements of shape ",
                     operands[0].shape, ", got ", attributes.shape);
  }
  return {{operands[0].dtype, shape}};
}

ResultTypes infer(const Transpose& attributes, const Operands& operands) {
  const Shape& shape = operands[0].shape;
  require_one_per_axis(operands.operation(), "permutation", attributes.permutation, shape.rank());
  AxisSet seen;
  Shape result;
  for (const std::int64_t value : attributes.permutation) {
    const int axis = resolve_axis(operands.operation(), "permutation", value, shape.rank());
    if (seen[static_cast<std::size_t>(axis)])
      fail<ShapeError>(operands.operation(), "permutation", "must name every axis once, got ", attributes.permutation);
    seen.set(static_cast<std::size_t>(axis));
    result.push_back(shape[axis]);
  }
  return {{operands[0].dtype, result}};
}

ResultTypes infer(const Broadcast& attributes, const Operands& operands) {
  const Shape& shape = operands[0].shape;
  check_size(attributes.shape, operands.operation(), "shape");
  const int added = attributes.shape.rank() - shape.rank();
  bool fits = added >= 0;
  for (int axis = 0; fits && axis < shape.rank(); ++axis)
    fits = shape[axis] == 1 || shape[axis] == attributes.shape[axis + added];
  if (!fits)
    fail<ShapeError>(operands.operation(), "shape", "must be a shape that ", shape, " broadcasts to, got ",
                     attributes.shape);
  return {{operands[0].dtype, attributes.shape}};
}

ResultTypes infer(const Cast& attributes, const Operands& operands) {
  if (name_of(attributes.dtype) == "unknown")
    fail<DTypeError>(operands.operation(), "dtype", "must be a data type, got the value ",
                     static_cast<std::uint32_t>(attributes.dtype));
  return {{attributes.dtype, operands[0].shape}};
}

ResultTypes infer(const Slice& attributes, const Operands& operands) {
  const auto axes =
      resolve_slice(operands.operation(), operands[0].shape, attributes.starts, attributes.ends, attributes.strides);
  return {{operands[0].dtype, shape_of(axes)}};
}

ResultTypes infer(const SliceGradient& attributes, const Operands& operands) {
  check_size(attributes.fwd_in_shape, operands.operation(), "fwd_in_shape");
  const auto axes = resolve_slice(operands.operation(), attributes.fwd_in_shape, attributes.starts, attributes.ends,
                                  attributes.strides);
  operands.require_shape(0, shape_of(axes), "of the slice");
  return {{operands[0].dtype, attributes.fwd_in_shape}};
}

}  // namespace mpsgraph_native
