#pragma once

#include "cpu/kernel.hpp"

namespace mpsgraph_native::cpu {

/// Makes a kernel for a request that holds float16 or bfloat16 operands: they are converted to float32 before it, its
/// results are rounded once after it. `make` gets the request with float32 in their place.
Kernel with_half_precision(const KernelRequest& request, const std::function<Kernel(const KernelRequest&)>& make);

}  // namespace mpsgraph_native::cpu
