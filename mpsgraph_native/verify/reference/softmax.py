"""Softmax, its cross entropy with labels, and their gradients.

y = e^x / sum of e^x;   dx = y (g - sum of g y)
loss = -sum of t log y;   dx = g (y sum of t - t) / count     with count the number of losses for "Mean", else 1
"""

import numpy as np

from mpsgraph_native.verify.reference import Expected


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis, keepdims=True)


def softmax_gradient(g, x, axis):
    y = softmax(x, axis)
    return y * (g - (g * y).sum(axis, keepdims=True))


def cross_entropy(x, t, axis, reduction_type):
    losses = -(t * np.log(softmax(x, axis))).sum(axis, keepdims=True)
    return {"None": losses, "Sum": np.asarray(losses.sum()), "Mean": np.asarray(losses.mean())}[reduction_type]


def cross_entropy_gradient(g, x, t, axis, reduction_type):
    count = x.size // x.shape[axis] if reduction_type == "Mean" else 1
    return g * (softmax(x, axis) * t.sum(axis, keepdims=True) - t) / count


def judge(operation, *operands, axis):
    """`Expected` of softmax or its gradient. The error of e^x is relative to the size of x: hence the spread."""
    *incoming, x = (np.asarray(array).astype(np.float64) for array in operands)
    y, spread = softmax(x, axis), 1 + np.ptp(x)
    if not incoming:
        return Expected(y, y * spread, x.shape[axis])
    (g,) = incoming
    magnitude = y * (np.abs(g) + (np.abs(g) * y).sum(axis, keepdims=True)) * spread
    return Expected(softmax_gradient(g, x, axis), magnitude, x.shape[axis])


def judge_cross_entropy(operation, *operands, axis, reduction_type):
    """`Expected` of the loss or its gradient."""
    *incoming, x, t = (np.asarray(array).astype(np.float64) for array in operands)
    spread = 1 + np.ptp(x)
    if not incoming:
        expected = cross_entropy(x, t, axis, reduction_type)
        return Expected(expected, np.abs(expected) + spread, x.size)
    (g,) = incoming
    expected = cross_entropy_gradient(g, x, t, axis, reduction_type)
    terms = softmax(x, axis) * t.sum(axis, keepdims=True) * spread + t
    return Expected(expected, np.abs(g) * terms, x.shape[axis])
