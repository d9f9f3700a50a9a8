#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const MaxPooling2D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const MaxPooling2DReturnIndices&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const MaxPooling2DGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const AvgPooling2D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const AvgPooling2DGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const MaxPooling4D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const MaxPooling4DReturnIndices&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const MaxPooling4DGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const AvgPooling4D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const AvgPooling4DGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const L2NormPooling4D&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const L2NormPooling4DGradient&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
