"""Statistics for normalization."""

from mpsgraph_native._core.call import call
from mpsgraph_native.ops.reduction import reduced_axes

__all__ = ["mean"]


def mean(tensor, *, axes=None, out=None, device=None):
    """The arithmetic mean over axes (None: all) of a floating tensor; reduced dimensions stay, with size 1.

    NaN over no elements. Raises ShapeError for an axis outside the rank or named twice.

    MPSGraph: meanOfTensor:axes:name: (macOS 11.0).
    """
    return call("mean", (tensor,), out, device, None, *reduced_axes("mean", axes))
