"""Convolutions, depthwise convolutions and their gradients."""

from typing import Any, NamedTuple

import mpsgraph_native as mg
from mpsgraph_native.verify.data import random_array, seeded
from mpsgraph_native.verify.reference import convolution, depthwise_convolution
from mpsgraph_native.verify.reference.geometry import arranged
from mpsgraph_native.verify.table.case import Case, problem


class _Convolution(NamedTuple):
    batch: int
    inputs: int
    outputs: int  # of a depthwise convolution: per input channel
    image: tuple[int, int]
    kernel: tuple[int, int]
    fields: dict[str, Any]
    quick: bool = True


_THIRD = {"padding_left": 3, "padding_right": 3, "padding_top": 3, "padding_bottom": 3}
_HALF = {"stride_in_x": 2, "stride_in_y": 2}
_LAST = {"data_layout": "NHWC", "weights_layout": "HWIO"}
_CONVOLUTIONS = {
    "1x1": _Convolution(2, 5, 4, (6, 7), (1, 1), {}),
    "3x3 TF_SAME": _Convolution(2, 3, 5, (8, 9), (3, 3), {"padding_style": "TF_SAME"}),
    "7x7 stride 2": _Convolution(1, 3, 4, (15, 14), (7, 7), _HALF | _THIRD),
    "3x2 groups NHWC HWIO": _Convolution(2, 4, 6, (7, 6), (3, 2), _LAST | {"groups": 2, "padding_left": 1}),
    "2x4 dilated ONNX_SAME_LOWER": _Convolution(
        1, 3, 4, (9, 12), (2, 4),
        {"dilation_rate_in_x": 2, "dilation_rate_in_y": 3, "padding_style": "ONNX_SAME_LOWER"}, False,
    ),
    "3x3 NHWC OIHW 16 to 32": _Convolution(2, 16, 32, (20, 21), (3, 3), {"data_layout": "NHWC"} | _HALF, False),
    "3x3 TF_SAME 16 to 32": _Convolution(2, 16, 32, (24, 24), (3, 3), {"padding_style": "TF_SAME"}, False),
    "3x3 TF_SAME 64 to 64": _Convolution(2, 64, 64, (28, 28), (3, 3), {"padding_style": "TF_SAME"}, False),
    "5x5 TF_VALID 32 to 8": _Convolution(3, 32, 8, (14, 14), (5, 5), {"padding_style": "TF_VALID"}, False),
}  # fmt: skip
_DEPTHWISE = {
    "3x3 TF_SAME": _Convolution(2, 4, 1, (8, 9), (3, 3), {"padding_style": "TF_SAME"}),
    "3x3 multiplier 2 padded": _Convolution(2, 3, 2, (7, 8), (3, 3), _HALF | {"padding_left": 1, "padding_bottom": 1}),
    "5x3 multiplier 3 NHWC HWIO": _Convolution(1, 4, 3, (9, 8), (5, 3), _LAST, False),
    "2x3 dilated": _Convolution(2, 3, 1, (9, 9), (2, 3), {"dilation_rate_in_x": 2, "dilation_rate_in_y": 3}, False),
    "3x3 TF_SAME 24 channels": _Convolution(2, 24, 1, (20, 20), (3, 3), {"padding_style": "TF_SAME"}, False),
}


def _convolution_case(operation, name, sizes):
    depthwise = operation.startswith("depthwise")
    reference = depthwise_convolution if depthwise else convolution
    kind = mg.DepthwiseConvolution2DDescriptor if depthwise else mg.Convolution2DDescriptor
    descriptor = kind(**sizes.fields)
    inputs = sizes.inputs if depthwise else sizes.inputs // sizes.fields.get("groups", 1)

    def build(dtype_name, device):
        rng = seeded(operation, name)
        source = random_array(rng, (sizes.batch, sizes.inputs, *sizes.image), dtype_name)
        weights = random_array(rng, (sizes.outputs, inputs, *sizes.kernel), dtype_name)
        source, weights = arranged(source, descriptor.data_layout), arranged(weights, descriptor.weights_layout)
        shape = reference.output_shape(source.shape, weights.shape, descriptor)
        incoming = random_array(rng, shape, dtype_name)
        expected = reference.judge(operation, source=source, weights=weights, incoming=incoming, descriptor=descriptor)
        if operation.endswith("data_gradient"):
            return problem((incoming, weights), expected, output_shape=source.shape, descriptor=descriptor)
        if operation.endswith("weights_gradient"):
            return problem((incoming, source), expected, output_shape=weights.shape, descriptor=descriptor)
        return problem((source, weights), expected, descriptor=descriptor)

    return Case(operation, name, build, quick=sizes.quick)


def cases():
    for prefix, table in (("", _CONVOLUTIONS), ("depthwise_", _DEPTHWISE)):
        for suffix in ("", "_data_gradient", "_weights_gradient"):
            for name, sizes in table.items():
                yield _convolution_case(f"{prefix}convolution_2d{suffix}", name, sizes)
