#include "graph/activation.hpp"

#include "graph/axes.hpp"

namespace mpsgraph_native {
namespace {

ResultTypes same_as_tensor(const Operands& operands) { return {{operands.common_floating(), operands[0].shape}}; }

/// Operands (incoming_gradient, source); the gradient has the shape of the source.
ResultTypes gradient_of_source(const Operands& operands) {
  const DataType dtype = operands.common_floating();
  operands.require_shape(0, operands[1].shape, "of source");
  return {{dtype, operands[1].shape}};
}

}  // namespace

ResultTypes infer(const Relu&, const Operands& operands) { return same_as_tensor(operands); }
ResultTypes infer(const ReluGradient&, const Operands& operands) { return gradient_of_source(operands); }
ResultTypes infer(const Sigmoid&, const Operands& operands) { return same_as_tensor(operands); }
ResultTypes infer(const SigmoidGradient&, const Operands& operands) { return gradient_of_source(operands); }

ResultTypes infer(const Softmax& attributes, const Operands& operands) {
  ResultTypes result = same_as_tensor(operands);
  resolve_axis(operands.operation(), "axis", attributes.axis, operands[0].shape.rank());
  return result;
}

ResultTypes infer(const SoftmaxGradient& attributes, const Operands& operands) {
  ResultTypes result = gradient_of_source(operands);
  resolve_axis(operands.operation(), "axis", attributes.axis, operands[1].shape.rank());
  return result;
}

}  // namespace mpsgraph_native
