"""Steps of optimizers."""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.typing import Array, DeviceLike, ResultT

__all__ = ["stochastic_gradient_descent"]


def stochastic_gradient_descent(
    learning_rate: Array,
    values: Array,
    gradient: Array,
    *,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """values - learning_rate · gradient.

    learning_rate has one element; gradient has the shape of values; all three have one floating dtype.

    values: any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), one for all three; the result has both.
    Raises ShapeError or DTypeError naming the argument that differs.

    MPSGraph: stochasticGradientDescentWithLearningRateTensor:valuesTensor:gradientTensor:name: (macOS 11.0).
    """
    return call("stochastic_gradient_descent", (learning_rate, values, gradient), out, device)
