#pragma once

#include <span>
#include <string_view>

#include "runtime/engine.hpp"

namespace mpsgraph_native {

/// Every engine that this build knows, available or not, in the order of preference.
MPSGRAPH_API std::span<const Engine* const> engines();

/// The engine of that name. Raises DeviceError naming `device` when it is unknown or not available.
MPSGRAPH_API const Engine& engine_named(std::string_view name);

/// Instruction sets of the cpu engine that this machine can run, and the one in use.
MPSGRAPH_API std::vector<std::string> cpu_instruction_sets();
MPSGRAPH_API std::string cpu_instruction_set();
MPSGRAPH_API void set_cpu_instruction_set(std::string_view name);

}  // namespace mpsgraph_native
