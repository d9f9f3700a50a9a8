#pragma once

#include <cstddef>

#include "graph/export.hpp"

namespace mpsgraph_native {

// Fault hooks of the engines that drive a device. An engine without one never asks.

/// The next `count` command buffers report an error instead of completing.
MPSGRAPH_API void fail_command_buffers_for_testing(int count);
/// The system reports no device.
MPSGRAPH_API void hide_devices_for_testing(bool hidden);

/// Whether the command buffer that is about to be submitted shall fail; counts it.
bool take_command_buffer_fault();
bool devices_are_hidden();

}  // namespace mpsgraph_native
