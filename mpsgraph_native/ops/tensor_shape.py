"""Operations that rearrange, repeat, cut or convert elements. Tensors may have any dtype."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as np

from mpsgraph_native._core.call import call
from mpsgraph_native._core.operation import rank_of
from mpsgraph_native.errors import DTypeError, ShapeError
from mpsgraph_native.typing import Array, DeviceLike, DTypeLike, Integers, ResultT

__all__ = ["broadcast", "cast", "reshape", "slice", "slice_gradient", "transpose"]


def _integer(name: str, argument: str, value: SupportsIndex | None) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]  # None is refused below
    except TypeError:
        raise DTypeError(f"{name}: {argument} must be an integer, got {value!r}") from None


def _axis(name: str, argument: str, value: SupportsIndex, rank: int) -> int:
    axis = _integer(name, argument, value)
    if not -rank <= axis < rank:
        raise ShapeError(
            f"{name}: {argument} must lie in [{-rank}, {rank - 1}] for a tensor of rank {rank}, got {axis}"
        )
    return axis % rank


def reshape(tensor: Array, *, shape: Integers, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The same elements in row-major order with another shape, of which one dimension may be -1.

    Any dtype, which the result has. Raises ShapeError, naming shape, when the number of elements differs.

    MPSGraph: reshapeTensor:withShape:name: (macOS 11.0).
    """
    return call("reshape", (tensor,), out, device, None, "shape", shape)


def transpose(
    tensor: Array,
    *,
    permutation: Integers | None = None,
    dimension: SupportsIndex | None = None,
    with_dimension: SupportsIndex | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Axis i of the result is axis permutation[i] of tensor; or `dimension` and `with_dimension` change places.

    Any shape, any dtype, which the result has. Raises ShapeError for an axis outside the rank or named twice.

    MPSGraph: transposeTensor:permutation:name: (macOS 13.0), transposeTensor:dimension:withDimension:name: (macOS 11.0).
    """
    if permutation is None and dimension is None and with_dimension is None:
        raise ShapeError("transpose: permutation must be given, or dimension and with_dimension, got None")
    if permutation is None:
        if dimension is None or with_dimension is None:
            raise ShapeError("transpose: permutation is required, or dimension and with_dimension")
        rank = rank_of(tensor)
        first = _axis("transpose", "dimension", dimension, rank)
        second = _axis("transpose", "with_dimension", with_dimension, rank)
        order = list(range(rank))
        order[first], order[second] = second, first
        permutation = tuple(order)
    elif dimension is not None or with_dimension is not None:
        raise ShapeError("transpose: permutation must not be given together with dimension and with_dimension")
    return call("transpose", (tensor,), out, device, None, "permutation", permutation)


def broadcast(
    tensor: Array, *, shape: Integers, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The elements repeated along dimensions of size 1 and along new leading ones, as NumPy broadcasts.

    Any dtype, which the result has. Raises ShapeError, naming shape, when tensor does not broadcast to it.

    MPSGraph: broadcastTensor:toShape:name: (macOS 12.0).
    """
    return call("broadcast", (tensor,), out, device, None, "shape", shape)


def cast(tensor: Array, *, dtype: DTypeLike, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The elements converted to dtype.

    Floating to integer truncates toward zero and saturates, NaN gives 0; between integers the low bits stay; to bool, all
    but zero is true; to a floating dtype rounds to nearest even (float64 to a half type by way of float32).

    Any shape, which the result has. Raises DTypeError, naming dtype, for a type that this package does not have.

    MPSGraph: castTensor:toType:name: (macOS 12.0).
    """
    return call("cast", (tensor,), out, device, None, "dtype", dtype)


def slice(
    tensor: Array,
    *,
    starts: Integers | None = None,
    ends: Integers | None = None,
    strides: Integers | None = None,
    dimension: SupportsIndex | None = None,
    start: SupportsIndex | None = None,
    length: SupportsIndex | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """tensor[starts:ends:strides], one value per axis; or `length` elements of the axis `dimension` from `start` on.

    Negative starts and ends count from the end; strides are positive, 1 by default. An end before its start gives an empty
    axis. Starts and ends outside the tensor raise ShapeError.

    Any dtype, which the result has. Raises ShapeError, naming the argument, for what lies outside the shape.

    MPSGraph: sliceTensor:starts:ends:strides:name:, sliceTensor:dimension:start:length:name: (macOS 11.0).
    """
    if dimension is not None:
        if starts is not None or ends is not None or strides is not None:
            raise ShapeError("slice: dimension must not be given together with starts, ends and strides")
        shape = tuple(tensor.shape) if hasattr(tensor, "shape") else np.shape(tensor)  # type: ignore[arg-type]
        axis = _axis("slice", "dimension", dimension, len(shape))
        size = shape[axis]
        first, count = _integer("slice", "start", start), _integer("slice", "length", length)
        if not -size <= first <= size:
            raise ShapeError(f"slice: start must lie in [{-size}, {size}] for axis {axis}, got {first}")
        first += size if first < 0 else 0
        if not 0 <= count <= size - first:
            raise ShapeError(f"slice: length must lie in [0, {size - first}] from start {first} on, got {count}")
        starts, ends = [0] * len(shape), list(shape)
        starts[axis], ends[axis] = first, first + count
    attributes = ("starts", "ends", "strides"), (starts, ends, () if strides is None else strides)
    return call("slice", (tensor,), out, device, None, *attributes)


def slice_gradient(
    input_gradient: Array,
    *,
    fwd_in_shape: Integers,
    starts: Integers,
    ends: Integers,
    strides: Integers | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Zeros of shape fwd_in_shape with input_gradient written where the slice of that shape read.

    Any dtype, which the result has. Raises ShapeError, naming input_gradient, when it has not the shape of the slice.

    MPSGraph: sliceGradientTensor:fwdInShapeTensor:starts:ends:strides:name: (macOS 11.0).
    """
    names = ("fwd_in_shape", "starts", "ends", "strides")
    values = (fwd_in_shape, starts, ends, () if strides is None else strides)
    return call("slice_gradient", (input_gradient,), out, device, None, names, values)
