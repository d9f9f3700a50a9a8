# cython: freethreading_compatible=True
"""Operations as native values, built from Python attributes and kept for the next call."""

cimport cython
from libc.stdint cimport int64_t
from libcpp cimport bool
from libcpp.string cimport string
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from mpsgraph_native._native.operation cimport (
    AttributeMap,
    AttributeValue,
    argument_count,
    argument_name,
    attribute_value,
    describe,
    hash_of,
    make_operation,
)

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

# Operations without a descriptor, by name and attributes.
cdef dict _operations = {}
cdef int _operations_limit = 4096


@cython.final
cdef class Operation:
    def __init__(self):
        raise TypeError("an Operation is made by operation()")

    def __repr__(self):
        return describe(self.native).decode()


cdef int64_t _integer(object value, str name, str argument) except? -1:
    try:
        return operator.index(value)
    except TypeError:
        raise DTypeError(f"{name}: {argument} must be an integer, got {value!r}") from None
    except OverflowError:
        raise ShapeError(f"{name}: {argument} must be at most 2**31 - 1, got {value}") from None


cdef object _hashable(object value, str name, str argument):
    """Sequences and integer arrays as tuples, so that they can be part of a key."""
    if value is None or isinstance(value, (int, float, str, tuple)):
        return value
    if isinstance(value, list):
        return tuple(value)
    if hasattr(value, "constant_value"):
        value = value.constant_value(f"{name}: {argument}")
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        array = np.asarray(value)
        if array.dtype.kind not in "iu":
            raise DTypeError(f"{name}: {argument} must hold integers, got {array.dtype}")
        if array.ndim > 1:
            raise ShapeError(f"{name}: {argument} must have rank 1, got shape {array.shape}")
        return tuple(array.tolist()) if array.ndim else array.item()
    if isinstance(value, (np.dtype, type)):
        return value
    try:
        return tuple(value)
    except TypeError:
        raise DTypeError(f"{name}: {argument} must be an integer or a sequence of integers, got {value!r}") from None


cdef AttributeValue _convert(object value, str name, str argument) except *:
    cdef vector[int64_t] items
    if argument in _enumerations:
        return attribute_value[int64_t](_enumerations[argument].coerce(value, f"{name}: {argument}"))
    if argument in _data_types:
        return attribute_value[int64_t](dtype_code(value, f"{name}: {argument}"))
    if isinstance(value, (_bool_type, np.bool_)):
        return attribute_value[bool](<bint>value)
    if isinstance(value, IntEnum):
        return attribute_value[int64_t](value)
    if isinstance(value, float):
        return attribute_value[double](value)
    if isinstance(value, tuple):
        for item in value:
            if isinstance(item, (_bool_type, np.bool_)):
                raise DTypeError(f"{name}: {argument} must hold integers, got {value!r}")
            items.push_back(_integer(item, name, argument))
        return attribute_value[vector[int64_t]](items)
    return attribute_value[int64_t](_integer(value, name, argument))

cdef Operation _build(str name, dict attributes):
    cdef AttributeMap native
    cdef string key
    for argument, value in attributes.items():
        if value is None:
            continue
        key = argument.encode()
        native.push_back(pair[string, AttributeValue](key, _convert(value, name, argument)))
    key = name.encode()
    cdef Operation result = Operation.__new__(Operation)
    result.native = make_operation(key, native)
    result.hash = hash_of(result.native)
    result.name = name
    result.arguments = tuple(
        [argument_name(result.native, index).decode() for index in range(argument_count(result.native))])
    return result


def operation(str name, descriptor=None, **attributes):
    """The native operation `name` with the fields of `descriptor` and further attributes.

    Attribute values are numbers, members or names of enumerations, and, for shapes and axes, sequences or arrays of
    integers or constants of a graph. None leaves an attribute at its default. The result is kept: with the descriptor
    when there is one, else in a table of this module.
    """
    for argument, value in attributes.items():
        attributes[argument] = _hashable(value, name, argument)
    key = (name, *attributes.items())
    cdef dict kept = getattr(descriptor, "_operations", _operations)
    found = kept.get(key)
    if found is not None:
        return found
    expected = descriptor_class(name)
    if expected is not None:
        if not isinstance(descriptor, expected):
            raise DTypeError(f"{name}: descriptor must be a {expected.__name__}, got {descriptor!r}")
        attributes = {**descriptor._attributes(), **attributes}
    result = _build(name, attributes)
    if len(kept) >= _operations_limit:
        kept.clear()
    kept[key] = result
    return result


def rank_of(tensor):
    """Number of dimensions of an array or of a tensor of a graph."""
    return tensor.ndim if hasattr(tensor, "ndim") else np.ndim(tensor)
