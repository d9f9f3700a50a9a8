cimport numpy as cnp

from mpsgraph_native._native.types cimport DataType


cdef class HostArray:
    """An object of ours that holds an ndarray."""

    cdef cnp.ndarray array

cdef cnp.ndarray as_ndarray(object value, str operation, str argument)
