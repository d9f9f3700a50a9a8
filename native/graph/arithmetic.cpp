#include "graph/arithmetic.hpp"

namespace mpsgraph_native {

ResultTypes infer(const Select&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer_unary(const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer_binary(const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer_comparison(const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
