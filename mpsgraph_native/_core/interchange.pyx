# cython: freethreading_compatible=True
"""Arrays of other packages as ndarrays that share their memory."""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_SetName
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

import numpy as np

from mpsgraph_native._core.memory import dtype_code, dtype_of_code
from mpsgraph_native.errors import DTypeError

cnp.import_array()

# The DLPack ABI (dlpack.h 1.0), as far as it is read here.
cdef extern from *:
    """
    #include <stdint.h>
    typedef struct { int32_t device_type; int32_t device_id; } MPSGraphDLDevice;
    typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } MPSGraphDLDataType;
    typedef struct {
      void* data; MPSGraphDLDevice device; int32_t ndim; MPSGraphDLDataType dtype;
      int64_t* shape; int64_t* strides; uint64_t byte_offset;
    } MPSGraphDLTensor;
    typedef struct MPSGraphDLManagedTensor {
      MPSGraphDLTensor dl_tensor; void* manager_ctx; void (*deleter)(struct MPSGraphDLManagedTensor*);
    } MPSGraphDLManagedTensor;
    """
    ctypedef struct DLDevice "MPSGraphDLDevice":
        int32_t device_type
    ctypedef struct DLDataType "MPSGraphDLDataType":
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLTensor "MPSGraphDLTensor":
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    ctypedef struct DLManagedTensor "MPSGraphDLManagedTensor":
        DLTensor dl_tensor
        void (*deleter)(DLManagedTensor*) noexcept

cdef int _device_cpu = 1
cdef int _code_bfloat = 4


@cython.final
cdef class _ImportedTensor:
    """Owner of a DLPack tensor whose dtype NumPy has no word for; exports it as 16-bit integers."""

    cdef DLManagedTensor* managed
    cdef Py_ssize_t shape[16]
    cdef Py_ssize_t strides[16]

    def __dealloc__(self):
        if self.managed is not NULL and self.managed.deleter is not NULL:
            self.managed.deleter(self.managed)

    def __getbuffer__(self, Py_buffer* view, int flags):
        cdef DLTensor* tensor = &self.managed.dl_tensor
        cdef Py_ssize_t count = 1
        cdef int axis
        for axis in range(tensor.ndim - 1, -1, -1):
            self.shape[axis] = tensor.shape[axis]
            self.strides[axis] = 2 * (tensor.strides[axis] if tensor.strides is not NULL else count)
            count *= tensor.shape[axis]
        view.buf = <char*>tensor.data + tensor.byte_offset
        view.obj = self
        view.len = 2 * count
        view.readonly = 1
        view.itemsize = 2
        view.format = b"H"
        view.ndim = tensor.ndim
        view.shape = self.shape
        view.strides = self.strides
        view.suboffsets = NULL
        view.internal = NULL


cdef object _from_bfloat16_capsule(object capsule):
    cdef _ImportedTensor imported = _ImportedTensor.__new__(_ImportedTensor)
    imported.managed = <DLManagedTensor*>PyCapsule_GetPointer(capsule, b"dltensor")
    PyCapsule_SetName(capsule, b"used_dltensor")
    return np.asarray(memoryview(imported)).view(dtype_of_code(dtype_code("bfloat16", "dtype")))


cdef class HostArray:
    pass


cdef object _from_dlpack(object value, str where):
    device = value.__dlpack_device__()
    if device[0] != _device_cpu:
        raise BufferError(
            f"{where} must be in host memory, got a DLPack device of type {int(device[0])}; its pointer is not read")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError) as error:
        # NumPy has no bfloat16 of its own, so that it refuses a capsule that is otherwise fine.
        capsule = value.__dlpack__()
        if PyCapsule_IsValid(capsule, b"dltensor"):
            tensor = (<DLManagedTensor*>PyCapsule_GetPointer(capsule, b"dltensor")).dl_tensor
            if tensor.dtype.code == _code_bfloat and tensor.dtype.bits == 16 and tensor.ndim <= 16:
                return _from_bfloat16_capsule(capsule)
        raise DTypeError(f"{where} has a dtype that NumPy cannot hold") from error


cdef cnp.ndarray as_ndarray(object value, str operation, str argument):
    """`value` as an ndarray on the same memory. Raises DTypeError for what is no array."""
    if isinstance(value, cnp.ndarray):
        return value
    if isinstance(value, HostArray):
        return (<HostArray>value).array
    if isinstance(value, np.generic):  # a bfloat16 scalar exports no buffer
        return np.asarray(value)
    where = f"{operation}: {argument}" if operation else argument
    if PyObject_CheckBuffer(value):
        array = np.asarray(value if isinstance(value, memoryview) else memoryview(value))
        # A format that NumPy does not know comes back as an array of objects.
        if array.dtype.hasobject:
            raise DTypeError(f"{where} has a buffer format that is no number")
        return array
    if isinstance(value, (list, tuple, str)):
        raise DTypeError(f"{where} must be an array, got a {type(value).__name__}: numpy.asarray makes one")
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _from_dlpack(value, where)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    raise DTypeError(f"{where} must be an array (buffer protocol, __dlpack__ or __array__), got {type(value).__name__}")
