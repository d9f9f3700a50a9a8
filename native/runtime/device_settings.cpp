#include "runtime/device_settings.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "graph/error.hpp"

namespace mpsgraph_native {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The variable as 0 or 1; `otherwise` when it is not set.
int flag(const char* name, int otherwise) {
  const std::string_view value = environment(name);
  if (value.empty()) return otherwise;
  if (value != "0" && value != "1") throw ShapeError(text(name, " must be 0 or 1, got ", value));
  return value == "1";
}

std::uint64_t bytes(const char* name, std::uint64_t otherwise) {
  const std::string_view value = environment(name);
  if (value.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    throw ShapeError(text(name, " must be a number of bytes, got ", value));
  return number;
}

Precision precision_from_environment() {
  const std::string_view value = environment("MPSGRAPH_NATIVE_PRECISION");
  if (value.empty() || value == "fast") return Precision::Fast;
  if (value == "exact") return Precision::Exact;
  throw ShapeError(text("MPSGRAPH_NATIVE_PRECISION must be fast or exact, got ", value));
}

DeviceSettings from_environment() {
  DeviceSettings settings;
  settings.precision = precision_from_environment();
  settings.optimization_level = flag("MPSGRAPH_NATIVE_OPTIMIZATION", 0);
  settings.package_cache = flag("MPSGRAPH_NATIVE_CACHE", 1) == 1;
  settings.package_cache_limit_bytes =
      bytes("MPSGRAPH_NATIVE_CACHE_DIR_LIMIT_BYTES", settings.package_cache_limit_bytes);
  if (const std::string_view directory = environment("MPSGRAPH_NATIVE_CACHE_DIR"); !directory.empty())
    settings.package_cache_directory = directory;
#if defined(__APPLE__)
  else if (const std::string_view home = environment("HOME"); !home.empty())
    settings.package_cache_directory = text(home, "/Library/Caches/mpsgraph_native");
#endif
  return settings;
}

struct Held {
  std::mutex mutex;
  DeviceSettings settings = from_environment();
};

Held& held() {
  static Held* const instance = new Held;  // never destroyed: calls may still run at interpreter exit
  return *instance;
}

std::atomic<WarningCallback> warning_callback{nullptr};

}  // namespace

DeviceSettings device_settings() {
  Held& state = held();
  const std::lock_guard lock(state.mutex);
  return state.settings;
}

void set_device_settings(DeviceSettings settings) {
  Held& state = held();
  const std::lock_guard lock(state.mutex);
  state.settings = std::move(settings);
}

void set_warning_callback(WarningCallback callback) { warning_callback.store(callback); }

void warn(const std::string& message) {
  if (const WarningCallback callback = warning_callback.load())
    callback(message.c_str());
  else
    std::fprintf(stderr, "mpsgraph_native: %s\n", message.c_str());
}

}  // namespace mpsgraph_native
