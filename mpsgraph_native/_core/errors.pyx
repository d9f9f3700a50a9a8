# cython: freethreading_compatible=True
"""The one place where a C++ exception becomes a Python one."""

from cpython.exc cimport PyErr_Occurred

from mpsgraph_native._native.error cimport ErrorKind, ErrorRecord, current_error

from mpsgraph_native.errors import CompileError, DeviceError, DTypeError, ShapeError


cdef int raise_native_error() except -1:
    """Raises the Python exception for the C++ exception that is being handled."""
    cdef ErrorRecord record = current_error()
    if record.kind == ErrorKind.Interrupted and PyErr_Occurred() is not NULL:
        return -1  # what a signal handler raised, and why the run was interrupted
    message = record.message.decode("utf-8", "replace")
    if record.kind == ErrorKind.Shape:
        raise ShapeError(message)
    if record.kind == ErrorKind.DType:
        raise DTypeError(message)
    if record.kind == ErrorKind.Device:
        raise DeviceError(message)
    if record.kind == ErrorKind.Compile:
        raise CompileError(message)
    if record.kind == ErrorKind.Memory:
        raise MemoryError(message)
    raise RuntimeError(message)
