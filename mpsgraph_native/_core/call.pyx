# cython: freethreading_compatible=True
"""The path of an array function: operands in, one cached executable, results out."""

cimport numpy as cnp
from cython.operator cimport dereference
from libc.stdint cimport int64_t

from mpsgraph_native._core.device cimport Device, resolve_device
from mpsgraph_native._core.interchange cimport as_ndarray
from mpsgraph_native._core.memory cimport data_type_of, origin_of
from mpsgraph_native._core.operation cimport Operation, operation_of
from mpsgraph_native._core.run cimport Run
from mpsgraph_native._native.executable_cache cimport OperandTypes, cached_executable, find_executable
from mpsgraph_native._native.types cimport DataType, maximum_rank

from mpsgraph_native._core.graph_site import GraphSite
from mpsgraph_native.errors import DeviceError, DTypeError, ShapeError

cnp.import_array()


def call(str name, tuple inputs, object out=None, object device=None, object descriptor=None, object attribute=None,
         object value=None):
    """Runs the operation `name` on arrays, or, when `device` is the site of a graph, adds it to that graph.

    `inputs` follows the operation's arguments; None marks an absent optional one. `attribute` names what the operation
    is told beside a descriptor, and `value` is its value; or they are tuples of names and values. Gives one result bare,
    several as a tuple. `out` is one array, or a tuple in the order of the results.
    """
    cdef Operation operation = operation_of(name, descriptor, attribute, value)
    if device is not None and isinstance(device, GraphSite):
        return device.add(operation, inputs)
    cdef Device place = resolve_device(device)
    cdef OperandTypes types
    cdef Run run = Run.__new__(Run)
    take_inputs(run, operation, inputs, place, types)
    look_up(run, operation, place, types)
    place_operands(run, operation, out, place)
    run.execute(NULL)
    return delivered(run)


def named(kind, tuple operands, tuple results):
    """The results as the named tuple `kind`, with None for each operand that is None."""
    cdef list values = []
    cdef Py_ssize_t taken = 0
    for operand in operands:
        if operand is None:
            values.append(None)
        else:
            values.append(results[taken])
            taken += 1
    return tuple.__new__(kind, values)


cdef int take_inputs(Run run, Operation operation, tuple inputs, Device place, OperandTypes& types) except -1:
    """Looks at the arguments, and fills in their types."""
    cdef Py_ssize_t index
    cdef DataType dtype
    cdef cnp.ndarray array
    for index in range(len(inputs)):
        value = inputs[index]
        if value is None:
            types.add_absent()
            continue
        array = as_ndarray(value, operation.name, <str>operation.arguments[index])
        if not data_type_of(array.descr, &dtype):  # dtype is an attribute for Python
            _refuse_dtype(operation, index, array)
        if cnp.PyArray_NDIM(array) > maximum_rank:
            raise ShapeError(
                f"{operation.name}: {operation.arguments[index]} must have at most {maximum_rank} dimensions, "
                f"got {cnp.PyArray_NDIM(array)}")
        types.add(dtype, cnp.PyArray_NDIM(array), <const int64_t*>cnp.PyArray_DIMS(array))
        run.take(array)
        if index == operation.state_index:
            _check_origin(operation, array, place)
    return 0


cdef int look_up(Run run, Operation operation, Device place, const OperandTypes& types) except -1:
    """Finds the executable of this signature, or compiles it, which checks the operands."""
    run.executable = find_executable(dereference(place.engine), operation.native, operation.hash, types)
    if not run.executable:
        with nogil:
            run.executable = cached_executable(dereference(place.engine), operation.native, operation.hash, types)
    return 0


cdef int place_operands(Run run, Operation operation, object out, Device place) except -1:
    """Finds where the inputs are read and the results are written."""
    cdef size_t count = dereference(run.executable).targets().size()
    if isinstance(out, tuple):
        _check_destinations(operation, <tuple>out, count)
    elif out is not None:
        if count != 1:
            raise DTypeError(
                f"{operation.out_names[0]} must be a tuple of {count} arrays, one per result, got {type(out).__name__}")
        out = (out,)
    run.place_results(out, operation.out_names, place.name)
    run.place_inputs()
    return 0


cdef object delivered(Run run):
    """One result bare, several as a tuple."""
    cdef tuple results = run.deliver()
    return results[0] if len(results) == 1 else results


cdef int _refuse_dtype(Operation operation, Py_ssize_t index, cnp.ndarray array) except -1:
    raise DTypeError(
        f"{operation.name}: {operation.arguments[index]} must be float32, float16, bfloat16, float64 or an integer type, "
        f"got {array.dtype}")


cdef int _check_destinations(Operation operation, tuple out, size_t count) except -1:
    if len(out) != <Py_ssize_t>count:
        raise ShapeError(f"{operation.out_names[0]} must have {count} arrays, one per result, got {len(out)}")
    for entry in out:
        if entry is None:
            raise DTypeError(f"{operation.out_names[0]} must have {count} arrays, one per result, got None for one")
    return 0


cdef int _check_origin(Operation operation, cnp.ndarray array, Device place) except -1:
    """A training state is opaque: only the engine that wrote it can read it."""
    origin = origin_of(array)
    if origin is not None and origin != place.name:
        raise DeviceError(
            f"{operation.name}: z_state must come from device {place.name}, got one that device {origin} wrote")
    return 0
