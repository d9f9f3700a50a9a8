#include "graph/convolution.hpp"

namespace mpsgraph_native {

ResultTypes infer(const Convolution2D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const Convolution2DDataGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const Convolution2DWeightsGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
