#pragma once

#include "cpu/kernel.hpp"

namespace mpsgraph_native::cpu {

using KernelMaker = std::function<Kernel(const Operation&, const KernelRequest&)>;

/// Makes a kernel for a request that holds float16 or bfloat16 operands: they are converted to float32 before it, its
/// results are rounded once after it. `make` gets the request with float32 in their place. Where the operation can be
/// cut, a part at a time is converted, so that the float32 copies stay in the caches.
Kernel with_half_precision(const Operation& operation, const KernelRequest& request, const KernelMaker& make);

}  // namespace mpsgraph_native::cpu
