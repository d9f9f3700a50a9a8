cimport numpy as cnp


cdef cnp.ndarray interchanged(object value, str operation, str argument)


cdef inline cnp.ndarray as_ndarray(object value, str operation, str argument):
    """`value` as an ndarray on the same memory. Raises DTypeError for what is no array."""
    return <cnp.ndarray>value if isinstance(value, cnp.ndarray) else interchanged(value, operation, argument)
