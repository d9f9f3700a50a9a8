#pragma once

#include "cpu/isa/reduction.hpp"
#include "cpu/kernel.hpp"
#include "graph/axes.hpp"

namespace mpsgraph_native::cpu {

/// Reduces the operand over the axes of the set. `mean` divides a floating sum by the number of its terms.
Kernel make_reduction_kernel(ReductionFunction function, const AxisSet& axes, bool mean, const KernelRequest& request);

}  // namespace mpsgraph_native::cpu
