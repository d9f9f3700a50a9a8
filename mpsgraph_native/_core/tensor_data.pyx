# cython: freethreading_compatible=True
"""Memory that NumPy and a device share."""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cython.operator cimport dereference
from libcpp.string cimport string

from mpsgraph_native._core.device cimport Device
from mpsgraph_native._core.interchange cimport as_ndarray
from mpsgraph_native._core.memory cimport HostArray, data_type_of, lend, new_array, open_array, reason_for_copy
from mpsgraph_native._native.types cimport DataType, IntegerSpan, Shape, TensorType

import math
import operator

import numpy as np

from mpsgraph_native._core.device import checked_device, devices
from mpsgraph_native._core.dlpack import export_dlpack
from mpsgraph_native._core.graph import dtype_of
from mpsgraph_native.errors import DTypeError, ShapeError

cnp.import_array()


@cython.final
cdef class TensorData(HostArray):
    """An array that a device can use where it lies, and its views; `device` is that device's name.

    Exports its memory without a copy: numpy.asarray(t), memoryview(t), numpy.from_dlpack(t), torch.from_dlpack(t). Views
    are made by indices, as numpy makes them: t[0], t[..., ::2]. An engine uses a view where it lies when it is
    C-contiguous, and copies it otherwise.

    `close()` gives the memory back before the last reference dies, and so does the end of a `with` block.
    """

    cdef readonly str device

    def __init__(self):
        raise TypeError("TensorData is made by empty() and asarray()")

    @property
    def shape(self):
        """Dimensions, slowest first."""
        return (<object>open_array(self)).shape

    @property
    def dtype(self):
        """Element type, as a numpy.dtype."""
        return open_array(self).dtype

    @property
    def ndim(self):
        """Number of dimensions."""
        return cnp.PyArray_NDIM(open_array(self))

    @property
    def size(self):
        """Number of elements."""
        return open_array(self).size

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return open_array(self).nbytes

    @property
    def strides(self):
        """Bytes between neighbours along each dimension."""
        return (<object>open_array(self)).strides

    @property
    def readonly(self):
        """Whether writing through it is refused."""
        return not cnp.PyArray_ISWRITEABLE(open_array(self))

    @property
    def closed(self):
        """Whether close() has given the memory back."""
        return self.array is None

    @property
    def exports(self):
        """How many arrays, buffers and capsules that were made from it are alive; views of them count with them."""
        return self.lent

    def close(self):
        """Gives the memory back now; every later use raises ValueError. A second close does nothing.

        Raises BufferError while an export is alive, and once `__array_interface__` was read: nothing tells how long its
        address is used. A call that is running keeps the memory to its end.
        """
        with cython.critical_section(self):
            if self.array is None:
                return
            if self.pinned:
                raise BufferError("close: its address was handed out by __array_interface__")
            if self.lent:
                raise BufferError(f"close: {self.lent} exports of the memory are alive")
            self.array = None

    def __enter__(self):
        open_array(self)
        return self

    def __exit__(self, *exception):
        self.close()

    def __getbuffer__(self, Py_buffer* view, int flags):
        # numpy fills what the flags ask for and refuses what it cannot give; bfloat16 has no struct format.
        cdef cnp.ndarray array = lend(self)
        cdef Py_buffer* lent
        if flags & PyBUF_WRITABLE and not cnp.PyArray_ISWRITEABLE(array):
            raise BufferError("the memory is read-only")
        lent = <Py_buffer*>PyMem_Malloc(sizeof(Py_buffer))
        if lent is NULL:
            raise MemoryError
        try:
            PyObject_GetBuffer(array, lent, flags)
        except (ValueError, TypeError, BufferError) as error:
            PyMem_Free(lent)
            if array.dtype.isbuiltin == 1:
                raise BufferError(f"the memory cannot be exported as asked: {error}") from error
            raise BufferError(
                f"dtype {array.dtype} has no buffer format; numpy.asarray() gives an array of it, with the dtype from ml_dtypes") from error
        view.buf = lent.buf
        view.obj = self
        view.len = lent.len
        view.itemsize = lent.itemsize
        view.readonly = lent.readonly
        view.ndim = lent.ndim
        view.format = lent.format
        view.shape = lent.shape
        view.strides = lent.strides
        view.suboffsets = lent.suboffsets
        view.internal = lent

    def __releasebuffer__(self, Py_buffer* view):
        PyBuffer_Release(<Py_buffer*>view.internal)
        PyMem_Free(view.internal)

    def __array__(self, dtype=None, copy=None):
        return np.array(lend(self), dtype=dtype, copy=copy)

    @property
    def __array_interface__(self):
        """NumPy's description of the memory, with its address. From then on `close()` is refused.

        bfloat16 has none: the description would call it bytes without a meaning.
        """
        cdef cnp.ndarray array = open_array(self)
        if array.dtype.isbuiltin != 1:
            raise AttributeError(f"dtype {array.dtype} has no description in __array_interface__")
        self.pinned = True
        return (<object>array).__array_interface__

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return export_dlpack(lend(self), stream=stream, max_version=max_version, dl_device=dl_device, copy=bool(copy))

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU: shared with the device, but in the host's memory

    def __len__(self):
        return len(open_array(self))

    def __getitem__(self, index):
        """A view: integers, slices, None and Ellipsis, as for numpy; no copies by arrays of indices."""
        _check_index(index)
        index = index if isinstance(index, tuple) else (index,)
        return _wrap(lend(self)[index if any(part is Ellipsis for part in index) else (*index, ...)], self.device)

    def __setitem__(self, index, value):
        """Writes through a view."""
        _check_index(index)
        lend(self)[index] = as_ndarray(value, "", "value") if isinstance(value, HostArray) else value

    def __reduce_ex__(self, protocol):
        return _unpickled, (lend(self), self.device)

    def __repr__(self):
        if self.array is None:
            return "<TensorData closed>"
        return f"<TensorData shape={self.shape} dtype={self.dtype} device={self.device!r}>"


def _check_index(index):
    for part in index if isinstance(index, tuple) else (index,):
        if part is None or part is Ellipsis or isinstance(part, slice):
            continue
        try:
            if isinstance(part, (bool, np.bool_)):
                raise TypeError
            operator.index(part)
        except TypeError:
            raise DTypeError(
                f"TensorData: index must hold integers, slices, None and Ellipsis, got {part!r}") from None


def _unpickled(array, str device):
    """On the device that it came from, or the default device of a machine that lacks that."""
    known = {place.name for place in devices() if place.available}
    return asarray(array, device=device if device in known else None)


cdef TensorData _wrap(object array, str device):
    cdef TensorData result = TensorData.__new__(TensorData)
    result.array = array
    result.device = device
    return result


def _dimensions(shape):
    """Sizes that an array may have, as Python integers."""
    if any(isinstance(dim, (bool, np.bool_)) for dim in shape):
        raise DTypeError(f"empty: shape must be a sequence of integers, got {shape!r}")
    try:
        dims = tuple(operator.index(dim) for dim in shape)
    except TypeError:
        raise DTypeError(f"empty: shape must be a sequence of integers, got {shape!r}") from None
    if len(dims) > 16 or any(dim < 0 for dim in dims):
        raise ShapeError(f"empty: shape must have at most 16 dimensions, none negative, got {dims}")
    if max(dims, default=0) > 2**31 - 1 or math.prod(dims) > 2**31 - 1:
        raise ShapeError(f"empty: shape must have at most 2**31 - 1 elements in all and along each dimension, got {dims}")
    return dims


def empty(shape, dtype="float32", *, device=None):
    """TensorData with undefined contents on pages of its own, shared with `device`."""
    cdef TensorType tensor_type
    name = checked_device(device).name
    cdef cnp.ndarray sizes = np.array(_dimensions(shape if hasattr(shape, "__iter__") else (shape,)), np.int64)
    descriptor = dtype_of(dtype)
    data_type_of(descriptor, &tensor_type.dtype)
    tensor_type.shape = Shape(IntegerSpan(<const cnp.int64_t*>cnp.PyArray_DATA(sizes), len(sizes)))
    return _wrap(new_array(&tensor_type, name), name)


def asarray(obj, *, copy=None, device=None):
    """`obj` as TensorData: on the same memory where a device can use it, else (copy=None) in a copy.

    copy=True always copies. copy=False raises BufferError with the reason where a copy would be needed. Read-only
    memory is shared and stays read-only. mps shares what begins on a page.
    """
    cdef Device place = checked_device(device)
    name = place.name
    if copy is not None and not isinstance(copy, (bool, np.bool_)):
        raise DTypeError(f"asarray: copy must be None, True or False, got {copy!r}")
    cdef cnp.ndarray array = as_ndarray(obj, "asarray", "obj")
    cdef DataType dtype
    cdef string on_device
    if not data_type_of(array.dtype, &dtype):
        raise DTypeError(f"asarray: obj must have a dtype of this package, got {array.dtype}")
    reason = reason_for_copy(array)
    if reason is None and not copy:
        on_device = dereference(place.engine).reason_for_copy(cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
        reason = on_device.decode() if on_device.size() else None
    if copy is not None and not copy and reason is not None:
        raise BufferError(f"asarray: obj needs a copy: {reason}")
    if reason is None and not copy:
        return _wrap(array, name)
    result = empty((<object>array).shape, array.dtype.newbyteorder("="), device=device)
    np.asarray(result)[...] = array
    return result
