"""Losses and their gradients."""

from __future__ import annotations

from typing import SupportsIndex

from mpsgraph_native._core.call import call
from mpsgraph_native.enumerations import LossReductionType
from mpsgraph_native.typing import Array, DeviceLike, LossReductionTypeName, ResultT

__all__ = ["softmax_cross_entropy", "softmax_cross_entropy_gradient"]


def softmax_cross_entropy(
    source: Array,
    labels: Array,
    *,
    axis: SupportsIndex,
    reduction_type: LossReductionType | LossReductionTypeName = "None",
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """-sum of labels · log softmax(source) along axis.

    labels have the shape and the floating dtype of source. `reduction_type` (LossReductionType): "None" keeps one loss per
    line, the axis having size 1; "Sum" and "Mean" reduce the losses to a scalar of shape ().

    source: any shape of rank 1 or more; dtype floating (float32, float16, bfloat16; float64 on cpu).
    Raises ShapeError for an axis outside the rank, or when labels have not the shape of source; DTypeError for another
    dtype.

    MPSGraph: softMaxCrossEntropyWithSourceTensor:labelsTensor:axis:reductionType:name: (macOS 11.0).
    """
    attributes = ("axis", "reduction_type"), (axis, reduction_type)
    return call("softmax_cross_entropy", (source, labels), out, device, None, *attributes)


def softmax_cross_entropy_gradient(
    incoming_gradient: Array,
    source: Array,
    labels: Array,
    *,
    axis: SupportsIndex,
    reduction_type: LossReductionType | LossReductionTypeName = "None",
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """incoming_gradient · (softmax(source) · sum of labels - labels), with "Mean" divided by the number of losses.

    incoming_gradient has the shape of the loss; axis and reduction_type (LossReductionType) are those of the loss. For labels
    that sum to 1 this is softmax(source) - labels; labels are not differentiated.

    source: any shape of rank 1 or more; dtype floating (float32, float16, bfloat16; float64 on cpu), one for all
    three. Raises ShapeError for an axis outside the rank, or when incoming_gradient or labels have another shape; DTypeError
    for another dtype.

    MPSGraph: softMaxCrossEntropyGradientWithIncomingGradientTensor:sourceTensor:labelsTensor:axis:reductionType:name:
    (macOS 11.0).
    """
    attributes = ("axis", "reduction_type"), (axis, reduction_type)
    operands = (incoming_gradient, source, labels)
    return call("softmax_cross_entropy_gradient", operands, out, device, None, *attributes)
