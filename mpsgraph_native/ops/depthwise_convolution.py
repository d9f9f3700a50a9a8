"""2D depthwise convolution and its gradients."""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.descriptors import DepthwiseConvolution2DDescriptor
from mpsgraph_native.typing import Array, DeviceLike, Integers, ResultT

__all__ = [
    "depthwise_convolution_2d",
    "depthwise_convolution_2d_data_gradient",
    "depthwise_convolution_2d_weights_gradient",
]


def depthwise_convolution_2d(
    source: Array,
    weights: Array,
    *,
    descriptor: DepthwiseConvolution2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """2D depthwise convolution (cross-correlation): every channel has M kernels of its own.

    With stride s, dilation d and padding p of each axis, zero outside the source::

        result[n, c·M + m, y, x] = sum over j, i of
            source[n, c, y·s_y − p_top + j·d_y, x·s_x − p_left + i·d_x] · weights[m, c, j, i]

    Args:
        source: [N, C, H, W], or [N, H, W, C] with ``data_layout="NHWC"``.
        weights: [M, C, kH, kW], or [kH, kW, C, M] with ``weights_layout="HWIO"``.
        descriptor: a ``DepthwiseConvolution2DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        [N, C·M, H', W'] or [N, H', W', C·M], in the data layout and dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0): ``depthwiseConvolution2DWithSourceTensor:weightsTensor:descriptor:name:``
    """
    return call("depthwise_convolution_2d", (source, weights), out, device, descriptor)


def depthwise_convolution_2d_data_gradient(
    incoming_gradient: Array,
    weights: Array,
    *,
    output_shape: Integers,
    descriptor: DepthwiseConvolution2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``depthwise_convolution_2d`` with respect to its source.

    ::

        result[n, c, q, r] = sum over m, j, i and the (y, x) with
            y·s_y − p_top + j·d_y = q, x·s_x − p_left + i·d_x = r of
            incoming_gradient[n, c·M + m, y, x] · weights[m, c, j, i]

    Args:
        incoming_gradient: of the shape of the forward result.
        weights: the forward weights.
        output_shape: the shape of the forward source: a tuple, or a one-dimensional integer array.
        descriptor: the ``DepthwiseConvolution2DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of shape ``output_shape``, zero where no window reached.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit, or ``output_shape`` does not lead to the shape
            of ``incoming_gradient``; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0):
    ``depthwiseConvolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:descriptor:name:``
    """
    return call(
        "depthwise_convolution_2d_data_gradient",
        (incoming_gradient, weights),
        out,
        device,
        descriptor,
        "output_shape",
        output_shape,
    )


def depthwise_convolution_2d_weights_gradient(
    incoming_gradient: Array,
    source: Array,
    *,
    output_shape: Integers,
    descriptor: DepthwiseConvolution2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``depthwise_convolution_2d`` with respect to its weights.

    ::

        result[m, c, j, i] = sum over n, y, x of
            incoming_gradient[n, c·M + m, y, x] · source[n, c, y·s_y − p_top + j·d_y, x·s_x − p_left + i·d_x]

    Args:
        incoming_gradient: of the shape of the forward result.
        source: the forward source.
        output_shape: the shape of the forward weights: a tuple, or a one-dimensional integer array.
        descriptor: the ``DepthwiseConvolution2DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of shape ``output_shape``. For an empty batch it is zero. The order of summation depends on the number
        of threads alone.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit, or ``output_shape`` does not lead to the shape
            of ``incoming_gradient``; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0):
    ``depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:descriptor:name:``
    """
    return call(
        "depthwise_convolution_2d_weights_gradient",
        (incoming_gradient, source),
        out,
        device,
        descriptor,
        "output_shape",
        output_shape,
    )
