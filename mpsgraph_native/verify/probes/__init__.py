"""Questions that Apple's documents leave open, each with a computation that settles it on an engine."""

from mpsgraph_native.verify.probes import convolution, elementwise, pooling, precision, recurrent
from mpsgraph_native.verify.probes.probe import Finding, Probe

__all__ = ["PROBES", "Finding", "Probe"]

PROBES = (*pooling.PROBES, *convolution.PROBES, *recurrent.PROBES, *elementwise.PROBES, *precision.PROBES)
