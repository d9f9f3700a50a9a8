#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const ReductionSum&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const ReductionProduct&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const ReductionMaximum&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const ReductionMinimum&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const ReductionArgMaximum&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const ReductionArgMinimum&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
