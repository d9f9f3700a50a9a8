#include "graph/optimizer.hpp"

namespace mpsgraph_native {

ResultTypes infer(const StochasticGradientDescent&, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  if (operands[0].shape.elements() != 1)
    fail<ShapeError>(operands.operation(), operands.name(0), "must have one element, got shape ", operands[0].shape);
  operands.require_shape(2, operands[1].shape, "of values");
  return {{dtype, operands[1].shape}};
}

}  // namespace mpsgraph_native
