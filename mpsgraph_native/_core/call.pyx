# cython: freethreading_compatible=True
"""The path of an array function: operands in, one cached executable, results out."""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer
from cython.operator cimport dereference
from libc.stdint cimport int64_t, uintptr_t
from libcpp.memory cimport shared_ptr

from mpsgraph_native._core.device cimport Device, resolve_device
from mpsgraph_native._core.interchange cimport as_ndarray
from mpsgraph_native._core.memory cimport (
    HostArray,
    data_type_of,
    descriptor_of,
    has_shape,
    is_plain,
    new_array,
    origin_of,
    reason_for_copy,
    shape_of,
)
from mpsgraph_native._core.operation cimport Operation
from mpsgraph_native._native.engine cimport Executable, run_executable
from mpsgraph_native._native.executable_cache cimport OperandTypes, cached_executable, find_executable
from mpsgraph_native._native.transfer_statistics cimport TransferStatistics
from mpsgraph_native._native.transfer_statistics cimport transfer_statistics as native_transfer_statistics
from mpsgraph_native._native.types cimport DataType, IntegerSpan, Shape, TensorType

from collections import deque
from typing import NamedTuple

import numpy as np

from mpsgraph_native._core.graph_site import GraphSite
from mpsgraph_native.errors import DeviceError, DTypeError, ShapeError

cnp.import_array()

cdef enum:
    MAXIMUM_OPERANDS = 16
    MAXIMUM_RANK = 16

# Inputs and results that could not be read or written where they lie, since the start, and those that could.
cdef int64_t _copied_inputs = 0
cdef int64_t _copied_bytes = 0
cdef int64_t _aliased_inputs = 0
cdef int64_t _aliased_bytes = 0
cdef int64_t _copied_results = 0
cdef int64_t _copied_result_bytes = 0
cdef int64_t _aliased_results = 0
cdef int64_t _aliased_result_bytes = 0
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
        "aliased_inputs": _aliased_inputs,
        "aliased_bytes": _aliased_bytes,
        "copied_inputs": _copied_inputs,
        "copied_bytes": _copied_bytes,
        "aliased_results": _aliased_results,
        "aliased_result_bytes": _aliased_result_bytes,
        "copied_results": _copied_results,
        "copied_result_bytes": _copied_result_bytes,
        "device_aliased_bytes": device.device_aliased_bytes,
        "device_copied_bytes": device.device_copied_bytes,
    }


cdef cnp.ndarray as_input(object value, str operation, str argument):
    """`value` as a C-contiguous, aligned array in native byte order: itself where it is one, else a copy."""
    return as_plain(as_ndarray(value, operation, argument))


cdef cnp.ndarray as_plain(cnp.ndarray array):
    """The array itself where an engine can read it as it lies, else a copy. To be called once its size is checked."""
    global _copied_inputs, _copied_bytes, _aliased_inputs, _aliased_bytes
    if is_plain(array):
        _aliased_inputs += 1
        _aliased_bytes += cnp.PyArray_NBYTES(array)
        return array
    _copied_inputs += 1
    _copied_bytes += cnp.PyArray_NBYTES(array)
    _last_copies.append(
        CopiedInput((<object>array).shape, str(array.dtype), cnp.PyArray_NBYTES(array), reason_for_copy(array)))
    cdef TensorType tensor_type
    if cnp.PyArray_NDIM(array) > MAXIMUM_RANK or not data_type_of(array.descr, &tensor_type.dtype):
        return np.array(array, order="C", copy=True, subok=False)  # a constant, to be refused later
    tensor_type.shape = Shape(IntegerSpan(<const int64_t*>cnp.PyArray_DIMS(array), cnp.PyArray_NDIM(array)))
    copied = new_array(&tensor_type, None)  # on pages, which every device shares
    copied[...] = array
    return copied


cdef bint _may_overlap(cnp.ndarray a, cnp.ndarray b):
    cdef uintptr_t a_begin = <uintptr_t>cnp.PyArray_DATA(a)
    cdef uintptr_t b_begin = <uintptr_t>cnp.PyArray_DATA(b)
    cdef size_t a_bytes = cnp.PyArray_NBYTES(a)
    cdef size_t b_bytes = cnp.PyArray_NBYTES(b)
    if a_bytes == 0 or b_bytes == 0:
        return False
    if is_plain(a) and is_plain(b):
        return a_begin < b_begin + b_bytes and b_begin < a_begin + a_bytes
    return np.shares_memory(a, b) if np.may_share_memory(a, b) else False


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


@cython.final
cdef class Results:
    def __cinit__(self):
        self.arrays = []
        self.destinations = []

    cdef int prepare(self, const TensorType* tensor_type, object destination, str where, list inputs,
                     str origin) except -1:
        """Adds one output. `where` names it for errors; `inputs` are the arrays as the caller gave them."""
        cdef cnp.ndarray array
        if destination is None:
            self.arrays.append(new_array(tensor_type, origin))
            self.destinations.append(None)
            return 0
        # An __array__ may give a copy, which would take the results with it.
        if not (isinstance(destination, (cnp.ndarray, HostArray)) or PyObject_CheckBuffer(destination)
                or hasattr(destination, "__dlpack__")):
            raise DTypeError(
                f"{where} must be an ndarray, a TensorData, or share memory by the buffer protocol or __dlpack__, "
                f"got {type(destination).__name__}")
        array = as_ndarray(destination, "", where)
        if not has_shape(array, tensor_type):
            raise ShapeError(f"{where} must have shape {shape_of(tensor_type)}, got {(<object>array).shape}")
        expected = descriptor_of(tensor_type.dtype)
        if array.descr is not expected and array.descr != expected:
            raise DTypeError(f"{where} must have dtype {expected}, got {array.dtype}")
        if not cnp.PyArray_ISNOTSWAPPED(array):
            raise DTypeError(f"{where} must have native byte order, got {array.dtype.str}")
        if not cnp.PyArray_ISWRITEABLE(array):
            raise ShapeError(f"{where} must be writable, got a read-only array")
        if _overlaps_itself(array):
            raise ShapeError(f"{where} must have no two elements at one place, got strides {(<object>array).strides}")
        for other in inputs:
            if other is not None and _may_overlap(array, other):
                raise ShapeError(f"{where} must not overlap an input's memory")
        for other in self.destinations:
            if other is not None and _may_overlap(array, as_ndarray(other, "", where)):
                raise ShapeError(f"{where} must not overlap another output's memory")
        self.arrays.append(array if is_plain(array) else new_array(tensor_type, origin))
        self.destinations.append(destination)
        return 0

    cdef void* pointer(self, Py_ssize_t index) noexcept:
        return cnp.PyArray_DATA(<cnp.ndarray>self.arrays[index])

    cdef list deliver(self):
        """The results in order: the caller's own objects where given, written now if they are strided."""
        global _copied_results, _copied_result_bytes, _aliased_results, _aliased_result_bytes
        cdef Py_ssize_t index
        cdef int64_t size
        for index in range(len(self.arrays)):
            size = cnp.PyArray_NBYTES(<cnp.ndarray>self.arrays[index])
            destination = self.destinations[index]
            target = None if destination is None else as_ndarray(destination, "", "out")
            if target is None or is_plain(target):
                _aliased_results += 1
                _aliased_result_bytes += size
            else:
                target[...] = self.arrays[index]
                _copied_results += 1
                _copied_result_bytes += size
            if destination is not None:
                self.arrays[index] = destination
        return self.arrays


cdef int _refuse_dtype(Operation operation, Py_ssize_t index, cnp.ndarray array) except -1:
    raise DTypeError(
        f"{operation.name}: {operation.arguments[index]} must be float32, float16, bfloat16, float64 or an integer type, "
        f"got {array.dtype}")


def call(Operation operation, tuple inputs, out=None, device=None):
    """Runs `operation` on arrays, or, when `device` is the site of a graph, adds it to that graph.

    `inputs` follows the operation's arguments; None marks an absent optional one. Gives one result bare, several as a
    tuple. `out` is one array, or a tuple in the order of the results.
    """
    if device is not None and isinstance(device, GraphSite):
        return device.add(operation, inputs)
    cdef Device place = resolve_device(device)
    cdef Py_ssize_t count = len(inputs)
    cdef Py_ssize_t index
    cdef OperandTypes types
    cdef DataType dtype
    cdef const void* input_pointers[MAXIMUM_OPERANDS]
    cdef void* output_pointers[MAXIMUM_OPERANDS]
    cdef size_t present = 0
    cdef cnp.ndarray array, plain
    cdef list given = []
    cdef list copies = None  # what is read in place of arrays that cannot be

    for index in range(count):
        value = inputs[index]
        if value is None:
            types.add_absent()
            continue
        array = as_ndarray(value, operation.name, <str>operation.arguments[index])
        if not data_type_of(array.descr, &dtype):  # dtype is an attribute for Python
            _refuse_dtype(operation, index, array)
        if cnp.PyArray_NDIM(array) > MAXIMUM_RANK:
            raise ShapeError(
                f"{operation.name}: {operation.arguments[index]} must have at most {MAXIMUM_RANK} dimensions, "
                f"got {cnp.PyArray_NDIM(array)}")
        types.add(dtype, cnp.PyArray_NDIM(array), <const int64_t*>cnp.PyArray_DIMS(array))
        given.append(array)
        if operation.reads_state and operation.arguments[index] == "z_state":
            _check_origin(operation, array, place)

    cdef shared_ptr[Executable] executable = find_executable(
        dereference(place.engine), operation.native, operation.hash, types)
    if not executable:
        with nogil:
            executable = cached_executable(dereference(place.engine), operation.native, operation.hash, types)

    # Everything is checked by now, so that no refused call has paid for a copy.
    for array in given:
        plain = as_plain(array)
        if plain is not array:
            if copies is None:
                copies = []
            copies.append(plain)
        input_pointers[present] = cnp.PyArray_DATA(plain)
        present += 1

    cdef size_t results_count = dereference(executable).targets().size()
    cdef bint several_destinations = _check_destinations(operation, out, results_count)
    cdef Results results = Results.__new__(Results)
    for index in range(<Py_ssize_t>results_count):
        results.prepare(&dereference(executable).targets()[index],
                        (<tuple>out)[index] if several_destinations else out,
                        operation.out_argument, given, place.name)
        output_pointers[index] = results.pointer(index)
    with nogil:
        run_executable(dereference(executable), input_pointers, present, output_pointers, results_count)
    cdef list arrays = results.deliver()
    return arrays[0] if results_count == 1 else tuple(arrays)


cdef bint _check_destinations(Operation operation, object out, size_t count) except -1:
    """Whether `out` is a tuple of destinations, one per result, rather than one or None."""
    if isinstance(out, tuple):
        if len(out) != <Py_ssize_t>count:
            raise ShapeError(f"{operation.out_argument} must have {count} arrays, one per result, got {len(out)}")
        if any(entry is None for entry in out):
            raise DTypeError(f"{operation.out_argument} must have {count} arrays, one per result, got None for one")
        return True
    if out is not None and count != 1:
        raise DTypeError(
            f"{operation.out_argument} must be a tuple of {count} arrays, one per result, got {type(out).__name__}")
    return False


cdef int _check_origin(Operation operation, cnp.ndarray array, Device place) except -1:
    """A training state is opaque: only the engine that wrote it can read it."""
    origin = origin_of(array)
    if origin is not None and origin != place.name:
        raise DeviceError(
            f"{operation.name}: z_state must come from device {place.name}, got one that device {origin} wrote")
    return 0
