#pragma once

#include <cstdint>

#define STAND_IN_API extern "C" __attribute__((visibility("default")))

// What tests turn from Python, through ctypes.

/// Whether MTLCreateSystemDefaultDevice finds a device.
STAND_IN_API void stand_in_set_device_present(int present);
/// The macOS that NSProcessInfo reports. Methods that are newer answer as unrecognized selectors.
STAND_IN_API void stand_in_set_macos_version(int major, int minor, int patch);
/// Messages with this selector are answered by the method of another; a null replacement ends that. With
/// "standInNothing" they are answered by nil, with the name of no method by an exception.
STAND_IN_API void stand_in_replace_method(const char* selector, const char* replacement);
/// The next `count` command buffers fail.
STAND_IN_API void stand_in_fail_command_buffers(int count);
/// The next `count` buffers cannot be made.
STAND_IN_API void stand_in_fail_buffers(int count);
/// Milliseconds that a command buffer takes longer.
STAND_IN_API void stand_in_set_delay(int milliseconds);

/// Objective-C objects that live, blocks on the heap among them, once every command buffer is done.
STAND_IN_API long stand_in_live_objects(void);
/// The same by class.
STAND_IN_API void stand_in_report_live_objects(void (*report)(const char* name, long count));
STAND_IN_API long stand_in_compilations(void);
STAND_IN_API long stand_in_package_loads(void);
STAND_IN_API long stand_in_runs(void);
/// Bytes of buffers that own their memory, and of buffers over the caller's memory.
STAND_IN_API long stand_in_owned_bytes(void);
STAND_IN_API long stand_in_aliased_bytes(void);
/// Living buffers over the caller's memory.
STAND_IN_API long stand_in_live_views(void);

namespace stand_in {

struct Version {
  int major, minor, patch;
};

bool device_present();
Version macos_version();
bool take_command_buffer_failure();
bool take_buffer_failure();
int delay();
void count_compilation();
void count_package_load();
void count_run();
void count_buffer(std::int64_t bytes, bool owned);
void count_view(int change);

}  // namespace stand_in
