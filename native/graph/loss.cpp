#include "graph/loss.hpp"

namespace mpsgraph_native {

ResultTypes infer(const SoftmaxCrossEntropy&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const SoftmaxCrossEntropyGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
