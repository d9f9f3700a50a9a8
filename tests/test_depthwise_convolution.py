"""Depthwise 2D convolution and its gradients against naive float64 loops; output channel c M + m."""

import numpy as np
import pytest
from support import DEPTHWISE_CONVOLUTIONS, LAYOUTS, Convolution, check_convolution, dtypes, seeded

import mpsgraph_native as mg


def _paddings(left=0, right=0, top=0, bottom=0):
    return {"padding_left": left, "padding_right": right, "padding_top": top, "padding_bottom": bottom}


# The third number is the channel multiplier.
SWEEP = {
    "plain": Convolution(2, 3, 1, (7, 6), (3, 3)),
    "multiplier_2": Convolution(2, 3, 2, (6, 7), (3, 3)),
    "multiplier_3_padded": Convolution(2, 5, 3, (6, 7), (3, 2), _paddings(1, 2, 0, 3)),
    "one_channel_multiplier_5": Convolution(3, 1, 5, (5, 5), (2, 2)),
    "one_pixel": Convolution(2, 3, 2, (1, 1), (1, 1)),
    "pointwise_strided": Convolution(2, 4, 2, (5, 8), (1, 1), {"stride_in_y": 2, "stride_in_x": 3}),
    "stride_y2_x1": Convolution(2, 4, 1, (9, 6), (3, 3), {"stride_in_y": 2, **_paddings(1, 1, 1, 1)}),
    "stride_y1_x3": Convolution(2, 4, 2, (6, 11), (3, 3), {"stride_in_x": 3}),
    "stride_beyond_kernel": Convolution(2, 3, 1, (11, 13), (2, 3), {"stride_in_y": 4, "stride_in_x": 5}),
    "dilation_y2_x3": Convolution(2, 3, 2, (9, 11), (3, 3), {"dilation_rate_in_y": 2, "dilation_rate_in_x": 3}),
    "stride_dilation_padding": Convolution(
        2,
        3,
        2,
        (10, 9),
        (3, 2),
        {"stride_in_y": 2, "stride_in_x": 3, "dilation_rate_in_y": 3, "dilation_rate_in_x": 2, **_paddings(2, 1, 3, 2)},
    ),
    "padding_beyond_kernel": Convolution(1, 2, 1, (4, 5), (2, 3), _paddings(4, 3, 2, 5)),
    "valid_strided": Convolution(
        2, 3, 1, (8, 10), (3, 3), {"padding_style": "TF_VALID", "stride_in_y": 2, "stride_in_x": 3}
    ),
    "same_even_kernel": Convolution(2, 3, 1, (7, 6), (2, 4), {"padding_style": "TF_SAME"}),
    "same_strided": Convolution(
        2, 3, 2, (8, 11), (3, 4), {"padding_style": "TF_SAME", "stride_in_y": 2, "stride_in_x": 3}
    ),
    "same_dilated": Convolution(2, 3, 1, (7, 9), (2, 3), {"padding_style": "TF_SAME", "dilation_rate_in_y": 3}),
    "same_lower_even_kernel": Convolution(2, 3, 2, (7, 6), (2, 4), {"padding_style": "ONNX_SAME_LOWER"}),
    "same_lower_strided": Convolution(
        2, 3, 1, (8, 11), (3, 4), {"padding_style": "ONNX_SAME_LOWER", "stride_in_y": 2, "stride_in_x": 3}
    ),
    "kernel_covers_image": Convolution(3, 4, 2, (5, 4), (5, 4)),
    "kernel_beyond_image": Convolution(2, 3, 1, (3, 2), (5, 5), _paddings(2, 2, 2, 2)),
    "row_kernel": Convolution(2, 3, 1, (1, 37), (1, 7), _paddings(left=3, right=3)),
    "column_kernel": Convolution(2, 3, 2, (37, 1), (9, 1), _paddings(top=4, bottom=4)),
    "vector_tail": Convolution(2, 19, 1, (9, 21), (3, 3), _paddings(1, 1, 1, 1)),
    "vector_tail_multiplier": Convolution(
        2, 19, 2, (9, 9), (3, 3), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(1, 1, 1, 1)}
    ),
    "wide": Convolution(5, 70, 1, (24, 25), (3, 3), _paddings(1, 1, 1, 1)),
    "wide_strided": Convolution(
        2, 33, 1, (7, 83), (3, 3), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(1, 1, 1, 1)}
    ),
    "wide_strided_kernel_5": Convolution(1, 16, 2, (10, 79), (5, 5), {"stride_in_x": 2, **_paddings(2, 1, 2, 2)}),
    "wide_rows_apart": Convolution(1, 20, 1, (13, 50), (3, 5), {"dilation_rate_in_y": 2, **_paddings(2, 2, 2, 2)}),
    "padding_beyond_vector": Convolution(1, 3, 1, (5, 40), (3, 3), _paddings(37, 50, 1, 1)),
    "tall_kernel": Convolution(2, 17, 1, (21, 9), (13, 3), _paddings(1, 1, 6, 6)),
    "kernel_7": Convolution(2, 35, 1, (14, 15), (7, 7), _paddings(3, 3, 3, 3)),
    "many_images": Convolution(67, 3, 2, (5, 6), (3, 3), {"padding_style": "TF_SAME"}),
    "long_row": Convolution(1, 2, 2, (1, 2100), (1, 5), _paddings(left=2, right=2)),
    # Rows that are taken several at a time: groups that end early, every step and stride, taps along the row in number.
    "rows_left_over": Convolution(1, 2, 1, (19, 37), (3, 3), _paddings(2, 0, 0, 2)),
    "row_dilated": Convolution(1, 2, 2, (11, 60), (3, 5), {"dilation_rate_in_x": 4, **_paddings(9, 3, 1, 1)}),
    "most_taps_of_a_strip": Convolution(1, 2, 1, (9, 50), (3, 16), _paddings(8, 7, 1, 1)),
    "more_taps_than_a_strip": Convolution(1, 2, 1, (9, 50), (3, 17), _paddings(8, 8, 1, 1)),
    "strided_kernel_7": Convolution(
        1, 2, 2, (23, 75), (7, 7), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(3, 2, 2, 3)}
    ),
    "strided_kernel_5": Convolution(
        1, 2, 1, (18, 70), (5, 5), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(2, 2, 1, 3)}
    ),
    "strided_even_kernel": Convolution(
        1, 2, 2, (13, 68), (4, 4), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(1, 2, 2, 1)}
    ),
    "strided_row_kernel": Convolution(
        1, 2, 1, (12, 66), (1, 4), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(0, 3, 0, 0)}
    ),
    "strided_row_alone": Convolution(1, 2, 1, (11, 77), (3, 3), {"stride_in_x": 2, **_paddings(1, 1, 1, 1)}),
    "strided_column_alone": Convolution(1, 2, 1, (21, 41), (3, 3), {"stride_in_y": 2, **_paddings(1, 1, 0, 1)}),
    "beyond_caches": Convolution(1, 5, 1, (130, 270), (3, 3), _paddings(1, 1, 1, 1)),
    "beyond_caches_strided": Convolution(
        1, 5, 1, (150, 271), (3, 3), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(1, 1, 1, 1)}
    ),
}


def _random_convolution(number):
    """Any combination the descriptor can express, small."""
    rng = seeded("depthwise", number)
    kernel = tuple(int(k) for k in rng.integers(1, 6, 2))
    stride, dilation = rng.integers(1, 4, 2), rng.integers(1, 4, 2)
    image = tuple(int((k - 1) * d + 1 + rng.integers(0, 9)) for k, d in zip(kernel, dilation, strict=True))
    fields = {
        "stride_in_y": int(stride[0]),
        "stride_in_x": int(stride[1]),
        "dilation_rate_in_y": int(dilation[0]),
        "dilation_rate_in_x": int(dilation[1]),
        "padding_style": str(rng.choice(["Explicit", "Explicit", "TF_VALID", "TF_SAME", "ONNX_SAME_LOWER"])),
        **_paddings(*map(int, rng.integers(0, 4, 4))),
    }
    batch, channels, multiplier = (int(rng.integers(1, limit)) for limit in (4, 24, 4))
    return Convolution(batch, channels, multiplier, image, kernel, fields)


@pytest.mark.parametrize("operation", DEPTHWISE_CONVOLUTIONS)
@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize("name", SWEEP)
def test_every_layout(name, data_layout, weights_layout, operation):
    check_convolution(operation, **SWEEP[name].problem(operation, "float32", data_layout, weights_layout))


@pytest.mark.parametrize("operation", DEPTHWISE_CONVOLUTIONS)
@pytest.mark.parametrize("dtype_name", dtypes("float64", "float16", "bfloat16"))
@pytest.mark.parametrize("name", SWEEP)
def test_every_dtype(name, dtype_name, operation):
    layouts = LAYOUTS[list(SWEEP).index(name) % len(LAYOUTS)]
    check_convolution(operation, **SWEEP[name].problem(operation, dtype_name, *layouts))


@pytest.mark.parametrize("operation", DEPTHWISE_CONVOLUTIONS)
@pytest.mark.parametrize("number", range(40))
def test_random_combinations(number, operation):
    convolution = _random_convolution(number)
    names = dtypes("float32", "float32", "float64", "float16")
    dtype_name = names[number // 4 % len(names)]
    check_convolution(operation, **convolution.problem(operation, dtype_name, *LAYOUTS[number % 4], seed=number))


@pytest.mark.parametrize(("weights_layout", "weights_shape"), [("OIHW", (3, 2, 1, 1)), ("HWIO", (1, 1, 2, 3))])
def test_results_of_one_input_channel_are_adjacent(weights_layout, weights_shape):
    """Pixel 1 in channel 0, 10 in channel 1; weights m + 1: the result reads 1 2 3 10 20 30."""
    source = np.array([1, 10], dtype=np.float32).reshape(1, 2, 1, 1)
    multiples = np.arange(1, 4, dtype=np.float32)
    weights = np.broadcast_to(
        multiples.reshape((3, 1, 1, 1) if weights_layout == "OIHW" else (1, 1, 1, 3)), weights_shape
    )
    descriptor = mg.DepthwiseConvolution2DDescriptor(weights_layout=weights_layout)
    result = mg.depthwise_convolution_2d(source, weights, descriptor=descriptor)
    np.testing.assert_array_equal(result.ravel(), [1, 2, 3, 10, 20, 30])


@pytest.mark.parametrize("operation", DEPTHWISE_CONVOLUTIONS)
@pytest.mark.parametrize("data_layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("stride", "kernel"), [(1, 3), (2, 3), (1, 7), (2, 5)])
@pytest.mark.parametrize("place", [(0, 0), (4, 17), (10, 36)])
def test_an_infinity_goes_no_further_than_its_windows(place, stride, kernel, data_layout, operation):
    """Neither through lanes that do not count, nor through rows that a group computes beyond the last one."""
    rows, columns, padding = 11, 37, kernel // 2
    descriptor = mg.DepthwiseConvolution2DDescriptor(
        data_layout=data_layout, stride_in_x=stride, stride_in_y=stride, padding_left=padding, padding_right=padding,
        padding_top=padding, padding_bottom=padding,
    )  # fmt: skip

    def in_layout(array):
        return array if data_layout == "NCHW" else np.ascontiguousarray(array.transpose(0, 2, 3, 1))

    source = np.ones((1, 3, rows, columns), np.float32)
    weights = np.ones((1, 3, kernel, kernel), np.float32)
    incoming = np.ones((1, 3, (rows - 1) // stride + 1, (columns - 1) // stride + 1), np.float32)
    if operation == "depthwise_convolution_2d_data_gradient":
        changed = incoming
        place = tuple(at // stride for at in place)
    else:
        changed = source

    def run(value):
        changed[:] = 0 if value == 1 else 1
        changed[0, 1, *place] = value
        if operation == "depthwise_convolution_2d":
            return mg.depthwise_convolution_2d(in_layout(source), weights, descriptor=descriptor)
        operands = (weights,) if "data" in operation else (in_layout(source),)
        shape = in_layout(source).shape if "data" in operation else weights.shape
        return getattr(mg, operation)(in_layout(incoming), *operands, output_shape=shape, descriptor=descriptor)

    reached = run(1) != 0
    assert reached.any() and not reached.all()
    given = run(np.inf)
    np.testing.assert_array_equal(np.isinf(given), reached)
    assert not np.isnan(given).any()
