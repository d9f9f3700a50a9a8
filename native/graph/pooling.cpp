#include "graph/pooling.hpp"

namespace mpsgraph_native {

ResultTypes infer(const MaxPooling2D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const MaxPooling2DReturnIndices&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const MaxPooling2DGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const AvgPooling2D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const AvgPooling2DGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const MaxPooling4D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const MaxPooling4DReturnIndices&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const MaxPooling4DGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const AvgPooling4D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const AvgPooling4DGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const L2NormPooling4D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const L2NormPooling4DGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
