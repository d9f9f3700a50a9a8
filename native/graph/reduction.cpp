#include "graph/reduction.hpp"

#include "graph/axes.hpp"

namespace mpsgraph_native {
namespace {

void require_number(const Operands& operands) {
  const DataType dtype = operands[0].dtype;
  if (!is_floating(dtype) && dtype != DataType::Int32 && dtype != DataType::Int64)
    fail<DTypeError>(operands.operation(), operands.name(0),
                     "must be float32, float16, bfloat16, float64, int32 or int64, got ", dtype);
}

template <class Attributes>
ResultTypes infer_reduction(const Attributes& attributes, const Operands& operands) {
  require_number(operands);
  Shape shape = operands[0].shape;
  const AxisSet reduced = resolve_axes(operands.operation(), attributes.axes, attributes.all_axes, shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (reduced[static_cast<std::size_t>(axis)]) shape[axis] = 1;
  return {{operands[0].dtype, shape}};
}

ResultTypes infer_arg_reduction(std::int64_t axis, const Operands& operands) {
  require_number(operands);
  Shape shape = operands[0].shape;
  const int resolved = resolve_axis(operands.operation(), "axis", axis, shape.rank());
  if (shape[resolved] == 0)
    fail<ShapeError>(operands.operation(), "axis", "must name an axis with elements, got ", axis, " of shape ", shape);
  shape[resolved] = 1;
  return {{DataType::Int32, shape}};
}

}  // namespace

ResultTypes infer(const ReductionSum& attributes, const Operands& operands) {
  return infer_reduction(attributes, operands);
}
ResultTypes infer(const ReductionProduct& attributes, const Operands& operands) {
  return infer_reduction(attributes, operands);
}
ResultTypes infer(const ReductionMaximum& attributes, const Operands& operands) {
  return infer_reduction(attributes, operands);
}
ResultTypes infer(const ReductionMinimum& attributes, const Operands& operands) {
  return infer_reduction(attributes, operands);
}
ResultTypes infer(const ReductionArgMaximum& attributes, const Operands& operands) {
  return infer_arg_reduction(attributes.axis, operands);
}
ResultTypes infer(const ReductionArgMinimum& attributes, const Operands& operands) {
  return infer_arg_reduction(attributes.axis, operands);
}

}  // namespace mpsgraph_native
