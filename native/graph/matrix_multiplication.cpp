#include "graph/matrix_multiplication.hpp"

namespace mpsgraph_native {

ResultTypes infer(const MatrixMultiplication&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
