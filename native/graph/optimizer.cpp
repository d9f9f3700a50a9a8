#include "graph/optimizer.hpp"

namespace mpsgraph_native {

ResultTypes infer(const StochasticGradientDescent&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
