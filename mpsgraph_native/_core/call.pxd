cimport numpy as cnp

from mpsgraph_native._native.types cimport TensorType

cdef cnp.ndarray as_input(object value, str operation, str argument)
cdef cnp.ndarray as_plain(cnp.ndarray array)

cdef class Results:
    """The output arrays of one run: the caller's memory where it can be written as it lies, else new arrays."""

    cdef list arrays
    cdef list destinations

    cdef int prepare(self, const TensorType* tensor_type, object destination, str where, list inputs, str origin) except -1
    cdef void* pointer(self, Py_ssize_t index) noexcept
    cdef list deliver(self)
