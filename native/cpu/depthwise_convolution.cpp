#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const DepthwiseConvolution2D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const DepthwiseConvolution2DDataGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const DepthwiseConvolution2DWeightsGradient&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
