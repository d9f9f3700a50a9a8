"""Operations that rearrange, cut, convert or choose elements: NumPy's own."""

import numpy as np

from mpsgraph_native.verify.reference import Expected


def _index(starts, ends, strides):
    return tuple(np.s_[start:end:stride] for start, end, stride in zip(starts, ends, strides, strict=True))


def _slice_gradient(gradient, *, fwd_in_shape, starts, ends, strides):
    result = np.zeros(fwd_in_shape, gradient.dtype)
    result[_index(starts, ends, strides)] = gradient
    return result


FUNCTIONS = {
    "broadcast": lambda x, *, shape: np.broadcast_to(x, shape),
    "cast": lambda x, *, dtype: x.astype(dtype),
    "reshape": lambda x, *, shape: x.reshape(shape),
    "select": np.where,
    "slice": lambda x, *, starts, ends, strides: x[_index(starts, ends, strides)],
    "slice_gradient": _slice_gradient,
    "transpose": lambda x, *, permutation: x.transpose(permutation),
}


def judge(operation, *operands, **attributes):
    return Expected(FUNCTIONS[operation](*operands, **attributes))
