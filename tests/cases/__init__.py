"""Public bug reports of peer projects, restated as inputs of this package's operations with the right results.

Each row carries the thread it came from. The tables hold data and calls; the test modules beside this package run them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Value:
    """A call and what it must return: a literal in row-major order, or a function of no argument that computes it."""

    threads: tuple[str, ...]
    symptom: str
    call: Callable[[], Any]
    expected: Any
    marks: tuple = ()


@dataclass(frozen=True)
class Judged:
    """A convolution operation whose float64 reference is the right result: a function of no argument gives the problem."""

    threads: tuple[str, ...]
    symptom: str
    operation: str
    problem: Callable[[], dict]
    marks: tuple = ()


@dataclass(frozen=True)
class Refused:
    """A call that must raise, naming the argument; `words` are further patterns that the message must contain."""

    threads: tuple[str, ...]
    symptom: str
    call: Callable[[], Any]
    argument: str
    error: type = ValueError
    words: tuple[str, ...] = ()
    marks: tuple = ()


def parameters(rows):
    """pytest parameters of the rows, with the first thread and the symptom as readable ids."""
    return [pytest.param(row, id=f"{row.threads[0]}: {row.symptom}", marks=row.marks) for row in rows]
