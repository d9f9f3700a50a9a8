# cython: freethreading_compatible=True
"""The arrays of one run: inputs read where they lie or copied, results in the caller's memory or in new."""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from cython.operator cimport dereference
from libc.stdint cimport int64_t, uintptr_t

from mpsgraph_native._core.interchange cimport as_ndarray
from mpsgraph_native._core.interruption cimport check_of_this_thread
from mpsgraph_native._core.memory cimport (
    HostArray,
    data_type_of,
    descriptor_of,
    has_shape,
    is_plain,
    new_array,
    reason_for_copy,
    shape_of,
)
from mpsgraph_native._native.engine cimport InterruptionCheck, run_executable
from mpsgraph_native._native.transfer_statistics cimport TransferStatistics
from mpsgraph_native._native.transfer_statistics cimport transfer_statistics as native_transfer_statistics
from mpsgraph_native._native.types cimport DataType, IntegerSpan, Shape, TensorType, maximum_rank

from collections import deque
from typing import NamedTuple

import numpy as np

from mpsgraph_native.errors import DTypeError, ShapeError

cnp.import_array()

cdef extern from *:
    """
    #include <atomic>
    // Counts of all threads. With a GIL a plain sum does; an atomic one would cost a call some 5 ns each.
    struct Counter {
      std::atomic<long long> value{0};
      void add(long long number) {
    #ifdef Py_GIL_DISABLED
        value.fetch_add(number, std::memory_order_relaxed);
    #else
        value.store(value.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
    #endif
      }
      long long get() const { return value.load(std::memory_order_relaxed); }
    };
    """
    cppclass Counter:
        void add(int64_t) noexcept nogil
        int64_t get() noexcept nogil

# Inputs and results that could not be read or written where they lie, since the start, and those that could.
cdef Counter _copied_inputs
cdef Counter _copied_bytes
cdef Counter _aliased_inputs
cdef Counter _aliased_bytes
cdef Counter _copied_results
cdef Counter _copied_result_bytes
cdef Counter _aliased_results
cdef Counter _aliased_result_bytes
# The last copies of inputs, and why; appending to a deque needs no lock.
_last_copies = deque(maxlen=64)


class CopiedInput(NamedTuple):
    """An input that an engine could not read where it lies."""

    shape: tuple
    dtype: str
    nbytes: int
    reason: str


def last_copies():
    """The last copies of inputs, at most 64, the newest last: shape, dtype, bytes and the reason of each."""
    return list(_last_copies)


def transfer_statistics():
    """How many inputs were read where they lie and how many had to be copied first, with their bytes; and so for results.

    `device_aliased_bytes` and `device_copied_bytes` are of operands and results on their way to a device with memory
    rules of its own (mps): shared as they lie, or through a buffer of the device's.
    """
    cdef TransferStatistics device = native_transfer_statistics()
    return {
        "aliased_inputs": _aliased_inputs.get(),
        "aliased_bytes": _aliased_bytes.get(),
        "copied_inputs": _copied_inputs.get(),
        "copied_bytes": _copied_bytes.get(),
        "aliased_results": _aliased_results.get(),
        "aliased_result_bytes": _aliased_result_bytes.get(),
        "copied_results": _copied_results.get(),
        "copied_result_bytes": _copied_result_bytes.get(),
        "device_aliased_bytes": device.device_aliased_bytes,
        "device_copied_bytes": device.device_copied_bytes,
    }


cdef cnp.ndarray as_input(object value, str operation, str argument):
    """`value` as a C-contiguous, aligned array in native byte order: itself where it is one, else a copy."""
    cdef cnp.ndarray array = as_ndarray(value, operation, argument)
    if not is_plain(array):
        return _copied(array)
    _count_aliased_input(_extent_of(array))
    return array


cdef int _count_aliased_input(Extent extent) noexcept:
    _aliased_inputs.add(1)
    _aliased_bytes.add(extent.end - extent.begin)
    return 0


cdef cnp.ndarray _copied(cnp.ndarray array):
    """A copy that an engine can read. To be made once its size is checked."""
    _copied_inputs.add(1)
    _copied_bytes.add(cnp.PyArray_NBYTES(array))
    _last_copies.append(
        CopiedInput((<object>array).shape, str(array.dtype), cnp.PyArray_NBYTES(array), reason_for_copy(array)))
    cdef TensorType tensor_type
    if cnp.PyArray_NDIM(array) > maximum_rank or not data_type_of(array.descr, &tensor_type.dtype):
        return np.array(array, order="C", copy=True, subok=False)  # a constant, to be refused later
    tensor_type.shape = Shape(IntegerSpan(<const int64_t*>cnp.PyArray_DIMS(array), cnp.PyArray_NDIM(array)))
    copied = new_array(&tensor_type, None)  # on pages, which every device shares
    copied[...] = array
    return copied


cdef Extent _extent_of(cnp.ndarray array) noexcept:
    """The bytes from the first that the array has to its last, whatever lies between."""
    cdef Extent extent
    cdef Py_ssize_t reach
    cdef int axis
    extent.begin = <uintptr_t>cnp.PyArray_DATA(array)
    extent.end = extent.begin + cnp.PyArray_ITEMSIZE(array)
    for axis in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_DIM(array, axis) == 0:
            extent.begin = extent.end = 0
            return extent
        reach = (cnp.PyArray_DIM(array, axis) - 1) * cnp.PyArray_STRIDE(array, axis)
        if reach > 0:
            extent.end += reach
        else:
            extent.begin += reach
    return extent


cdef bint _overlaps_itself(cnp.ndarray array):
    """Whether two elements may share memory, as broadcast views' do."""
    if is_plain(array) or cnp.PyArray_NBYTES(array) == 0:
        return False
    cdef Py_ssize_t extent = cnp.PyArray_ITEMSIZE(array)
    for stride, dim in sorted((abs(stride), dim) for stride, dim in zip((<object>array).strides, (<object>array).shape)):
        if dim > 1:
            if stride < extent:
                return True
            extent += stride * (dim - 1)
    return False


cdef cnp.ndarray _as_destination(object destination, const TensorType* tensor_type, str where):
    """The caller's array as an ndarray that can take a result of that type."""
    # An __array__ may give a copy, which would take the results with it, and a NumPy scalar has a value only.
    if isinstance(destination, np.generic) or not (
            isinstance(destination, (cnp.ndarray, HostArray)) or PyObject_CheckBuffer(destination)
            or hasattr(destination, "__dlpack__")):
        raise DTypeError(
            f"{where} must be an ndarray, a TensorData, or share memory by the buffer protocol or __dlpack__, "
            f"got {type(destination).__name__}")
    cdef DataType dtype
    cdef cnp.ndarray array = as_ndarray(destination, "", where)
    if not has_shape(array, tensor_type):
        raise ShapeError(f"{where} must have shape {shape_of(tensor_type)}, got {(<object>array).shape}")
    if not data_type_of(array.descr, &dtype) or dtype != tensor_type.dtype or not cnp.PyArray_ISNOTSWAPPED(array):
        raise DTypeError(f"{where} must have dtype {descriptor_of(tensor_type.dtype)}, got {array.dtype}")
    if not cnp.PyArray_ISWRITEABLE(array):
        raise ShapeError(f"{where} must be writable, got a read-only array")
    if _overlaps_itself(array):
        raise ShapeError(f"{where} must have no two elements at one place, got strides {(<object>array).strides}")
    return array


@cython.final
@cython.freelist(8)
@cython.no_gc
cdef class Run:
    def __init__(self):
        raise TypeError("a Run is made by the package alone")

    def __dealloc__(self):
        cdef size_t index
        for index in range(self.given.size()):
            Py_DECREF(<object>self.given[index])
        for index in range(self.written.size()):
            Py_DECREF(<object>self.written[index])

    def __call__(self):
        self.execute(check_of_this_thread())
        return self.deliver()

    cdef int take(self, cnp.ndarray array) except -1:
        """Adds an input."""
        self.given.push_back(<PyObject*>array)
        Py_INCREF(array)
        self.extents.push_back(_extent_of(array))
        return 0

    cdef int place_inputs(self) except -1:
        """Finds where the inputs are read. Called when everything is checked, so that no refused call pays for a copy."""
        cdef size_t index
        cdef cnp.ndarray array
        for index in range(self.given.size()):
            array = <cnp.ndarray>self.given[index]
            if is_plain(array):
                _count_aliased_input(self.extents[index])
            else:
                array = _copied(array)
                if self.copies is None:
                    self.copies = []
                self.copies.append(array)
            self.inputs.push_back(cnp.PyArray_DATA(array))
        return 0

    cdef int place_results(self, object destinations, tuple names, str origin) except -1:
        """Finds where the results are written.

        `destinations` is None, or a tuple or list of arrays, and of None for new ones; `names` are theirs in messages.
        `origin` is the device that writes.
        """
        cdef const TensorType* tensor_type
        cdef Py_ssize_t index, count = dereference(self.executable).targets().size()
        self.results = PyTuple_New(count)
        for index in range(count):
            tensor_type = &dereference(self.executable).targets()[index]
            destination = None if destinations is None else destinations[index]
            if destination is None:
                destination = new_array(tensor_type, origin)
                self.write_into(<cnp.ndarray>destination)
            else:
                self.place_result(destination, tensor_type, <str>names[index], origin)
            Py_INCREF(destination)  # PyTuple_SET_ITEM steals it
            PyTuple_SET_ITEM(self.results, index, destination)
        return 0

    cdef int place_result(self, object destination, const TensorType* tensor_type, str where, str origin) except -1:
        """Adds one result that goes into the caller's memory."""
        cdef cnp.ndarray array = _as_destination(destination, tensor_type, where)
        cdef Extent extent = _extent_of(array)
        cdef size_t other
        for other in range(self.extents.size()):
            if extent.begin < self.extents[other].end and self.extents[other].begin < extent.end:
                self.refuse_overlap(array, other, where)
        if is_plain(array):
            return self.write_into(array)
        late = new_array(tensor_type, origin)
        if self.late is None:
            self.late = []
        self.late.append((array, late))
        return self.write_late(array, late)

    cdef int refuse_overlap(self, cnp.ndarray array, size_t other, str where) except -1:
        """Raises ShapeError when the array shares memory with operand `other`, whose extent it meets."""
        cdef size_t count = self.given.size()
        cdef cnp.ndarray operand = <cnp.ndarray>(self.given[other] if other < count else self.written[other - count])
        if not (is_plain(array) and is_plain(operand)) and not np.shares_memory(array, operand):
            return 0
        owner = "an input" if other < count else "another output"
        raise ShapeError(f"{where} must not overlap {owner}'s memory")

    cdef int write_into(self, cnp.ndarray array) except -1:
        """Adds a result that the engine writes where it is wanted."""
        self.aliased_bytes += cnp.PyArray_NBYTES(array)
        return self.write_late(array, array)

    cdef int write_late(self, cnp.ndarray array, cnp.ndarray place) except -1:
        """Adds a result that the engine writes into `place`."""
        self.written.push_back(<PyObject*>array)
        Py_INCREF(array)
        self.extents.push_back(_extent_of(array))
        self.outputs.push_back(cnp.PyArray_DATA(place))
        return 0

    cdef int execute(self, InterruptionCheck check) except -1:
        """With NULL for a check the run ends when it is done: that of one operation, which is one step."""
        with nogil:
            run_executable(dereference(self.executable), self.inputs.data(), self.inputs.size(), self.outputs.data(),
                           self.outputs.size(), check)
        return 0

    cdef tuple deliver(self):
        """The results in order: the caller's own objects where given, written now if they are not contiguous."""
        cdef cnp.ndarray array
        _aliased_results.add(<int64_t>self.written.size())
        _aliased_result_bytes.add(self.aliased_bytes)
        if self.late is not None:
            for array, late in self.late:
                array[...] = late
                _copied_results.add(1)
                _copied_result_bytes.add(cnp.PyArray_NBYTES(array))
            _aliased_results.add(-<int64_t>len(self.late))
        return self.results
