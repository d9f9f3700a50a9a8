from libcpp.memory cimport shared_ptr

from mpsgraph_native._native.operation cimport Operation as NativeOperation


cdef class Operation:
    """An operation with all its attributes, without operands."""

    cdef NativeOperation native
    cdef size_t hash
    cdef readonly str name
    cdef readonly tuple arguments
    cdef str out_argument  # names `out` in messages
    cdef bint reads_state  # has a z_state, which only the engine that wrote it can read
