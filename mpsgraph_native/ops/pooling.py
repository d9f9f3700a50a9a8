"""2D and 4D pooling and its gradients.

A 2D operation pools H and W of a source of rank 4. A 4D operation pools the last four dimensions of a source of rank 4
or more; dimensions before them are batch. With stride s, padding before p and dilation d of an axis, tap j of output o
reads source position o·s − p + j·d, if that lies inside the source.
"""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.descriptors import Pooling2DDescriptor, Pooling4DDescriptor
from mpsgraph_native.typing import Array, DeviceLike, Integers, ResultT, SecondResultT

__all__ = [
    "avg_pooling_2d",
    "avg_pooling_2d_gradient",
    "avg_pooling_4d",
    "avg_pooling_4d_gradient",
    "l2_norm_pooling_4d",
    "l2_norm_pooling_4d_gradient",
    "max_pooling_2d",
    "max_pooling_2d_gradient",
    "max_pooling_2d_return_indices",
    "max_pooling_4d",
    "max_pooling_4d_gradient",
    "max_pooling_4d_return_indices",
]


def max_pooling_2d(
    source: Array, *, descriptor: Pooling2DDescriptor, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """2D max pooling.

    ::

        result[o] = max over the taps inside of source[o·s − p + j·d]

    Padding never wins. NaN wins over numbers. A window without any tap inside, which ``ceil_mode`` can make, gives
    −inf.

    Args:
        source: [N, C, H, W], or [N, H, W, C] with ``data_layout="NHWC"``.
        descriptor: a ``Pooling2DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        Values of the shape that the window leaves, in the dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 11.0): ``maxPooling2DWithSourceTensor:descriptor:name:``
    """
    return call("max_pooling_2d", (source,), out, device, descriptor)


def max_pooling_2d_return_indices(
    source: Array,
    *,
    descriptor: Pooling2DDescriptor,
    out: tuple[ResultT, SecondResultT] | None = None,
    device: DeviceLike | None = None,
) -> tuple[ResultT, SecondResultT]:
    """2D max pooling, with the indices of the maxima.

    Of several equal maxima the first in row-major window order counts, and the first NaN wins over all numbers.
    ``return_indices_mode`` says what an index means. GlobalFlattenND: the position of the maximum in the source,
    flattened over the N innermost dimensions, so that 2D is H·W for NCHW and W·C for NHWC. LocalFlattenND: the tap
    within the window, flattened over the N innermost dimensions of the kernel; taps on padding are counted. A window
    without any tap inside gives −inf and −1.

    Args:
        source: [N, C, H, W], or [N, H, W, C] with ``data_layout="NHWC"``.
        descriptor: a ``Pooling2DDescriptor``.
        out: a pair of arrays that receive the values and the int32 indices.
        device: where to compute; by default the default device.

    Returns:
        The values, in the dtype of the source, and their int32 indices, of one shape.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 12.2): ``maxPooling2DReturnIndicesWithSourceTensor:descriptor:name:``
    """
    return call("max_pooling_2d_return_indices", (source,), out, device, descriptor)


def max_pooling_2d_gradient(
    gradient: Array,
    *,
    source: Array | None = None,
    indices: Array | None = None,
    output_shape: Integers | None = None,
    descriptor: Pooling2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``max_pooling_2d`` with respect to its source, from that source or from the indices of its maxima.

    ::

        result[q] = sum over the o whose maximum lies at q of gradient[o]

    From the source the maxima are found again: the first of equal ones in row-major window order, NaN above numbers.
    From indices each gradient is added where its index points, even outside its own window. An index of −1 is
    accepted where the window has no tap inside, and adds nothing.

    Args:
        gradient: of the shape of the forward result.
        source: the forward source. Either this or ``indices`` is given.
        indices: int32 or int64, of the shape of ``gradient``, as ``max_pooling_2d_return_indices`` gives them. The
            descriptor's ``return_indices_mode`` must flatten every dimension whose kernel is above 1.
        output_shape: the shape of the forward source, a tuple or a one-dimensional integer array; needed with
            ``indices``.
        descriptor: the ``Pooling2DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of the shape of the forward source and the dtype of ``gradient``.

    Raises:
        ShapeError: a shape, a field of the descriptor or an index does not fit; the message names it. Nothing has been
            written then.
        DTypeError: an operand is not floating point, the dtypes differ, or ``indices`` is no int32 or int64.

    MPSGraph (macOS 11.0): ``maxPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:``, (macOS 13.0):
    ``maxPooling2DGradientWithGradientTensor:indicesTensor:outputShape:descriptor:name:``
    """
    operands, shape = (gradient, source, indices), () if output_shape is None else output_shape
    return call("max_pooling_2d_gradient", operands, out, device, descriptor, "output_shape", shape)


def avg_pooling_2d(
    source: Array, *, descriptor: Pooling2DDescriptor, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """2D average pooling.

    ::

        result[o] = sum over the taps inside of source[o·s − p + j·d] / D

    D is the number of taps inside or, with ``include_zero_pad_to_average``, of all taps of the window. A window without
    any tap inside gives 0.

    Args:
        source: [N, C, H, W], or [N, H, W, C] with ``data_layout="NHWC"``.
        descriptor: a ``Pooling2DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        Values of the shape that the window leaves, in the dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 11.0): ``avgPooling2DWithSourceTensor:descriptor:name:``
    """
    return call("avg_pooling_2d", (source,), out, device, descriptor)


def avg_pooling_2d_gradient(
    gradient: Array,
    source: Array,
    *,
    descriptor: Pooling2DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``avg_pooling_2d`` with respect to its source.

    ::

        result[q] = sum over the o, j with o·s − p + j·d = q of gradient[o] / D(o)

    with the divisor D of the forward operation.

    Args:
        gradient: of the shape of the forward result.
        source: the forward source: [N, C, H, W], or [N, H, W, C] with ``data_layout="NHWC"``.
        descriptor: the ``Pooling2DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of the shape and dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 11.0): ``avgPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:``
    """
    return call("avg_pooling_2d_gradient", (gradient, source), out, device, descriptor)


def max_pooling_4d(
    source: Array, *, descriptor: Pooling4DDescriptor, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """4D max pooling.

    ::

        result[o] = max over the taps inside of source[o·s − p + j·d]

    Padding never wins. NaN wins over numbers. A window without any tap inside, which ``ceil_mode`` can make, gives
    −inf.

    Args:
        source: of rank 4 or more; the window covers the last four dimensions.
        descriptor: a ``Pooling4DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        Values of the shape that the window leaves, in the dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 12.0): ``maxPooling4DWithSourceTensor:descriptor:name:``
    """
    return call("max_pooling_4d", (source,), out, device, descriptor)


def max_pooling_4d_return_indices(
    source: Array,
    *,
    descriptor: Pooling4DDescriptor,
    out: tuple[ResultT, SecondResultT] | None = None,
    device: DeviceLike | None = None,
) -> tuple[ResultT, SecondResultT]:
    """4D max pooling, with the indices of the maxima.

    Of several equal maxima the first in row-major window order counts, and the first NaN wins over all numbers.
    ``return_indices_mode`` says what an index means. GlobalFlattenND: the position of the maximum in the source,
    flattened over the N innermost dimensions, so that 2D is H·W for NCHW and W·C for NHWC. LocalFlattenND: the tap
    within the window, flattened over the N innermost dimensions of the kernel; taps on padding are counted. A window
    without any tap inside gives −inf and −1.

    Args:
        source: of rank 4 or more; the window covers the last four dimensions.
        descriptor: a ``Pooling4DDescriptor``.
        out: a pair of arrays that receive the values and the int32 indices.
        device: where to compute; by default the default device.

    Returns:
        The values, in the dtype of the source, and their int32 indices, of one shape.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 12.2): ``maxPooling4DReturnIndicesWithSourceTensor:descriptor:name:``
    """
    return call("max_pooling_4d_return_indices", (source,), out, device, descriptor)


def max_pooling_4d_gradient(
    gradient: Array,
    *,
    source: Array | None = None,
    indices: Array | None = None,
    output_shape: Integers | None = None,
    descriptor: Pooling4DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``max_pooling_4d`` with respect to its source, from that source or from the indices of its maxima.

    ::

        result[q] = sum over the o whose maximum lies at q of gradient[o]

    From the source the maxima are found again: the first of equal ones in row-major window order, NaN above numbers.
    From indices each gradient is added where its index points, even outside its own window. An index of −1 is
    accepted where the window has no tap inside, and adds nothing.

    Args:
        gradient: of the shape of the forward result.
        source: the forward source. Either this or ``indices`` is given.
        indices: int32 or int64, of the shape of ``gradient``, as ``max_pooling_4d_return_indices`` gives them. The
            descriptor's ``return_indices_mode`` must flatten every dimension whose kernel is above 1.
        output_shape: the shape of the forward source, a tuple or a one-dimensional integer array; needed with
            ``indices``.
        descriptor: the ``Pooling4DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of the shape of the forward source and the dtype of ``gradient``.

    Raises:
        ShapeError: a shape, a field of the descriptor or an index does not fit; the message names it. Nothing has been
            written then.
        DTypeError: an operand is not floating point, the dtypes differ, or ``indices`` is no int32 or int64.

    MPSGraph (macOS 12.0): ``maxPooling4DGradientWithGradientTensor:sourceTensor:descriptor:name:``, (macOS 13.0):
    ``maxPooling4DGradientWithGradientTensor:indicesTensor:outputShape:descriptor:name:``
    """
    operands, shape = (gradient, source, indices), () if output_shape is None else output_shape
    return call("max_pooling_4d_gradient", operands, out, device, descriptor, "output_shape", shape)


def avg_pooling_4d(
    source: Array, *, descriptor: Pooling4DDescriptor, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """4D average pooling.

    ::

        result[o] = sum over the taps inside of source[o·s − p + j·d] / D

    D is the number of taps inside or, with ``include_zero_pad_to_average``, of all taps of the window. A window without
    any tap inside gives 0.

    Args:
        source: of rank 4 or more; the window covers the last four dimensions.
        descriptor: a ``Pooling4DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        Values of the shape that the window leaves, in the dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 12.0): ``avgPooling4DWithSourceTensor:descriptor:name:``
    """
    return call("avg_pooling_4d", (source,), out, device, descriptor)


def avg_pooling_4d_gradient(
    gradient: Array,
    source: Array,
    *,
    descriptor: Pooling4DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``avg_pooling_4d`` with respect to its source.

    ::

        result[q] = sum over the o, j with o·s − p + j·d = q of gradient[o] / D(o)

    with the divisor D of the forward operation.

    Args:
        gradient: of the shape of the forward result.
        source: the forward source: of rank 4 or more; the window covers the last four dimensions.
        descriptor: the ``Pooling4DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of the shape and dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 12.0): ``avgPooling4DGradientWithGradientTensor:sourceTensor:descriptor:name:``
    """
    return call("avg_pooling_4d_gradient", (gradient, source), out, device, descriptor)


def l2_norm_pooling_4d(
    source: Array, *, descriptor: Pooling4DDescriptor, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """4D L2-norm pooling.

    ::

        result[o] = sqrt(sum over the taps inside of source[o·s − p + j·d]²)

    Args:
        source: of rank 4 or more; the window covers the last four dimensions.
        descriptor: a ``Pooling4DDescriptor``.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        Values of the shape that the window leaves, in the dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point.

    MPSGraph (macOS 12.0): ``L2NormPooling4DWithSourceTensor:descriptor:name:``
    """
    return call("l2_norm_pooling_4d", (source,), out, device, descriptor)


def l2_norm_pooling_4d_gradient(
    gradient: Array,
    source: Array,
    *,
    descriptor: Pooling4DDescriptor,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """Gradient of ``l2_norm_pooling_4d`` with respect to its source.

    ::

        result[q] = sum over the o, j with o·s − p + j·d = q of gradient[o] · source[q] / y[o]

    with the forward result y; terms with y = 0 count as 0.

    Args:
        gradient: of the shape of the forward result.
        source: the forward source: of rank 4 or more; the window covers the last four dimensions.
        descriptor: the ``Pooling4DDescriptor`` of the forward operation.
        out: an array that receives the result.
        device: where to compute; by default the default device.

    Returns:
        An array of the shape and dtype of the source.

    Raises:
        ShapeError: a shape or a field of the descriptor does not fit; the message names it.
        DTypeError: an operand is not floating point, or the dtypes differ.

    MPSGraph (macOS 12.0): ``L2NormPooling4DGradientWithGradientTensor:sourceTensor:descriptor:name:``
    """
    return call("l2_norm_pooling_4d_gradient", (gradient, source), out, device, descriptor)
