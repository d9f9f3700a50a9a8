from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool
from libcpp.memory cimport shared_ptr

from mpsgraph_native._core.errors cimport raise_native_error
from mpsgraph_native._native.engine cimport Engine, Executable
from mpsgraph_native._native.graph cimport Program
from mpsgraph_native._native.operation cimport Operation
from mpsgraph_native._native.types cimport DataType


cdef extern from "runtime/executable_cache.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass OperandTypes:
        OperandTypes()
        void add(DataType, int, const int64_t*) except +raise_native_error
        void add_absent()

    cdef cppclass CacheInformation:
        size_t entries
        size_t bytes
        uint64_t hits
        uint64_t misses
        uint64_t evictions
        double compile_seconds
        size_t limit_entries
        size_t limit_bytes

    shared_ptr[Executable] cached_executable(
        const Engine&, const Operation&, size_t, const OperandTypes&) except +raise_native_error
    shared_ptr[Executable] find_executable(
        const Engine&, const Operation&, size_t, const OperandTypes&) except +raise_native_error
    shared_ptr[Executable] cached_executable(const Engine&, const Program&, size_t) except +raise_native_error
    CacheInformation cache_information()
    void clear_cache()
    void set_cache_limits(size_t, size_t)
    void force_hash_collisions_for_testing(bool)
