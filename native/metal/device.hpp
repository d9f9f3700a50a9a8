#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>

namespace mpsgraph_native::metal {

/// The system's default GPU, found once and kept for the life of the process.
struct Device {
  id<MTLDevice> metal;
  id<MTLCommandQueue> queue;
  MPSGraphDevice* graph;
  std::string name;
};

/// Why no device can be used here; empty when one can.
std::string reason_without_device();

/// Raises DeviceError where there is none, and in a process that was forked after the device was found.
const Device& require_device();

/// Whether this process was forked from one that had found the device. Metal's objects are dead in it: they are neither
/// used nor released.
bool forked_from_metal();

/// The device in words. Where the frameworks are not Apple's it says so.
std::string describe_device();

/// The system's build, which decides whether a stored executable is still good.
std::string system_build();

}  // namespace mpsgraph_native::metal
