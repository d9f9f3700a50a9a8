from libc.stdint cimport uint64_t
from libcpp cimport bool
from libcpp.string cimport string

from mpsgraph_native._core.errors cimport raise_native_error


cdef extern from "runtime/device_settings.hpp" namespace "mpsgraph_native" nogil:
    cdef enum class Precision:
        Fast
        Exact

    cdef cppclass DeviceSettings:
        Precision precision
        int optimization_level
        bool package_cache
        string package_cache_directory
        uint64_t package_cache_limit_bytes

    DeviceSettings device_settings() except +raise_native_error
    void set_device_settings(DeviceSettings) except +raise_native_error

    ctypedef void (*WarningCallback)(const char*)
    void set_warning_callback(WarningCallback)
