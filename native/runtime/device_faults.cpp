#include "runtime/device_faults.hpp"

#include <atomic>

namespace mpsgraph_native {
namespace {

std::atomic<int> failing_command_buffers{0};
std::atomic<bool> hidden_devices{false};

}  // namespace

void fail_command_buffers_for_testing(int count) { failing_command_buffers.store(count); }
void hide_devices_for_testing(bool hidden) { hidden_devices.store(hidden); }

bool take_command_buffer_fault() {
  int left = failing_command_buffers.load();
  while (left > 0)
    if (failing_command_buffers.compare_exchange_weak(left, left - 1)) return true;
  return false;
}
bool devices_are_hidden() { return hidden_devices.load(); }

}  // namespace mpsgraph_native
