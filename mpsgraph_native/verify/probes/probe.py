"""What a probe is."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Answer", "Finding", "Probe"]


class Probe(NamedTuple):
    """A question that Apple's documents leave open or answer twice, and a small computation that settles it on an engine.

    `answers` maps each possible answer to the value that it predicts; the first is the one that this package documents.
    `measure` takes a device's name. Where the package promises nothing (`promised` False), no answer is a failure.
    """

    name: str
    question: str
    measure: Callable[[str], Any]
    answers: dict[str, Any]
    promised: bool = True

    @property
    def documented(self):
        return next(iter(self.answers))

    def matching(self, value):
        """The answer that predicts this value, or None."""
        return next((answer for answer, predicted in self.answers.items() if agree(value, predicted)), None)

    def find(self, device):
        """Measures on a device."""
        value = np.asarray(self.measure(device)).astype(np.float64)
        answer = self.matching(value)
        return Finding(value, answer, answer == self.documented or not self.promised)


class Finding(NamedTuple):
    value: np.ndarray
    answer: str | None
    passed: bool


class Answer(NamedTuple):
    """What came of a probe on an engine; without a finding `message` says why.

    `needs_macos` is the version that the engine asked for instead of computing.
    """

    engine: str
    probe: Probe
    finding: Finding | None
    message: str = ""
    needs_macos: str | None = None

    @property
    def passed(self):
        if self.needs_macos:
            return None
        return self.finding is not None and self.finding.passed


def agree(value, predicted):
    """Equal up to the rounding of a few float32 operations; the shapes are part of the value."""
    value, predicted = np.asarray(value, np.float64), np.asarray(predicted, np.float64)
    return value.shape == predicted.shape and np.allclose(value, predicted, rtol=2e-5, atol=1e-6, equal_nan=True)
