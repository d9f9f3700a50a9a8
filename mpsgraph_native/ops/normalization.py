"""Statistics for normalization."""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.ops.reduction import reduced_axes
from mpsgraph_native.typing import Array, Axes, DeviceLike, ResultT

__all__ = ["mean"]


def mean(tensor: Array, *, axes: Axes = None, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The arithmetic mean over axes (None: all); reduced dimensions stay, with size 1.

    NaN over no elements.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), which the result has.
    Raises ShapeError for an axis outside the rank or named twice, DTypeError for another dtype.

    MPSGraph: meanOfTensor:axes:name: (macOS 11.0).
    """
    return call("mean", (tensor,), out, device, None, *reduced_axes("mean", axes))
