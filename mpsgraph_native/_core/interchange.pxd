cimport numpy as cnp

from mpsgraph_native._native.types cimport DataType


cdef cnp.ndarray as_ndarray(object value, str operation, str argument)
