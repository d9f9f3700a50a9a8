#include "graph/activation.hpp"

namespace mpsgraph_native {

ResultTypes infer(const Relu&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const ReluGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const Sigmoid&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const SigmoidGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const Softmax&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const SoftmaxGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
