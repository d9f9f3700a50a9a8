#pragma once

#include <cstdint>
#include <string>

#include "graph/export.hpp"

namespace mpsgraph_native {

enum class Precision {
  Fast,   ///< algorithms whose error is a small multiple of a plain sum's may be chosen for their speed
  Exact,  ///< only sums of the products that the formula has
};

/// What the user chooses about the engines.
struct DeviceSettings {
  /// Of the cpu engine. MPSGRAPH_NATIVE_PRECISION.
  Precision precision = Precision::Fast;
  /// MPSGraph's optimization level: 0 keeps to the core optimizations, so that results can be compared with the cpu
  /// engine's; 1 may place work on other units of the chip and change the last bits. MPSGRAPH_NATIVE_OPTIMIZATION.
  int optimization_level = 0;
  /// Whether compiled executables are kept on disk. MPSGRAPH_NATIVE_CACHE=0 turns it off.
  bool package_cache = true;
  /// Where they are kept: MPSGRAPH_NATIVE_CACHE_DIR, else ~/Library/Caches/mpsgraph_native on macOS; empty: nowhere.
  std::string package_cache_directory;
  /// Bytes that they may take together; the least recently used ones go. MPSGRAPH_NATIVE_CACHE_DIR_LIMIT_BYTES.
  std::uint64_t package_cache_limit_bytes = std::uint64_t{1} << 30;
};

/// The environment is read once, by the first call. Raises ShapeError naming a variable that has no meaning.
MPSGRAPH_API DeviceSettings device_settings();
/// Counts for executables that are compiled from now on.
MPSGRAPH_API void set_device_settings(DeviceSettings settings);

/// Receives what the user should know and that is no error. Called without any native lock held.
using WarningCallback = void (*)(const char* message);
MPSGRAPH_API void set_warning_callback(WarningCallback callback);
/// Without a callback the message goes to stderr.
void warn(const std::string& message);

}  // namespace mpsgraph_native
