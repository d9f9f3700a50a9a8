#include "graph/memory.hpp"

namespace mpsgraph_native {

ResultTypes infer(const Placeholder& attributes, const Operands& operands) {
  check_size(attributes.type.shape, operands.operation(), "shape");
  return {attributes.type};
}

ResultTypes infer(const Constant& attributes, const Operands& operands) {
  check_size(attributes.type.shape, operands.operation(), "shape");
  if (!attributes.data || attributes.data->size() != attributes.type.bytes())
    fail<ShapeError>(operands.operation(), "data", "must fill the shape ", attributes.type.shape);
  return {attributes.type};
}

}  // namespace mpsgraph_native
