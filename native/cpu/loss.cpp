#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const SoftmaxCrossEntropy&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const SoftmaxCrossEntropyGradient&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
