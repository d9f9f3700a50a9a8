#include "controls.hpp"

#include <atomic>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "worker.hpp"

extern "C" {
long objcrt_live_objects(void);
void objcrt_report_live_objects(void (*report)(const char*, long));
extern std::atomic<bool (*)(const char*)> objcrt_unavailable;
extern std::atomic<const char* (*)(const char*)> objcrt_replacement;
const char* sel_registerName(const char* name);
}

namespace stand_in {
namespace {

std::atomic<bool> present{true};
std::atomic<int> major_version{26}, minor_version{0}, patch_version{0};
std::atomic<int> command_buffer_failures{0}, buffer_failures{0}, milliseconds{0};
std::atomic<long> compilations{0}, package_loads{0}, runs{0}, owned_bytes{0}, aliased_bytes{0}, live_views{0};

struct Introduced {
  int major, minor;
};

// Workers may still look something up while the process exits: the tables are never destroyed.
const std::unordered_map<std::string_view, Introduced>& newer_selectors() {
  static const auto* const selectors = new std::unordered_map<std::string_view, Introduced>{
#include "newer_selectors.inc"
  };
  return *selectors;
}

bool unavailable(const char* selector) {
  const auto found = newer_selectors().find(selector);
  if (found == newer_selectors().end()) return false;
  const Version version = macos_version();
  return version.major < found->second.major ||
         (version.major == found->second.major && version.minor < found->second.minor);
}

std::mutex replacements_mutex;
// Selectors, of which there is one each.
auto& replacements = *new std::unordered_map<const char*, const char*>;

const char* replacement_of(const char* selector) {
  const std::lock_guard lock(replacements_mutex);
  const auto found = replacements.find(selector);
  return found == replacements.end() ? selector : found->second;
}

bool take(std::atomic<int>& remaining) {
  int count = remaining.load();
  while (count > 0) {
    if (remaining.compare_exchange_weak(count, count - 1)) return true;
  }
  return false;
}

}  // namespace

bool device_present() { return present; }
Version macos_version() { return {major_version, minor_version, patch_version}; }
bool take_command_buffer_failure() { return take(command_buffer_failures); }
bool take_buffer_failure() { return take(buffer_failures); }
int delay() { return milliseconds; }
// Relaxed: counting must not order the threads that Apple's framework does not order.
void count_compilation() { compilations.fetch_add(1, std::memory_order_relaxed); }
void count_package_load() { package_loads.fetch_add(1, std::memory_order_relaxed); }
void count_run() { runs.fetch_add(1, std::memory_order_relaxed); }
void count_buffer(std::int64_t bytes, bool owned) {
  (owned ? owned_bytes : aliased_bytes).fetch_add(bytes, std::memory_order_relaxed);
}

void count_view(int change) { live_views += change; }

}  // namespace stand_in

void stand_in_set_device_present(int present) { stand_in::present = present != 0; }
void stand_in_set_macos_version(int major, int minor, int patch) {
  stand_in::major_version = major;
  stand_in::minor_version = minor;
  stand_in::patch_version = patch;
  objcrt_unavailable = stand_in::unavailable;
}
void stand_in_replace_method(const char* selector, const char* replacement) {
  const std::lock_guard lock(stand_in::replacements_mutex);
  if (replacement)
    stand_in::replacements[sel_registerName(selector)] = sel_registerName(replacement);
  else
    stand_in::replacements.erase(sel_registerName(selector));
  objcrt_replacement = stand_in::replacements.empty() ? nullptr : stand_in::replacement_of;
}
void stand_in_fail_command_buffers(int count) { stand_in::command_buffer_failures = count; }
void stand_in_fail_buffers(int count) { stand_in::buffer_failures = count; }
void stand_in_set_delay(int milliseconds) { stand_in::milliseconds = milliseconds; }

long stand_in_live_objects(void) {
  stand_in::wait_until_idle();
  return objcrt_live_objects();
}
void stand_in_report_live_objects(void (*report)(const char*, long)) {
  stand_in::wait_until_idle();
  objcrt_report_live_objects(report);
}
long stand_in_compilations(void) { return stand_in::compilations; }
long stand_in_package_loads(void) { return stand_in::package_loads; }
long stand_in_runs(void) { return stand_in::runs; }
long stand_in_owned_bytes(void) { return stand_in::owned_bytes; }
long stand_in_aliased_bytes(void) { return stand_in::aliased_bytes; }
long stand_in_live_views(void) {
  stand_in::wait_until_idle();
  return stand_in::live_views;
}
