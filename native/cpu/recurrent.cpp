#include "cpu/kernels.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const GRU&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const GRUGradients&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const LSTM&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const LSTMGradients&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const SingleGateRNN&, const KernelRequest&) { throw CompileError("not built yet"); }
Kernel make_kernel(const SingleGateRNNGradients&, const KernelRequest&) { throw CompileError("not built yet"); }

}  // namespace mpsgraph_native::cpu
