"""Matrix multiplication."""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.typing import Array, DeviceLike, ResultT

__all__ = ["matrix_multiplication"]


def matrix_multiplication(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """Product of matrices: result[..., m, n] = sum over k of primary[..., m, k] · secondary[..., k, n].

    Args:
        primary: [..., M, K], of rank 2 or more.
        secondary: [..., K, N], of rank 2 or more. Leading dimensions broadcast.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        [..., M, N]; zeros when K is 0.

    Raises:
        ShapeError: a rank is below 2, the inner sizes differ or the leading dimensions do not broadcast.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0): ``matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:``
    """
    return call("matrix_multiplication", (primary, secondary), out, device)
