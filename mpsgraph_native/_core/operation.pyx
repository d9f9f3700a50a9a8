# cython: freethreading_compatible=True
"""Operations as native values, built from Python attributes and kept for the next call."""

cimport cython
from libc.stdint cimport int64_t
from libcpp cimport bool
from libcpp.utility cimport move
from libcpp.vector cimport vector

from mpsgraph_native._core.descriptor cimport DescriptorCore
from mpsgraph_native._native.operation cimport (
    AttributeMap,
    add_attribute,
    argument_count,
    argument_name,
    describe,
    hash_of,
    make_operation,
)
from mpsgraph_native._native.text cimport view_of

import operator
from enum import IntEnum

import numpy as np

from mpsgraph_native._core.memory import dtype_code
from mpsgraph_native.descriptors import descriptor_class
from mpsgraph_native.enumerations import LossReductionType
from mpsgraph_native.errors import DTypeError, ShapeError

# Attributes of operations (not of descriptors, which convert their own) that are no numbers.
cdef dict _enumerations = {"reduction_type": LossReductionType}
cdef frozenset _data_types = frozenset(["dtype", "return_indices_data_type"])

cdef object _bool_type = type(True)  # `bool` is the C++ type here

# Operations without a descriptor, by name, those with attributes also by these and their values.
cdef dict _operations = {}
cdef int _operations_limit = 4096

cdef enum:
    MAXIMUM_RESULTS = 16


@cython.final
cdef class Operation:
    def __init__(self):
        raise TypeError("an Operation is made by the package alone")

    def __repr__(self):
        return describe(self.native).decode()


cdef int64_t _dimension(object value, str name, str argument, object whole) except? -1:
    if type(value) is not int and isinstance(value, (_bool_type, np.bool_)):
        raise DTypeError(f"{name}: {argument} must hold integers, got {whole!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise DTypeError(f"{name}: {argument} must hold integers, got {whole!r}") from None
    except OverflowError:
        raise ShapeError(f"{name}: {argument} must hold at most 2**31 - 1, got {whole!r}") from None


cdef object _normalized(object value, str name, str argument):
    """The value in a form that is part of a key: an attribute that means something else compares unequal."""
    kind = type(value)
    if kind is tuple:
        for item in value:
            if type(item) is not int:
                return tuple([_dimension(item, name, argument, value) for item in value])
        return value
    if kind is int or kind is str or isinstance(value, IntEnum):
        return value
    if value is None:
        raise ShapeError(f"{name}: {argument} is required, got None")
    if argument in _data_types:
        return dtype_code(value, f"{name}: {argument}")
    # 1, 1.0 and True are equal and would find each other's operation.
    if isinstance(value, (_bool_type, np.bool_)):
        return (_bool_type, _bool_type(value))
    if isinstance(value, float):
        return (float, float(value))
    if isinstance(value, (str, bytes, bytearray)):
        raise DTypeError(f"{name}: {argument} must be an integer or a sequence of integers, got {value!r}")
    if isinstance(value, list):
        return tuple([_dimension(item, name, argument, value) for item in value])
    if hasattr(value, "constant_value"):
        value = value.constant_value(f"{name}: {argument}")
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        array = np.asarray(value)
        if array.dtype.kind not in "iu":
            raise DTypeError(f"{name}: {argument} must hold integers, got {array.dtype}")
        if array.ndim > 1:
            raise ShapeError(f"{name}: {argument} must have rank 1, got shape {array.shape}")
        return tuple(array.tolist()) if array.ndim else array.item()
    if hasattr(value, "__index__"):
        return operator.index(value)
    try:
        items = tuple(value)
    except TypeError:
        raise DTypeError(f"{name}: {argument} must be an integer or a sequence of integers, got {value!r}") from None
    return tuple([_dimension(item, name, argument, value) for item in items])


cdef int _add(AttributeMap& native, str name, str argument, object value) except -1:
    """Adds the native form of a normalized value."""
    cdef vector[int64_t] items
    cdef int64_t integer
    cdef bytes encoded = argument.encode()
    if isinstance(value, tuple):
        if len(value) == 2 and value[0] is _bool_type:
            add_attribute[bool](native, view_of(encoded), <bool><bint>value[1])
        elif len(value) == 2 and value[0] is float:
            add_attribute[double](native, view_of(encoded), <double>value[1])
        else:
            for item in value:
                items.push_back(_dimension(item, name, argument, value))
            add_attribute[vector[int64_t]](native, view_of(encoded), items)
        return 0
    if argument in _enumerations:
        integer = _enumerations[argument].coerce(value, f"{name}: {argument}")
    elif argument in _data_types and isinstance(value, str):
        integer = dtype_code(value, f"{name}: {argument}")
    elif isinstance(value, str):
        raise DTypeError(f"{name}: {argument} must be an integer or a sequence of integers, got {value!r}")
    else:
        integer = _dimension(value, name, argument, value)
    add_attribute[int64_t](native, view_of(encoded), integer)
    return 0


cdef Operation _build(str name, dict attributes):
    cdef AttributeMap native
    cdef bytes encoded = name.encode()
    for argument, value in attributes.items():
        _add(native, name, argument, value)
    cdef Operation result = Operation.__new__(Operation)
    result.native = move(make_operation(view_of(encoded), native))
    result.hash = hash_of(result.native)
    result.name = name
    result.arguments = tuple(
        [argument_name(result.native, index).decode() for index in range(argument_count(result.native))])
    result.out_names = (f"{name}: out",) * MAXIMUM_RESULTS
    result.state_index = result.arguments.index("z_state") if "z_state" in result.arguments else -1
    return result


cdef Operation operation_of(str name, object descriptor, object attribute, object value):
    """The native operation `name` with the fields of `descriptor` and one attribute, none (None) or a tuple of several.

    Values are numbers, members or names of enumerations, and, for shapes and axes, sequences or arrays of integers or
    constants of a graph. The result is kept: with the descriptor when there is one, else in a table of this module.
    """
    cdef dict kept = (<DescriptorCore>descriptor).operations if isinstance(descriptor, DescriptorCore) else _operations
    if attribute is None:
        found = kept.get(name)
        return <Operation>found if found is not None else _keep(kept, name, name, _fields(name, descriptor))
    # By name, attribute and value, one after the other: a key of all three would have to be made and hashed.
    kept = _inner(_inner(kept, name), attribute)
    if type(attribute) is tuple:
        value = tuple([_normalized(entry, name, argument) for argument, entry in zip(attribute, value)])
    else:
        value = _normalized(value, name, <str>attribute)
    found = kept.get(value)
    if found is not None:
        return <Operation>found
    attributes = _fields(name, descriptor)
    attributes.update(zip(attribute, value) if type(attribute) is tuple else ((attribute, value),))
    return _keep(kept, value, name, attributes)


cdef dict _inner(dict outer, object key):
    cdef dict found = outer.get(key)
    if found is None:
        found = outer[key] = {}
    return found


cdef Operation _keep(dict kept, object key, str name, dict attributes):
    result = _build(name, attributes)
    if len(kept) >= _operations_limit:
        kept.clear()
    kept[key] = result
    return result


cdef dict _fields(str name, object descriptor):
    """The fields of the descriptor, as attributes, where the operation takes one."""
    expected = descriptor_class(name)
    if expected is None:
        return {}
    if not isinstance(descriptor, expected):
        raise DTypeError(f"{name}: descriptor must be a {expected.__name__}, got {descriptor!r}")
    return {argument: _normalized(value, name, argument) for argument, value in descriptor._attributes().items()}


def rank_of(tensor):
    """Number of dimensions of an array or of a tensor of a graph."""
    return tensor.ndim if hasattr(tensor, "ndim") else np.ndim(tensor)
