cimport numpy as cnp

cdef cnp.ndarray as_ndarray(object value, str operation, str argument)
