"""Reports about convolution gradients. Strides and dilations are (Y, X), paddings (top, bottom, left, right)."""

import numpy as np
import pytest
from support import Convolution, counting, random_array, seeded

import mpsgraph_native as mg
from cases import Judged, Refused, Value


def descriptor(stride=(1, 1), dilation=(1, 1), padding=(0, 0, 0, 0), kind=mg.Convolution2DDescriptor, **fields):
    return kind(
        stride_in_y=stride[0],
        stride_in_x=stride[1],
        dilation_rate_in_y=dilation[0],
        dilation_rate_in_x=dilation[1],
        padding_top=padding[0],
        padding_bottom=padding[1],
        padding_left=padding[2],
        padding_right=padding[3],
        **fields,
    )


def weights_gradient(incoming, source, shape, **fields):
    return mg.convolution_2d_weights_gradient(incoming, source, output_shape=shape, descriptor=descriptor(**fields))


def _counted(incoming_shape, source_shape, weights_shape, **fields):
    """The weights gradient of 1, 2, 3, ... against 1, 2, 3, ..."""
    return lambda: weights_gradient(counting(*incoming_shape), counting(*source_shape), weights_shape, **fields)


def _ones(incoming_shape, source_shape, weights_shape, dtype_name="float32", **fields):
    def call():
        incoming, source = counting(1, dtype_name=dtype_name), counting(1, dtype_name=dtype_name)
        return weights_gradient(
            np.broadcast_to(incoming, incoming_shape).copy(),
            np.broadcast_to(source, source_shape).copy(),
            weights_shape,
            **fields,
        )

    return call


def _last_channel():
    gradient = _ones((1, 65537, 1, 3), (1, 1, 1, 3), (65537, 1, 1, 3), padding=(0, 0, 1, 1))()
    assert gradient.any(axis=(1, 2, 3)).all(), "a channel of zeros"
    return gradient[65536]


def _wide_kernel():
    """131073 columns against 65537 taps: the products of sizes pass 2**32."""
    incoming = np.zeros((1, 1, 1, 65537), np.float32)
    incoming[..., -1] = 1
    return weights_gradient(incoming, random_array(seeded("wide kernel"), (1, 1, 1, 131073)), (1, 1, 1, 65537))


def _depthwise():
    kind = mg.DepthwiseConvolution2DDescriptor
    return mg.depthwise_convolution_2d_weights_gradient(
        counting(1, 4, 2, 2), counting(1, 2, 3, 3), output_shape=(2, 2, 2, 2), descriptor=descriptor(kind=kind)
    ).transpose(1, 0, 2, 3)


def _empty_batch():
    return weights_gradient(np.empty((0, 4, 6, 6), np.float32), np.empty((0, 3, 8, 8), np.float32), (4, 3, 3, 3))


SQUARE = (1, 1, 3, 3)

VALUES = [
    Value(
        ("tensorflow/tensorflow#126380", "tensorflow/tensorflow#126254"),
        "depthwise gradient with a channel multiplier",
        _depthwise,
        [[37, 47, 67, 77], [85, 111, 163, 189], [511, 553, 637, 679], [703, 761, 877, 935]],
    ),
    Value(
        ("pytorch/pytorch#51430",),
        "groups in the weights gradient",
        _counted((2, 4, 2, 2), (2, 4, 2, 2), (4, 2, 1, 1), groups=2),
        [[1404, 1740], [1740, 2204], [3260, 3852], [3852, 4572]],
    ),
    Value(
        ("pytorch/pytorch#83180",),
        "unequal strides",
        _counted((1, 1, 1, 2), (1, 1, 3, 6), SQUARE, stride=(1, 2)),
        [[7, 10, 13], [25, 28, 31], [43, 46, 49]],
    ),
    Value(
        ("pytorch/pytorch#15501",),
        "stride and dilation change roles in the backward pass",
        _counted((1, 1, 3, 3), (1, 1, 5, 5), SQUARE, stride=(2, 2), dilation=(2, 2), padding=(2, 2, 2, 2)),
        [[228, 365, 248], [519, 777, 501], [304, 431, 260]],
    ),
    Value(
        ("meta-pytorch/opacus#245", "ml-explore/mlx#2184"),
        "stride leaves an unread tail",
        _counted((1, 1, 2, 2), (1, 1, 6, 6), SQUARE, stride=(2, 2)),
        [[106, 116, 126], [166, 176, 186], [226, 236, 246]],
    ),
    Value(
        ("meta-pytorch/opacus#245",),
        "unread tail of a grouped row",
        lambda: _counted((3, 6, 1, 2), (3, 4, 1, 5), (6, 2, 1, 2), stride=(1, 2), groups=2)()[0],
        [[2745, 2826], [3150, 3231]],
    ),
    Value(
        ("tracel-ai/burn#2676", "pytorch/pytorch#45667"),
        "TF_SAME with an even kernel pads at the end",
        _counted((1, 1, 3, 3), (1, 1, 3, 3), (1, 1, 2, 2), padding_style="TF_SAME"),
        [[285, 186], [154, 94]],
    ),
    Value(("pytorch/pytorch#129207",), "channel 65537", _last_channel, [2, 3, 2]),
    Value(
        ("pytorch/pytorch#119677",),
        "sums beyond 2**24",
        _ones((1, 1, 4096, 4097), (1, 1, 4096, 4097), (1, 1, 1, 1)),
        [16781312],
    ),
    Value(
        ("kulinseth/pytorch#431",),
        "float16 sums",
        _ones((1, 1, 64, 64), (1, 1, 64, 64), (1, 1, 1, 1), "float16"),
        [4096],
    ),
    Value(
        ("pytorch/pytorch#68048",),
        "bfloat16 sums",
        _ones((1, 1, 40, 40), (1, 1, 40, 40), (1, 1, 1, 1), "bfloat16"),
        [1600],
    ),
    Value(
        ("ml-explore/mlx#3248", "ml-explore/mlx#3138", "pytorch/pytorch#185663"),
        "index products beyond 2**32",
        _wide_kernel,
        lambda: random_array(seeded("wide kernel"), (1, 1, 1, 131073))[..., 65536:],
        marks=(
            pytest.mark.slow,
            pytest.mark.skipif(
                mg.default_device().name == "mps",
                reason="MPSGraph miscomputes kernel extents of 256 and more, which device mps refuses",
            ),
        ),
    ),
    Value(
        ("pytorch/pytorch#180201", "pytorch/pytorch#180236"),
        "zero strides",
        lambda: weights_gradient(np.broadcast_to(np.float32(1), (2, 1, 2, 2)), counting(2, 1, 3, 3), (1, 1, 2, 2)),
        [[60, 68], [84, 92]],
    ),
    Value(
        ("FluxML/NNlib.jl#763", "Theano/Theano#3715", "tensorflow/tensorflow#14657"),
        "empty batch",
        _empty_batch,
        lambda: np.zeros((4, 3, 3, 3)),
    ),
    Value(
        ("pytorch/pytorch#187399",),
        "no input channels",
        lambda: weights_gradient(np.ones((2, 4, 6, 6), np.float32), np.empty((2, 0, 8, 8), np.float32), (4, 0, 3, 3)),
        lambda: np.zeros((4, 0, 3, 3)),
    ),
]


def _shifted(stride, style):
    fields = {"stride_in_y": stride[0], "stride_in_x": stride[1], "padding_style": style}
    return Convolution(2, 3, 8, (32, 32), (3, 3), fields)


def _one_channel_views(shape, order):
    """A permuted view of a one-channel array, which could be taken for either layout."""

    def problem():
        problem = Convolution(1, 1, 2, tuple(shape[axis] for axis in order)[2:], (1, 3)).problem(
            "convolution_2d_weights_gradient"
        )
        problem["source"] = random_array(seeded(shape), shape).transpose(order)
        return problem

    return problem


def _mixed_memory():
    """Channels-last data with OIHW weights; the source lies in memory in reverse order."""
    problem = Convolution(2, 3, 4, (6, 7), (3, 3)).problem("convolution_2d_weights_gradient", "float32", "NHWC", "OIHW")
    problem["source"] = np.asfortranarray(problem["source"])
    return problem


_WEIGHTS, _DATA = "convolution_2d_weights_gradient", "convolution_2d_data_gradient"
_POINTWISE = Convolution(32, 4, 8, (32, 32), (1, 1), {"stride_in_y": 2, "stride_in_x": 2})
_PADDING_3 = dict.fromkeys(("padding_left", "padding_right", "padding_top", "padding_bottom"), 3)
_DEPTHWISE_7 = Convolution(
    2, 32, 32, (14, 14), (7, 7), {"groups": 32, "stride_in_y": 2, "stride_in_x": 2, **_PADDING_3}
)

JUDGED = [
    *[
        Judged(
            ("tillahoffmann/jax-mps@87472b0",),
            f"{operation} shifted by strides {stride} {style}",
            operation,
            lambda operation=operation, stride=stride, style=style: _shifted(stride, style).problem(operation),
        )
        for operation in (_DATA, _WEIGHTS)
        for stride in ((2, 1), (1, 2), (3, 2))
        for style in ("TF_SAME", "TF_VALID")
    ],
    Judged(
        ("tensorflow/tensorflow#126380",),
        "depthwise HWIO 3x3x3x4",
        "depthwise_" + _WEIGHTS,
        lambda: Convolution(2, 3, 4, (7, 8), (3, 3)).problem("depthwise_" + _WEIGHTS, "float32", "NHWC", "HWIO"),
    ),
    Judged(
        ("pytorch/pytorch#84206", "pytorch/pytorch#84511"),
        "one channel, permuted",
        _WEIGHTS,
        _one_channel_views((1, 10, 10, 1), (0, 3, 1, 2)),
    ),
    Judged(
        ("pytorch/pytorch#91822",), "one channel, a row", _WEIGHTS, _one_channel_views((1, 1, 176, 1), (0, 3, 1, 2))
    ),
    Judged(("pytorch/pytorch#174241", "pytorch/pytorch#162776"), "mixed layouts", _WEIGHTS, _mixed_memory),
    *[
        Judged(
            ("uxlfoundation/oneDNN#6035",),
            f"{operation} pointwise, stride 2, few channels",
            operation,
            lambda operation=operation: _POINTWISE.problem(operation, "float32", "NHWC", "HWIO"),
        )
        for operation in ("convolution_2d", _DATA, _WEIGHTS)
    ],
    Judged(("ml-explore/mlx#3800",), "grouped and strided", _DATA, lambda: _DEPTHWISE_7.problem(_DATA)),
]


def _into_the_source():
    source = counting(1, 1, 6, 6)
    return mg.convolution_2d_weights_gradient(
        counting(1, 1, 4, 4), source, output_shape=(1, 1, 3, 3), descriptor=descriptor(), out=source[:, :, 1:4, 1:4]
    )


_NO_ROWS = np.empty((2, 3, 0, 8), np.float32)

REFUSED = [
    Refused(
        ("ml-explore/mlx#3938",),
        "dilation beyond 32 bits, Y",
        _counted((1, 1, 6, 6), (1, 1, 8, 8), SQUARE, dilation=(2**31 - 1, 1)),
        "dilation_rate_in_y",
    ),
    Refused(
        ("ml-explore/mlx#3938",),
        "dilation beyond 32 bits, X",
        _counted((1, 1, 6, 6), (1, 1, 8, 8), SQUARE, dilation=(1, 2**31 - 1)),
        "dilation_rate_in_x",
    ),
    Refused(
        ("ml-explore/mlx#4258",),
        "padding beyond 32 bits",
        _counted((1, 1, 6, 6), (1, 1, 8, 8), SQUARE, stride=(3, 3), padding=(0, 0, 2**31 - 1, 0)),
        "padding_left",
    ),
    Refused(
        ("tillahoffmann/jax-mps@8d25a9d", "tillahoffmann/jax-mps@a73e3ba"),
        "no rows",
        lambda: weights_gradient(np.ones((2, 4, 1, 6), np.float32), _NO_ROWS, (4, 3, 3, 3)),
        "source",
    ),
    Refused(("tillahoffmann/jax-mps@66c3e41",), "result into an input's memory", _into_the_source, "out"),
    Refused(
        ("meta-pytorch/opacus#245",),
        "gradient larger than the kernel",
        _counted((1, 1, 2, 2), (1, 1, 6, 6), (1, 1, 5, 5), stride=(2, 2)),
        "output_shape|incoming_gradient|source",
    ),
]
