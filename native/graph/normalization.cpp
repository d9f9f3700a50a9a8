#include "graph/normalization.hpp"

namespace mpsgraph_native {

ResultTypes infer(const Mean&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
