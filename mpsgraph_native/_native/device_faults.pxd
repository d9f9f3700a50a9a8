from libcpp cimport bool


cdef extern from "runtime/device_faults.hpp" namespace "mpsgraph_native" nogil:
    void fail_command_buffers_for_testing(int)
    void hide_devices_for_testing(bool)


cdef extern from *:
    """
    #include "metal/availability.hpp"

    namespace {
    // Cython has no std::optional of an aggregate. Major version 0 gives the machine's own version back.
    void set_macos_version_for_testing(int major, int minor) {
      using namespace mpsgraph_native::metal;
      set_macos_version_for_testing(major ? std::optional(MacOS{major, minor}) : std::nullopt);
    }
    }  // namespace
    """
    void set_macos_version_for_testing(int, int)
