#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cpu/isa/families.hpp"

namespace mpsgraph_native::cpu {

/// The kernels of the instruction set in use: the widest that this processor has, the one that
/// MPSGRAPH_NATIVE_ISA names, or the one set. Raises DeviceError when that one is unknown or not available.
const KernelTable& kernel_table();

/// Chooses the kernels of operations that are compiled from now on.
void set_instruction_set(std::string_view name);

/// Instruction sets that this build has and this processor can run, narrowest first.
std::vector<std::string> available_instruction_sets();

/// Of float and double: Kernels<T>; of int32 and int64: IntegerKernels<T>.
template <class T>
const auto& kernels() {
  if constexpr (std::is_same_v<T, float>)
    return kernel_table().f32;
  else if constexpr (std::is_same_v<T, double>)
    return kernel_table().f64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return kernel_table().i32;
  else
    return kernel_table().i64;
}

}  // namespace mpsgraph_native::cpu
