"""Naive float64 references, written from the formulas: slow, obvious, and unlike any engine."""

from typing import NamedTuple

import numpy as np


class Expected(NamedTuple):
    """What `support.assert_close` needs: the value, the formula on absolute values, the length of the longest sum."""

    value: np.ndarray
    magnitude: np.ndarray
    length: int
