# cython: freethreading_compatible=True
"""DLPack, both ways, for memory of the host. NumPy's own knows neither bfloat16 nor a count of exports."""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pycapsule cimport (
    PyCapsule_Destructor,
    PyCapsule_GetPointer,
    PyCapsule_IsValid,
    PyCapsule_New,
    PyCapsule_SetName,
)
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport int64_t

import numpy as np

from mpsgraph_native._core.memory import dtype_code, dtype_of_code
from mpsgraph_native.errors import DTypeError

cnp.import_array()

cdef extern from "Python.h":
    int Py_IsInitialized() nogil

cdef enum:
    MAXIMUM_RANK = 16
    READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
    IS_COPIED = 2  # DLPACK_FLAG_BITMASK_IS_COPIED

cdef const char* _legacy = "dltensor"
cdef const char* _versioned = "dltensor_versioned"

# DLDataTypeCode by NumPy's kind.
cdef dict _codes = {"i": 0, "u": 1, "f": 2, "b": 6}


# ---- import

@cython.final
cdef class _ImportedTensor:
    """Owner of a DLPack tensor whose dtype NumPy has no word for; exports it as 16-bit integers."""

    cdef DLManagedTensor* managed
    cdef Py_ssize_t shape[MAXIMUM_RANK]
    cdef Py_ssize_t strides[MAXIMUM_RANK]

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
    imported.managed = <DLManagedTensor*>PyCapsule_GetPointer(capsule, _legacy)
    PyCapsule_SetName(capsule, b"used_dltensor")
    return np.asarray(memoryview(imported)).view(dtype_of_code(dtype_code("bfloat16", "dtype")))


cdef object import_dlpack(object value, str where):
    """An ndarray on the memory of an object with __dlpack__."""
    device = value.__dlpack_device__()
    if device[0] != DEVICE_CPU:
        raise BufferError(
            f"{where} must be in host memory, got a DLPack device of type {int(device[0])}; its pointer is not read")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError) as error:
        # NumPy has no bfloat16 of its own, so that it refuses a capsule that is otherwise fine.
        capsule = value.__dlpack__()
        if PyCapsule_IsValid(capsule, _legacy):
            tensor = (<DLManagedTensor*>PyCapsule_GetPointer(capsule, _legacy)).dl_tensor
            if tensor.dtype.code == CODE_BFLOAT and tensor.dtype.bits == 16 and tensor.ndim <= MAXIMUM_RANK:
                return _from_bfloat16_capsule(capsule)
        raise DTypeError(f"{where} has a dtype that NumPy cannot hold") from error


# ---- export

cdef struct Dimensions:
    int64_t shape[MAXIMUM_RANK]
    int64_t strides[MAXIMUM_RANK]

cdef struct LegacyExport:
    DLManagedTensor managed  # first, so that a pointer to it is one to the whole
    Dimensions dimensions

cdef struct VersionedExport:
    DLManagedTensorVersioned managed
    Dimensions dimensions


cdef void _drop(void* array) noexcept with gil:
    Py_DECREF(<object>array)


cdef void _delete(void* export, void* array) noexcept nogil:
    # A consumer may outlive the interpreter; the array cannot be given back then.
    if Py_IsInitialized():
        _drop(array)
    PyMem_RawFree(export)


cdef void _delete_legacy(DLManagedTensor* managed) noexcept nogil:
    _delete(managed, managed.manager_ctx)


cdef void _delete_versioned(DLManagedTensorVersioned* managed) noexcept nogil:
    _delete(managed, managed.manager_ctx)


cdef void _end_legacy(object capsule) noexcept:
    """Of a capsule that nobody consumed."""
    if PyCapsule_IsValid(capsule, _legacy):
        _delete_legacy(<DLManagedTensor*>PyCapsule_GetPointer(capsule, _legacy))


cdef void _end_versioned(object capsule) noexcept:
    if PyCapsule_IsValid(capsule, _versioned):
        _delete_versioned(<DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, _versioned))


cdef int _describe(cnp.ndarray array, DLTensor* tensor, Dimensions* dimensions) except -1:
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(array)
    cdef int axis
    cdef bint bfloat16 = array.dtype.name == "bfloat16"
    tensor.data = cnp.PyArray_DATA(array)
    tensor.byte_offset = 0
    tensor.device.device_type = DEVICE_CPU
    tensor.device.device_id = 0
    tensor.dtype.code = CODE_BFLOAT if bfloat16 else _codes[array.dtype.kind]
    tensor.dtype.bits = 8 * size
    tensor.dtype.lanes = 1
    tensor.ndim = cnp.PyArray_NDIM(array)
    tensor.shape = dimensions.shape
    tensor.strides = dimensions.strides
    for axis in range(tensor.ndim):
        if cnp.PyArray_STRIDES(array)[axis] % size:
            raise BufferError(f"DLPack counts strides in elements, got {(<object>array).strides} bytes")
        dimensions.shape[axis] = cnp.PyArray_DIMS(array)[axis]
        dimensions.strides[axis] = cnp.PyArray_STRIDES(array)[axis] // size
    return 0


cdef object _exported(cnp.ndarray array, void* memory, DLTensor* tensor, Dimensions* dimensions, const char* name,
                      PyCapsule_Destructor end):
    """The capsule of an export that `memory` holds, all but the tensor filled in; it keeps the array."""
    try:
        _describe(array, tensor, dimensions)
        capsule = PyCapsule_New(memory, name, end)
    except:  # noqa: E722
        PyMem_RawFree(memory)
        raise
    Py_INCREF(array)
    return capsule


cdef object _legacy_capsule(cnp.ndarray array):
    cdef LegacyExport* export = <LegacyExport*>PyMem_RawMalloc(sizeof(LegacyExport))
    if export is NULL:
        raise MemoryError
    export.managed.manager_ctx = <PyObject*>array
    export.managed.deleter = _delete_legacy
    return _exported(array, export, &export.managed.dl_tensor, &export.dimensions, _legacy, _end_legacy)


cdef object _versioned_capsule(cnp.ndarray array, bint copied):
    cdef VersionedExport* export = <VersionedExport*>PyMem_RawMalloc(sizeof(VersionedExport))
    if export is NULL:
        raise MemoryError
    export.managed.version.major = 1
    export.managed.version.minor = 0
    export.managed.flags = (0 if cnp.PyArray_ISWRITEABLE(array) else READ_ONLY) | (IS_COPIED if copied else 0)
    export.managed.manager_ctx = <PyObject*>array
    export.managed.deleter = _delete_versioned
    return _exported(array, export, &export.managed.dl_tensor, &export.dimensions, _versioned, _end_versioned)


def export_dlpack(cnp.ndarray array, *, stream, max_version, dl_device, copy):
    """A capsule that keeps `array`, or a copy of it. Legacy below version 1, which has no word for read-only memory."""
    if stream is not None:
        raise BufferError(f"__dlpack__: stream must be None for host memory, got {stream!r}")
    if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != (DEVICE_CPU, 0):
        raise BufferError(f"__dlpack__: dl_device must be (1, 0), the host, got {tuple(dl_device)}")
    if copy:
        array = np.array(array)
    if max_version is not None and max_version[0] >= 1:
        return _versioned_capsule(array, copy)
    if not cnp.PyArray_ISWRITEABLE(array):
        raise BufferError("__dlpack__: the memory is read-only, which DLPack below version 1 cannot say")
    return _legacy_capsule(array)
