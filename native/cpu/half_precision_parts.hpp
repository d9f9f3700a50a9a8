#pragma once

#include <optional>

#include "cpu/half_precision.hpp"

namespace mpsgraph_native::cpu {

/// The kernel that converts and computes one part after another, a part on one thread; none where the operation cannot
/// be cut, or all of it is one part.
std::optional<Kernel> converted_in_parts(const Operation& operation, const KernelRequest& request,
                                         const KernelMaker& make);

}  // namespace mpsgraph_native::cpu
