"""Reductions over axes. Reduced dimensions stay, with size 1.

`axes` is one axis, a sequence of axes, or None for all; `axis` names a single one, as MPSGraph's other overload does. Axes
may count from the end. One outside the rank or named twice raises ShapeError. Tensors are floating, int32 or int64; integers
wrap around. Sums are pairwise: their error does not grow with the length.
"""

from __future__ import annotations

import contextlib
import operator
from typing import SupportsIndex

from mpsgraph_native._core.call import call
from mpsgraph_native.errors import ShapeError
from mpsgraph_native.typing import Array, Axes, DeviceLike, ResultT

__all__ = [
    "reduction_arg_maximum",
    "reduction_arg_minimum",
    "reduction_maximum",
    "reduction_minimum",
    "reduction_product",
    "reduction_sum",
]


def reduced_axes(name: str, axes: Axes, axis: SupportsIndex | None = None) -> tuple[str, object]:
    """The attribute, and its value, by which the operation `name` reduces one axis, several, or (None) all."""
    if axis is not None:
        if axes is not None:
            raise ShapeError(f"{name}: axis must not be given together with axes")
        axes = axis
    if axes is None:
        return "all_axes", True
    with contextlib.suppress(TypeError):  # a sequence stays as it is
        axes = (operator.index(axes),)  # type: ignore[arg-type]
    return "axes", axes


def reduction_sum(
    tensor: Array,
    *,
    axes: Axes = None,
    axis: SupportsIndex | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """The sum; 0 over no elements.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64, which the result has.
    axes: one axis, several, or None for all, counted from the end where negative; axis: a single one. Reduced dimensions
    stay, with size 1. Raises ShapeError for an axis outside the rank or named twice, DTypeError for another dtype.

    MPSGraph: reductionSumWithTensor:axes:name:, reductionSumWithTensor:axis:name: (macOS 11.0).
    """
    return call("reduction_sum", (tensor,), out, device, None, *reduced_axes("reduction_sum", axes, axis))


def reduction_product(
    tensor: Array,
    *,
    axes: Axes = None,
    axis: SupportsIndex | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """The product; 1 over no elements.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64, which the result has.
    axes: one axis, several, or None for all, counted from the end where negative; axis: a single one. Reduced dimensions
    stay, with size 1. Raises ShapeError for an axis outside the rank or named twice, DTypeError for another dtype.

    MPSGraph: reductionProductWithTensor:axes:name:, reductionProductWithTensor:axis:name: (macOS 11.0).
    """
    return call("reduction_product", (tensor,), out, device, None, *reduced_axes("reduction_product", axes, axis))


def reduction_maximum(
    tensor: Array,
    *,
    axes: Axes = None,
    axis: SupportsIndex | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """The largest number, NaN skipped; -inf (the lowest integer) when there is none.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64, which the result has.
    axes: one axis, several, or None for all, counted from the end where negative; axis: a single one. Reduced dimensions
    stay, with size 1. Raises ShapeError for an axis outside the rank or named twice, DTypeError for another dtype.

    MPSGraph: reductionMaximumWithTensor:axes:name:, reductionMaximumWithTensor:axis:name: (macOS 11.0).
    """
    return call("reduction_maximum", (tensor,), out, device, None, *reduced_axes("reduction_maximum", axes, axis))


def reduction_minimum(
    tensor: Array,
    *,
    axes: Axes = None,
    axis: SupportsIndex | None = None,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """The smallest number, NaN skipped; inf (the highest integer) when there is none.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64, which the result has.
    axes: one axis, several, or None for all, counted from the end where negative; axis: a single one. Reduced dimensions
    stay, with size 1. Raises ShapeError for an axis outside the rank or named twice, DTypeError for another dtype.

    MPSGraph: reductionMinimumWithTensor:axes:name:, reductionMinimumWithTensor:axis:name: (macOS 11.0).
    """
    return call("reduction_minimum", (tensor,), out, device, None, *reduced_axes("reduction_minimum", axes, axis))


def reduction_arg_maximum(
    tensor: Array, *, axis: SupportsIndex, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The int32 position along axis of the first largest number, NaN skipped; -1 when there is none.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The reduced dimension stays, with size 1. Raises ShapeError for an axis outside the rank or without elements,
    DTypeError for another dtype.

    MPSGraph: reductionArgMaximumWithTensor:axis:name: (macOS 12.0).
    """
    return call("reduction_arg_maximum", (tensor,), out, device, None, "axis", axis)


def reduction_arg_minimum(
    tensor: Array, *, axis: SupportsIndex, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The int32 position along axis of the first smallest number, NaN skipped; -1 when there is none.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The reduced dimension stays, with size 1. Raises ShapeError for an axis outside the rank or without elements,
    DTypeError for another dtype.

    MPSGraph: reductionArgMinimumWithTensor:axis:name: (macOS 12.0).
    """
    return call("reduction_arg_minimum", (tensor,), out, device, None, "axis", axis)
