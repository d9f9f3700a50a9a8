"""Reports about pooling gradients and indices."""

import numpy as np
from support import counting

import mpsgraph_native as mg
from cases import Refused, Value


def window(kernel, stride=1, padding=0, **fields):
    """A square 2D window; each number may be a (Y, X) pair."""
    (height, width), (stride_y, stride_x), (pad_y, pad_x) = (
        np.broadcast_to(value, 2).tolist() for value in (kernel, stride, padding)
    )
    return mg.Pooling2DDescriptor(
        kernel_height=height,
        kernel_width=width,
        stride_in_y=stride_y,
        stride_in_x=stride_x,
        padding_top=pad_y,
        padding_bottom=pad_y,
        padding_left=pad_x,
        padding_right=pad_x,
        **fields,
    )


def maxima(channels, data_layout):
    """A 4x4 image whose 2x2 windows have their maxima at the flat positions 1, 7, 13 and 10; every channel alike."""
    image = np.zeros((4, 4), np.float32)
    image.ravel()[[1, 7, 13, 10]] = 5
    stacked = np.stack([image] * channels)
    return np.ascontiguousarray(stacked[None] if data_layout == "NCHW" else stacked.transpose(1, 2, 0)[None])


def _indices(mode, channels=1, data_layout="NHWC", prepare=np.asarray):
    """The indices of the last channel."""

    def call():
        descriptor = window(2, 2, data_layout=data_layout, return_indices_mode=mode)
        indices = mg.max_pooling_2d_return_indices(prepare(maxima(channels, data_layout)), descriptor=descriptor)[1]
        return indices[:, -1] if data_layout == "NCHW" else indices[..., -1]

    return call


def _channels_last_memory(array):
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def _unit_gradient(source, descriptor):
    """The max gradient of ones, from the source and from the indices of the forward call, which must agree."""

    def call():
        values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
        ones = np.ones_like(values)
        from_source = mg.max_pooling_2d_gradient(ones, source=source, descriptor=descriptor)
        from_indices = mg.max_pooling_2d_gradient(
            ones, indices=indices, output_shape=source.shape, descriptor=descriptor
        )
        np.testing.assert_array_equal(from_source, from_indices)
        return from_source

    return call


def _sparse(shape, **values):
    """Zeros but for value=[flat positions], for example one=[0, 2]."""
    result = np.zeros(shape)
    for word, positions in values.items():
        result.ravel()[positions] = {"one": 1, "four": 4}[word]
    return result


def _peak():
    source = counting(1, 1, 4, 6)
    source[0, 0, 1, 1] = 88
    return source


def _avg_gradient(incoming, source, descriptor):
    return mg.avg_pooling_2d_gradient(incoming, source=source, descriptor=descriptor)


def _channels_last_average():
    source = _channels_last_memory(np.ones((4, 3, 8, 8), np.float32))
    return _avg_gradient(np.ones((4, 3, 4, 4), np.float32), source, window(2, 2))


def _narrow_average():
    return _avg_gradient(
        np.ones((1, 3, 3, 3), np.float32), np.ones((1, 6, 6, 3), np.float32), window(2, 2, data_layout="NHWC")
    )


def _one_large_value():
    """The gradient outside the first window; a running sum would leave a remainder of 3e7."""
    incoming = np.zeros((1, 1, 1, 31), np.float32)
    incoming[..., 0] = 3e7
    gradient = _avg_gradient(incoming, np.zeros((1, 1, 1, 33), np.float32), window((1, 3)))
    np.testing.assert_array_equal(gradient[..., :3], 1e7)
    return gradient[..., 3:]


def _ceil_average(include_zero_pad):
    return lambda: mg.avg_pooling_2d(
        counting(1, 1, 3, 3), descriptor=window(2, 2, 1, ceil_mode=True, include_zero_pad_to_average=include_zero_pad)
    )


def _scattered():
    """Index 1 everywhere, inside the destination but outside most windows."""
    return mg.max_pooling_2d_gradient(
        counting(1, 1, 2, 2),
        indices=np.ones((1, 1, 2, 2), np.int32),
        output_shape=(1, 1, 4, 4),
        descriptor=window(3, 2, 1, return_indices_mode="GlobalFlatten2D"),
    )


FLAT_2D = {"return_indices_mode": "GlobalFlatten2D"}

# 5x5 data with maxima of 2x2 windows at the flat positions 0, 3, 10 and 13.
FIVE = np.array(
    [[3, 0, 0, 2, 3], [0, 0, 0, 0, 1], [0, 0, 0, 1, 3], [0, 0, 0, 0, 0], [1, 1, 3, 8, 6]], np.float32
).reshape(1, 1, 5, 5)  # fmt: skip

VALUES = [
    Value(
        ("tensorflow/tensorflow#126254",),
        "NHWC GlobalFlatten2D, one channel",
        _indices("GlobalFlatten2D"),
        [1, 3, 1, 2],
    ),
    Value(
        ("tensorflow/tensorflow#126254",),
        "NHWC GlobalFlatten2D, two channels",
        _indices("GlobalFlatten2D", 2),
        [3, 7, 3, 5],
    ),
    Value(
        ("tensorflow/tensorflow#126254",),
        "NHWC GlobalFlatten3D, one channel",
        _indices("GlobalFlatten3D"),
        [1, 7, 13, 10],
    ),
    Value(
        ("tensorflow/tensorflow#126254",),
        "NHWC GlobalFlatten3D, two channels",
        _indices("GlobalFlatten3D", 2),
        [3, 15, 27, 21],
    ),
    Value(
        ("tensorflow/tensorflow#126254",),
        "NCHW LocalFlatten2D",
        _indices("LocalFlatten2D", data_layout="NCHW"),
        [1, 3, 3, 0],
    ),
    Value(
        ("pytorch/pytorch Pooling.mm",),
        "indices of a strided view",
        _indices("GlobalFlatten2D", 2, "NCHW", _channels_last_memory),
        [1, 7, 13, 10],
    ),
    Value(
        ("pytorch/pytorch Pooling.mm",),
        "average with ceil_mode, padding counted",
        _ceil_average(True),
        [0.25, 1.25, 0, 2.75, 7, 0, 0, 0, 0],
    ),
    Value(
        ("pytorch/pytorch Pooling.mm",),
        "average with ceil_mode, taps counted",
        _ceil_average(False),
        [1, 2.5, 0, 5.5, 7, 0, 0, 0, 0],
    ),
    Value(
        ("pytorch/pytorch#122024",),
        "index outside its window",
        _scattered,
        lambda: np.eye(16)[1].reshape(1, 1, 4, 4) * 10,
    ),
    Value(
        ("FluxML/Flux.jl#1197", "torch/cunn#84"),
        "overlapping windows",
        _unit_gradient(_peak(), window(3, 2, 1, **FLAT_2D)),
        lambda: _sparse((1, 1, 4, 6), four=[7], one=[11, 23]),
    ),
    Value(
        ("FluxML/NNlib.jl#133",),
        "padded windows",
        lambda: mg.max_pooling_2d_gradient(
            counting(1, 1, 2, 2), source=counting(1, 1, 3, 3), descriptor=window(2, 2, 1)
        ),
        [[1, 0, 2], [0, 0, 0], [3, 0, 4]],
    ),
    Value(
        ("tensorflow/tensorflow#40122",),
        "gradient on the wrong cells",
        _unit_gradient(FIVE, window(2, 2, padding_style="TF_VALID", **FLAT_2D)),
        lambda: _sparse((1, 1, 5, 5), one=[0, 3, 10, 13]),
    ),
    Value(
        ("Theano/Theano#5404", "Theano/Theano#4761", "tillahoffmann/jax-mps@9eb5d35"),
        "ties",
        _unit_gradient(np.zeros((1, 1, 4, 4), np.float32), window(2, 2, **FLAT_2D)),
        lambda: _sparse((1, 1, 4, 4), one=[0, 2, 8, 10]),
    ),
    Value(
        ("pytorch/pytorch#175190",),
        "average over channels-last memory",
        _channels_last_average,
        lambda: np.full((4, 3, 8, 8), 0.25),
    ),
    Value(
        ("pytorch/pytorch#189233",),
        "average over rows of 72 bytes",
        _narrow_average,
        lambda: np.full((1, 6, 6, 3), 0.25),
    ),
    Value(
        ("pytorch/pytorch#179936", "pytorch/pytorch#179608"),
        "average leaks into later windows",
        _one_large_value,
        lambda: np.zeros((1, 1, 1, 30)),
    ),
]


def _gradient(incoming, indices, shape, descriptor):
    return lambda: mg.max_pooling_2d_gradient(
        np.ones(incoming, np.float32), indices=indices, output_shape=shape, descriptor=descriptor()
    )


def _spoilt(bad):
    """Indices of 2x2 windows on (2, 3, 3, 1) NHWC data, one of them replaced."""
    indices = np.zeros((2, 2, 2, 1), np.int32)
    indices[1, 0, 1, 0] = bad
    return _gradient(
        (2, 2, 2, 1),
        indices,
        (2, 3, 3, 1),
        lambda: window(2, data_layout="NHWC", return_indices_mode="GlobalFlatten3D"),
    )


_RANDOM_INDICES = np.random.default_rng(46).integers(-256, 257, (2, 2, 2, 1)).astype(np.int32)
_FIRST_BAD = next(int(i) for i in _RANDOM_INDICES.ravel() if not 0 <= i < 9)


def _forward(**fields):
    return lambda: mg.max_pooling_2d(np.ones((1, 1, 4, 4), np.float32), descriptor=window(**{"kernel": 2, **fields}))


REFUSED = [
    *[
        Refused(
            ("tensorflow/tensorflow#126254",),
            f"NHWC {mode} cannot name the row",
            _gradient(
                (1, 2, 2, 1),
                np.zeros((1, 2, 2, 1), np.int32),
                (1, 4, 4, 1),
                lambda mode=mode: window(2, 2, data_layout="NHWC", return_indices_mode=mode),
            ),
            "return_indices_mode",
        )
        for mode in ("GlobalFlatten2D", "LocalFlatten2D", "GlobalFlatten1D")
    ],
    Refused(
        ("pytorch/pytorch#154882", "pytorch/pytorch#57178"),
        "ceil_mode gives 3x4, not the clipped 2x3",
        lambda: mg.max_pooling_2d_gradient(
            np.ones((1, 1, 2, 3), np.float32), source=counting(1, 1, 4, 6), descriptor=window(1, 2, ceil_mode=True)
        ),
        "gradient",
        words=(r"1, ?1, ?3, ?4",),
    ),
    Refused(
        ("tensorflow/tensorflow#61653", "pytorch/pytorch#131659"),
        "random indices",
        _gradient(
            (2, 2, 2, 1),
            _RANDOM_INDICES,
            (2, 3, 3, 1),
            lambda: window(2, data_layout="NHWC", return_indices_mode="GlobalFlatten3D"),
        ),
        "indices",
        words=(str(_FIRST_BAD),),
    ),
    Refused(("tensorflow/tensorflow#61653",), "index -1", _spoilt(-1), "indices", words=("-1",)),
    Refused(("tensorflow/tensorflow#61653",), "index H W", _spoilt(9), "indices", words=("9",)),
    Refused(
        ("ooples/AiDotNet.Tensors#527",),
        "indices passed as floats",
        _gradient((1, 1, 1, 1), np.full((1, 1, 1, 1), 5, np.float32), (1, 1, 3, 3), lambda: window(3, **FLAT_2D)),
        "indices",
        error=TypeError,
    ),
    Refused(
        ("intel/torch-xpu-ops#3940",),
        "2**31 + 8 elements with the channels last: no offset of a vector can wrap",
        lambda: mg.max_pooling_2d(
            np.broadcast_to(np.float32(1), (8, 17, 15790321, 1)), descriptor=window(2, data_layout="NHWC")
        ),
        "source",
        words=(r"2\*\*31",),
    ),
    Refused(
        ("pytorch/pytorch#99238",),
        "padding of a whole kernel",
        _forward(padding=2),
        "padding_left|padding_right|padding_top|padding_bottom",
    ),
    Refused(("pytorch/pytorch#99238",), "stride 0", _forward(stride=0), "stride_in_x|stride_in_y"),
    Refused(("pytorch/pytorch#99238",), "kernel 0", _forward(kernel=0), "kernel_width|kernel_height"),
    Refused(("pytorch/pytorch#99238",), "dilation 0", _forward(dilation_rate_in_x=0), "dilation_rate_in_x"),
]
