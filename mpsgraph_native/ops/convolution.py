"""2D convolution and its gradients."""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.descriptors import Convolution2DDescriptor
from mpsgraph_native.typing import Array, DeviceLike, Integers, ResultT

__all__ = ["convolution_2d", "convolution_2d_data_gradient", "convolution_2d_weights_gradient"]


def convolution_2d(
    source: Array,
    weights: Array,
    *,
    descriptor: Convolution2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """2D convolution (cross-correlation, the kernel is not flipped).

    With stride s, dilation d and padding p of each axis, zero outside the source::

        result[n, o, y, x] = sum over c, j, i of
            source[n, c, y·s_y − p_top + j·d_y, x·s_x − p_left + i·d_x] · weights[o, c, j, i]

    where c runs over the input channels of the group of o.

    Args:
        source: [N, Cin, H, W], or [N, H, W, Cin] with ``data_layout="NHWC"``.
        weights: [Cout, Cin / groups, kH, kW], or [kH, kW, Cin / groups, Cout] with ``weights_layout="HWIO"``.
        descriptor: a ``Convolution2DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        [N, Cout, H', W'] or [N, H', W', Cout], in the data layout and dtype of the source. Without input channels it
        is zero.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0): ``convolution2DWithSourceTensor:weightsTensor:descriptor:name:``
    """
    return call("convolution_2d", (source, weights), out, device, descriptor)


def convolution_2d_data_gradient(
    incoming_gradient: Array,
    weights: Array,
    *,
    output_shape: Integers,
    descriptor: Convolution2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``convolution_2d`` with respect to its source.

    ::

        result[n, c, q, r] = sum over o, j, i and the (y, x) with
            y·s_y − p_top + j·d_y = q, x·s_x − p_left + i·d_x = r of
            incoming_gradient[n, o, y, x] · weights[o, c, j, i]

    Args:
        incoming_gradient: of the shape of the forward result.
        weights: the forward weights.
        output_shape: the shape of the forward source: a tuple, or a one-dimensional int32 or int64 array. It decides
            between the sources that lead to the same result when the stride leaves a tail unread.
        descriptor: the ``Convolution2DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of shape ``output_shape``, zero where no window reached.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit, or ``output_shape`` does not lead to the shape
            of ``incoming_gradient``; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0):
    ``convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:``
    """
    return call(
        "convolution_2d_data_gradient",
        (incoming_gradient, weights),
        out,
        device,
        descriptor,
        "output_shape",
        output_shape,
    )


def convolution_2d_weights_gradient(
    incoming_gradient: Array,
    source: Array,
    *,
    output_shape: Integers,
    descriptor: Convolution2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``convolution_2d`` with respect to its weights.

    ::

        result[o, c, j, i] = sum over n, y, x of
            incoming_gradient[n, o, y, x] · source[n, c, y·s_y − p_top + j·d_y, x·s_x − p_left + i·d_x]

    Args:
        incoming_gradient: of the shape of the forward result.
        source: the forward source.
        output_shape: the shape of the forward weights: a tuple, or a one-dimensional int32 or int64 array.
        descriptor: the ``Convolution2DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of shape ``output_shape``. For an empty batch it is zero. The order of summation depends on the
        number of threads alone.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit, or ``output_shape`` does not lead to the shape
            of ``incoming_gradient``; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0):
    ``convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:name:``
    """
    return call(
        "convolution_2d_weights_gradient",
        (incoming_gradient, source),
        out,
        device,
        descriptor,
        "output_shape",
        output_shape,
    )
