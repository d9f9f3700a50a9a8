"""Reductions over axes that stay with size 1, and products of matrices."""

import numpy as np

from mpsgraph_native.verify.reference import Expected

REDUCTIONS = {
    "reduction_sum": np.sum,
    "mean": np.mean,
    "reduction_product": np.prod,
    "reduction_maximum": np.fmax.reduce,
    "reduction_minimum": np.fmin.reduce,
}
ARGUMENTS = {"reduction_arg_maximum": np.nanargmax, "reduction_arg_minimum": np.nanargmin}


def judge(operation, tensor, axes):
    """`Expected` of a floating tensor; `axes` is one axis, a tuple, or None for all."""
    x = np.asarray(tensor).astype(np.float64)
    if operation in ARGUMENTS:
        return Expected(ARGUMENTS[operation](x, axis=axes, keepdims=True).astype(np.int32))
    expected = REDUCTIONS[operation](x, axis=axes, keepdims=True)
    if operation in ("reduction_maximum", "reduction_minimum"):
        return Expected(expected)
    magnitude = (
        np.abs(expected)
        if operation == "reduction_product"
        else REDUCTIONS[operation](np.abs(x), axis=axes, keepdims=True)
    )
    return Expected(expected, magnitude, max(1, x.size // max(1, expected.size)))


def integers(operation, tensor, axes):
    """`Expected` of an int32 tensor."""
    if operation in ARGUMENTS:
        return judge(operation, tensor, axes)
    options = {"dtype": tensor.dtype} if operation in ("reduction_sum", "reduction_product") else {}
    return Expected(REDUCTIONS[operation](tensor, axis=axes, keepdims=True, **options))


def matrix_multiplication(primary, secondary):
    wide = [np.asarray(array).astype(np.float64) for array in (primary, secondary)]
    return Expected(np.matmul(*wide), np.matmul(*map(np.abs, wide)), max(primary.shape[-1], 1))
