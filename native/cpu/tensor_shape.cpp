#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const Reshape&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Transpose&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Broadcast&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Cast&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Slice&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const SliceGradient&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
