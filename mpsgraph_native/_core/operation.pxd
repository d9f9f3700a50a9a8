from libcpp.memory cimport shared_ptr

from mpsgraph_native._native.operation cimport Operation as NativeOperation


cdef class Operation:
    """An operation with all its attributes, without operands."""

    cdef NativeOperation native
    cdef size_t hash
    cdef readonly str name
    cdef readonly tuple arguments
    cdef tuple out_names  # of each result's `out` in messages
    cdef Py_ssize_t state_index  # of z_state, which only the engine that wrote it can read, among the arguments; or -1


cdef Operation operation_of(str name, object descriptor, object attribute, object value)
