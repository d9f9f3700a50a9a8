#include "metal/device.hpp"

#include <pthread.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include <array>
#include <atomic>

#include "metal/guarded.hpp"
#include "runtime/device_faults.hpp"

namespace mpsgraph_native::metal {
namespace {

constexpr const char* no_device =
    "Metal finds no device: MTLCreateSystemDefaultDevice gave none, as in a virtual machine or a session without a GPU";

std::atomic<bool> forked{false};

struct Discovery {
  Device device;
  std::string reason;
};

Discovery discover() {
  Discovery found;
  try {
    guarded([&] {
      found.device.metal = MTLCreateSystemDefaultDevice();
      if (found.device.metal == nil) {
        found.reason = no_device;
        return;
      }
      found.device.name = to_string(found.device.metal.name);
      found.device.queue = [found.device.metal newCommandQueue];
      found.device.graph = [MPSGraphDevice deviceWithMTLDevice:found.device.metal];
      if (found.device.queue == nil || found.device.graph == nil)
        found.reason = text("the GPU ", found.device.name, " gives no command queue");
    });
  } catch (const std::exception& error) {
    found.reason = error.what();
  }
  if (found.reason.empty()) pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
  return found;
}

const Discovery& discovery() {
  static const Discovery* const instance = new Discovery(discover());  // lives on: calls may still run at exit
  return *instance;
}

}  // namespace

std::string reason_without_device() { return devices_are_hidden() ? no_device : discovery().reason; }

const Device& require_device() {
  if (forked_from_metal())
    throw DeviceError(
        "device mps cannot be used in a process forked from one that used Metal: start processes with the spawn method "
        "(use spawn)");
  if (const std::string reason = reason_without_device(); !reason.empty())
    throw DeviceError(text("device mps is not available: ", reason));
  return discovery().device;
}

bool forked_from_metal() { return forked.load(std::memory_order_relaxed); }

std::string describe_device() {
  if (!reason_without_device().empty()) return {};
#if defined(__APPLE__)
  return text("MPSGraph on ", discovery().device.name, ", macOS build ", system_build());
#else
  return text("stand-in for MPSGraph, not Apple's framework: ", discovery().device.name);
#endif
}

std::string system_build() {
#if defined(__APPLE__)
  std::array<char, 64> build{};
  std::size_t length = build.size() - 1;
  if (sysctlbyname("kern.osversion", build.data(), &length, nullptr, 0) != 0) return {};
  return build.data();
#else
  return "stand-in";
#endif
}

}  // namespace mpsgraph_native::metal
