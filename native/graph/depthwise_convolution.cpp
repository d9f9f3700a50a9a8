#include "graph/depthwise_convolution.hpp"

namespace mpsgraph_native {

ResultTypes infer(const DepthwiseConvolution2D&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const DepthwiseConvolution2DDataGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }
ResultTypes infer(const DepthwiseConvolution2DWeightsGradient&, const Operands& operands) { throw CompileError(text(operands.operation(), ": not built yet")); }

}  // namespace mpsgraph_native
