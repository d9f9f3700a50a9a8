#include "graph/normalization.hpp"

#include "graph/axes.hpp"

namespace mpsgraph_native {

ResultTypes infer(const Mean& attributes, const Operands& operands) {
  const DataType dtype = operands.common_floating();
  Shape shape = operands[0].shape;
  const AxisSet reduced = resolve_axes(operands.operation(), attributes.axes, attributes.all_axes, shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (reduced[static_cast<std::size_t>(axis)]) shape[axis] = 1;
  return {{dtype, shape}};
}

}  // namespace mpsgraph_native
