# cython: freethreading_compatible=True
"""Memory that NumPy and a device share."""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyBUF_WRITABLE, PyObject_GetBuffer
from cython.operator cimport dereference
from libcpp.string cimport string

from mpsgraph_native._core.device cimport Device
from mpsgraph_native._core.interchange cimport HostArray, as_ndarray
from mpsgraph_native._core.memory cimport data_type_of, is_plain, new_array
from mpsgraph_native._native.types cimport DataType, IntegerSpan, Shape, TensorType

import math
import operator

import numpy as np

from mpsgraph_native._core.device import checked_device
from mpsgraph_native._core.graph import dtype_of
from mpsgraph_native.errors import DTypeError, ShapeError

cnp.import_array()


@cython.final
cdef class TensorData(HostArray):
    """A C-contiguous array that a device can use where it lies.

    Exports its memory without a copy: numpy.asarray(t), memoryview(t), numpy.from_dlpack(t), torch.from_dlpack(t).
    """

    cdef readonly str device

    def __init__(self):
        raise TypeError("TensorData is made by empty() and asarray()")

    @property
    def shape(self):
        """Dimensions, slowest first."""
        return (<object>self.array).shape

    @property
    def dtype(self):
        """Element type, as a numpy.dtype."""
        return self.array.dtype

    @property
    def ndim(self):
        """Number of dimensions."""
        return cnp.PyArray_NDIM(self.array)

    @property
    def size(self):
        """Number of elements."""
        return self.array.size

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.array.nbytes

    @property
    def strides(self):
        """Bytes between neighbours along each dimension."""
        return (<object>self.array).strides

    @property
    def readonly(self):
        """Whether writing through it is refused."""
        return not (<object>self.array).flags.writeable

    def __getbuffer__(self, Py_buffer* view, int flags):
        # numpy fills what the flags ask for and refuses what it cannot give; bfloat16 has no struct format.
        if flags & PyBUF_WRITABLE and self.readonly:
            raise BufferError("the memory is read-only")
        try:
            PyObject_GetBuffer(self.array, view, flags)
        except (ValueError, TypeError) as error:
            if self.array.dtype.isbuiltin == 1:
                raise BufferError(f"the memory cannot be exported as asked: {error}") from error
            raise BufferError(
                f"dtype {self.dtype} has no buffer format; numpy.asarray() gives an array of it, with the dtype from ml_dtypes") from error

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype, copy=copy)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return (<object>self.array).__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self):
        return (<object>self.array).__dlpack_device__()

    def __len__(self):
        return len(self.array)

    def __repr__(self):
        return f"<TensorData shape={self.shape} dtype={self.dtype} device={self.device!r}>"


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


cdef str _reason_for_copy(cnp.ndarray array):
    """Why an engine cannot use the array where it lies; None when it can."""
    if not cnp.PyArray_ISNOTSWAPPED(array):
        return f"its byte order is not the machine's ({array.dtype.str})"
    if not cnp.PyArray_ISALIGNED(array):
        return "its alignment is below that of its elements"
    if any(stride < 0 for stride in (<object>array).strides):
        return "it has a negative stride"
    if not is_plain(array):
        return f"it is not C-contiguous (strides {(<object>array).strides})"
    return None


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
    reason = _reason_for_copy(array)
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
