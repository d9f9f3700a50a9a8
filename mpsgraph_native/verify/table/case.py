"""What a case is, and helpers of the families' tables."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mpsgraph_native.verify.data import dtype
from mpsgraph_native.verify.reference import Expected
from mpsgraph_native.verify.tolerance import FLOAT_DTYPES

__all__ = ["NUMBERS", "Case", "Problem", "problem", "shapes_of", "small_integers"]

NUMBERS = (*FLOAT_DTYPES, "int32")


class Problem(NamedTuple):
    """How an operation is called, and what it must give: one `Expected` per result, None for one that is opaque."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    expected: tuple[Expected | None, ...]


class Case(NamedTuple):
    """An operation on seeded data. `build` takes a dtype's name and a device.

    The device matters to gradients alone that start from the training state of a forward operation, which only the engine
    that wrote it can read.
    """

    operation: str
    name: str
    build: Callable[[str, str], Problem]
    dtypes: tuple[str, ...] = FLOAT_DTYPES
    quick: bool = True  # whether the short run has it


def problem(arguments, expected, **keywords):
    """A `Problem` with one result."""
    return Problem(arguments, keywords, (expected,))


def shapes_of(*shapes):
    return " ".join("x".join(map(str, shape)) or "scalar" for shape in shapes)


def small_integers(rng, shape, dtype_name):
    """Values that every dtype holds, with many ties."""
    return np.asarray(rng.integers(-9, 10, shape)).astype(dtype(dtype_name))
