#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "cpu/isa/families.hpp"

namespace mpsgraph_native::cpu {

/// The kernels of the instruction set in use: the widest that this processor has, or the one that
/// MPSGRAPH_NATIVE_ISA names. Raises DeviceError when that one is unknown or not available.
const KernelTable& kernel_table();

/// Instruction sets that this build has and this processor can run, narrowest first.
std::vector<std::string> available_instruction_sets();

template <class T>
const Kernels<T>& kernels() {
  if constexpr (std::is_same_v<T, float>)
    return kernel_table().f32;
  else
    return kernel_table().f64;
}

}  // namespace mpsgraph_native::cpu
