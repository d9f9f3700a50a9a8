"""Questions that Apple's documents leave open, each with a computation that settles it on an engine."""

from mpsgraph_native.verify.probes import convolution, elementwise, memory, pooling, precision, recurrent
from mpsgraph_native.verify.probes.probe import Answer, Finding, Probe

__all__ = ["PROBES", "Answer", "Finding", "Probe"]

PROBES = (
    *pooling.PROBES,
    *convolution.PROBES,
    *recurrent.PROBES,
    *elementwise.PROBES,
    *precision.PROBES,
    *memory.PROBES,
)
