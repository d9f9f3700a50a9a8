"""Seeded data."""

import numpy as np

__all__ = ["dtype", "random_array", "seeded"]


def dtype(name):
    """The NumPy dtype of that name; bfloat16 comes from ml_dtypes, which is asked for it alone."""
    if str(name) == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def seeded(*key):
    """A generator whose stream depends on nothing but the key (any printable values)."""
    return np.random.default_rng(list(repr(key).encode()))


def random_array(rng, shape, dtype_name="float32"):
    """Standard normal values rounded to the dtype."""
    return np.asarray(rng.standard_normal(shape)).astype(dtype(dtype_name))
