# cython: freethreading_compatible=True
"""Arrays of other packages as ndarrays that share their memory."""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer

from mpsgraph_native._core.dlpack cimport import_dlpack
from mpsgraph_native._core.memory cimport HostArray

import numpy as np

from mpsgraph_native.errors import DTypeError

cnp.import_array()


cdef cnp.ndarray interchanged(object value, str operation, str argument):
    """as_ndarray of what is no ndarray yet."""
    cdef cnp.ndarray held
    if isinstance(value, HostArray):
        with cython.critical_section(value):
            held = (<HostArray>value).array
        if held is None:
            raise ValueError(f"{operation}: {argument} is closed" if operation else f"{argument} is closed")
        return held
    if isinstance(value, np.generic):  # a bfloat16 scalar exports no buffer
        return np.asarray(value)
    where = f"{operation}: {argument}" if operation else argument
    if PyObject_CheckBuffer(value):
        try:
            view = value if isinstance(value, memoryview) else memoryview(value)
        except BufferError:
            # The buffer protocol has no bfloat16, DLPack has.
            if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
                return import_dlpack(value, where)
            raise
        array = np.asarray(view)
        # A format that NumPy does not know comes back as an array of objects.
        if array.dtype.hasobject:
            raise DTypeError(f"{where} has a buffer format that is no number")
        return array
    if isinstance(value, (list, tuple, str)):
        raise DTypeError(f"{where} must be an array, got a {type(value).__name__}: numpy.asarray makes one")
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return import_dlpack(value, where)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    raise DTypeError(f"{where} must be an array (buffer protocol, __dlpack__ or __array__), got {type(value).__name__}")
