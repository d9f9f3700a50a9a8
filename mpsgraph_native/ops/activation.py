"""Activations and their gradients. Tensors are floating; `source` of a gradient is the forward input."""

from __future__ import annotations

from typing import SupportsIndex

from mpsgraph_native._core.call import call
from mpsgraph_native.typing import Array, DeviceLike, ResultT

__all__ = ["relu", "relu_gradient", "sigmoid", "sigmoid_gradient", "softmax", "softmax_gradient"]


def relu(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """max(tensor, 0), element by element; NaN stays.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: reLUWithTensor:name: (macOS 11.0).
    """
    return call("relu", (tensor,), out, device)


def relu_gradient(
    incoming_gradient: Array, source: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """incoming_gradient where source > 0, elsewhere incoming_gradient · 0; NaN where source is NaN.

    Any shape, the same for both; one dtype, floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises ShapeError, naming incoming_gradient, when it has not the shape of source; DTypeError for another dtype.

    MPSGraph: reLUGradientWithIncomingGradient:sourceTensor:name: (macOS 11.0).
    """
    return call("relu_gradient", (incoming_gradient, source), out, device)


def sigmoid(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """1 / (1 + e^-tensor), element by element.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: sigmoidWithTensor:name: (macOS 11.0).
    """
    return call("sigmoid", (tensor,), out, device)


def sigmoid_gradient(
    incoming_gradient: Array, source: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """incoming_gradient · s · (1 - s) with s = sigmoid(source).

    Any shape, the same for both; one dtype, floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises ShapeError, naming incoming_gradient, when it has not the shape of source; DTypeError for another dtype.

    MPSGraph: sigmoidGradientWithIncomingGradient:sourceTensor:name: (macOS 11.0).
    """
    return call("sigmoid_gradient", (incoming_gradient, source), out, device)


def softmax(
    tensor: Array, *, axis: SupportsIndex, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """e^tensor / sum of e^tensor along axis, which may count from the end. The largest element is subtracted first.

    Any shape of rank 1 or more; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises ShapeError for an axis outside the rank, DTypeError for another dtype.

    MPSGraph: softMaxWithTensor:axis:name: (macOS 11.0).
    """
    return call("softmax", (tensor,), out, device, None, "axis", axis)


def softmax_gradient(
    incoming_gradient: Array,
    source: Array,
    *,
    axis: SupportsIndex,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """y · (incoming_gradient - sum of incoming_gradient · y along axis) with y = softmax(source, axis).

    Any shape of rank 1 or more, the same for both; one dtype, floating (float32, float16, bfloat16; float64 on cpu).
    Raises ShapeError for an axis outside the rank, or when incoming_gradient has not the shape of source; DTypeError for
    another dtype.

    MPSGraph: softMaxGradientWithIncomingGradient:sourceTensor:axis:name: (macOS 11.0).
    """
    return call("softmax_gradient", (incoming_gradient, source), out, device, None, "axis", axis)
