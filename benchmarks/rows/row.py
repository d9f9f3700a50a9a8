"""What every row of a comparison has."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

FLOAT32 = np.dtype(np.float32).itemsize


class Contender(NamedTuple):
    """One library's way to compute a row. `call` comes back when the results are there."""

    name: str
    call: Callable[[], Any]
    # What `call` gave, as named arrays; images as NCHW and convolutions' weights as OIHW, whatever the library's layout.
    results: Callable[[Any], dict[str, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Row:
    """One operation on one set of sizes.

    Families add `arrays()`, the operands as named arrays, `ours(arrays)`, this package's Contender, and the properties
    used below.
    """

    @property
    def name(self):
        return f"{self.operation} {self.sizes}"

    @property
    def work(self):
        """What `unit` counts, without the giga."""
        return self.flops if self.unit == "GFLOP/s" else self.bytes

    def description(self):
        """Everything about the row that needs no measurement, ready for JSON."""
        names = ("name", "family", "operation", "sizes", "gradient", "unit", "flops", "bytes")
        return {name: getattr(self, name) for name in names}


def written_out(function, *operands, **keywords):
    """The call as a program writes it: unpacking a dictionary of keywords would take a quarter of a small call's time.

    `parts` of what comes back holds the arguments.
    """
    names = {f"operand_{index}": operand for index, operand in enumerate(operands)}
    arguments = ", ".join([*names, *(f"{name}={name}" for name in keywords)])
    call = eval(f"lambda: function({arguments})", {"function": function, **names, **keywords})
    call.parts = function, operands, keywords
    return call


def random(*shape, scale=0.1, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) * np.float32(scale)


def channels_last(array):
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1))


def channels_first(array):
    return np.ascontiguousarray(array.transpose(0, 3, 1, 2))


def in_layout(array, layout):
    """An NCHW array in the layout."""
    return array if layout == "NCHW" else channels_last(array)


def from_layout(array, layout):
    """As NCHW, an array of that layout."""
    return array if layout == "NCHW" else channels_first(array)


def output_size(size, kernel, stride, padding):
    return (size + 2 * padding - kernel) // stride + 1
