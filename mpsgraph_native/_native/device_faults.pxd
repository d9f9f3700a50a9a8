from libcpp cimport bool


cdef extern from "runtime/device_faults.hpp" namespace "mpsgraph_native" nogil:
    void fail_command_buffers_for_testing(int)
    void hide_devices_for_testing(bool)
