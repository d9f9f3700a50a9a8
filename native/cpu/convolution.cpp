#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const Convolution2D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Convolution2DDataGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Convolution2DWeightsGradient&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
