#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const Select&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_unary_kernel(UnaryFunction, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_binary_kernel(BinaryFunction, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_comparison_kernel(ComparisonFunction, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
