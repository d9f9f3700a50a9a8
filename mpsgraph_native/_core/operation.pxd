from libcpp.memory cimport shared_ptr

from mpsgraph_native._native.operation cimport Operation as NativeOperation


cdef class Operation:
    """An operation with all its attributes, without operands."""

    cdef NativeOperation native
    cdef size_t hash
    cdef readonly str name
    cdef readonly tuple arguments
