"""Naive float64 references, written from the formulas: slow, obvious, and unlike any engine."""

from typing import NamedTuple

import numpy as np


class Expected(NamedTuple):
    """A result in float64, the same formula on absolute values, and the length of the longest sum (see `tolerance`).

    Without a magnitude the result is exact: every element must have this very value.
    """

    value: np.ndarray
    magnitude: np.ndarray | float | None = None
    length: int = 1
