#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const Relu&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const ReluGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Sigmoid&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const SigmoidGradient&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const Softmax&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const SoftmaxGradient&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
