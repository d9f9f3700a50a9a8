#include "graph/loss.hpp"

#include "graph/axes.hpp"

namespace mpsgraph_native {
namespace {

/// The losses keep the axis with size 1; their sum and their mean are scalars.
Shape loss_shape(const Operands& operands, std::size_t source, std::int64_t axis, LossReductionType reduction_type) {
  Shape shape = operands[source].shape;
  const int resolved = resolve_axis(operands.operation(), "axis", axis, shape.rank());
  operands.require_shape(source + 1, shape, "of source");
  if (reduction_type != LossReductionType::None) return {};
  shape[resolved] = 1;
  return shape;
}

}  // namespace

ResultTypes infer(const SoftmaxCrossEntropy& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  return {{dtype, loss_shape(operands, 0, attributes.axis, attributes.reduction_type)}};
}

ResultTypes infer(const SoftmaxCrossEntropyGradient& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  operands.require_shape(0, loss_shape(operands, 1, attributes.axis, attributes.reduction_type), "of the loss");
  return {{dtype, operands[1].shape}};
}

}  // namespace mpsgraph_native
