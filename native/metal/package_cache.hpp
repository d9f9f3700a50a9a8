#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <optional>
#include <string>

#include "metal/device.hpp"
#include "metal/package_store.hpp"
#include "runtime/device_settings.hpp"

namespace mpsgraph_native::metal {

/// A compiled executable and the order of its feeds and results.
struct StoredExecutable {
  MPSGraphExecutable* executable = nil;
  PackageOrder order;
};

/// Compiled executables on disk, from macOS 14 on: the place of one program. Whatever goes wrong here is a miss with
/// one warning.
class PackageCache {
 public:
  PackageCache(const Device& device, const DeviceSettings& settings, const Program& program);

  /// nullopt where there is none.
  std::optional<StoredExecutable> load(MPSGraphCompilationDescriptor* descriptor) const;
  void store(const StoredExecutable& stored) const;

 private:
  std::optional<std::string> signature_;  // none: not kept
  PackageStore store_;
};

}  // namespace mpsgraph_native::metal
