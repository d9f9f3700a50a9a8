"""2D convolution, its data gradient and its weights gradient against naive float64 loops."""

import pytest
from support import CONVOLUTIONS, LAYOUTS, Convolution, check_convolution, dtypes, seeded


def _paddings(left=0, right=0, top=0, bottom=0):
    return {"padding_left": left, "padding_right": right, "padding_top": top, "padding_bottom": bottom}


SWEEP = {
    "plain": Convolution(2, 3, 4, (7, 6), (3, 3)),
    "one_pixel": Convolution(3, 2, 5, (1, 1), (1, 1)),
    "pointwise": Convolution(2, 5, 7, (4, 5), (1, 1)),
    "pointwise_strided": Convolution(2, 5, 7, (5, 8), (1, 1), {"stride_in_y": 2, "stride_in_x": 3}),
    "stride_y2_x1": Convolution(2, 3, 4, (9, 6), (3, 3), {"stride_in_y": 2}),
    "stride_y1_x3": Convolution(1, 3, 4, (6, 11), (3, 3), {"stride_in_x": 3}),
    "stride_beyond_kernel": Convolution(2, 3, 2, (11, 13), (2, 3), {"stride_in_y": 4, "stride_in_x": 5}),
    "stride_leaves_a_tail": Convolution(2, 3, 4, (8, 9), (3, 2), {"stride_in_y": 3, "stride_in_x": 4}),
    "dilation_y2_x3": Convolution(2, 3, 4, (9, 11), (3, 3), {"dilation_rate_in_y": 2, "dilation_rate_in_x": 3}),
    "stride_dilation_padding": Convolution(
        2,
        3,
        4,
        (10, 9),
        (3, 2),
        {"stride_in_y": 2, "stride_in_x": 3, "dilation_rate_in_y": 3, "dilation_rate_in_x": 2, **_paddings(2, 1, 3, 2)},
    ),
    "padding_symmetric": Convolution(2, 3, 4, (6, 7), (3, 3), _paddings(1, 1, 1, 1)),
    "padding_asymmetric": Convolution(2, 3, 4, (6, 7), (3, 4), _paddings(1, 2, 0, 3)),
    "padding_beyond_kernel": Convolution(1, 2, 3, (4, 5), (2, 3), _paddings(4, 3, 2, 5)),
    "padding_before_only": Convolution(2, 3, 4, (6, 7), (3, 3), _paddings(left=2, top=1)),
    "padding_after_only": Convolution(2, 3, 4, (6, 7), (3, 3), _paddings(right=1, bottom=2)),
    "valid_strided": Convolution(
        2, 3, 4, (8, 10), (3, 3), {"padding_style": "TF_VALID", "stride_in_y": 2, "stride_in_x": 3}
    ),
    "valid_dilated": Convolution(2, 3, 4, (9, 8), (3, 3), {"padding_style": "TF_VALID", "dilation_rate_in_y": 3}),
    "same": Convolution(2, 3, 4, (7, 6), (3, 3), {"padding_style": "TF_SAME"}),
    "same_even_kernel": Convolution(2, 3, 4, (7, 6), (2, 4), {"padding_style": "TF_SAME"}),
    "same_strided": Convolution(
        2, 3, 4, (8, 11), (3, 4), {"padding_style": "TF_SAME", "stride_in_y": 2, "stride_in_x": 3}
    ),
    "same_dilated": Convolution(
        2, 3, 4, (7, 9), (2, 3), {"padding_style": "TF_SAME", "dilation_rate_in_y": 3, "dilation_rate_in_x": 2}
    ),
    "same_stride_beyond_kernel": Convolution(
        2, 3, 4, (9, 10), (2, 2), {"padding_style": "TF_SAME", "stride_in_y": 4, "stride_in_x": 3}
    ),
    "same_ignores_paddings": Convolution(
        2, 3, 4, (7, 6), (3, 3), {"padding_style": "TF_SAME", **_paddings(5, 4, 3, 2)}
    ),
    "same_lower_even_kernel": Convolution(2, 3, 4, (7, 6), (2, 4), {"padding_style": "ONNX_SAME_LOWER"}),
    "same_lower_strided": Convolution(
        2, 3, 4, (8, 11), (3, 4), {"padding_style": "ONNX_SAME_LOWER", "stride_in_y": 2, "stride_in_x": 3}
    ),
    "kernel_covers_image": Convolution(3, 4, 5, (5, 4), (5, 4)),
    "kernel_beyond_image": Convolution(2, 3, 4, (3, 2), (5, 5), _paddings(2, 2, 2, 2)),
    "row_kernel": Convolution(2, 3, 4, (1, 37), (1, 7), {"stride_in_x": 2, **_paddings(left=3, right=3)}),
    "column_kernel": Convolution(2, 3, 4, (37, 1), (9, 1), _paddings(top=4, bottom=4)),
    "groups_2": Convolution(2, 4, 6, (6, 7), (3, 3), {"groups": 2}),
    "groups_3_uneven_vectors": Convolution(2, 15, 21, (5, 6), (3, 2), {"groups": 3, **_paddings(1, 1, 1, 1)}),
    "groups_channels": Convolution(2, 6, 6, (7, 8), (3, 3), {"groups": 6, "stride_in_y": 2, **_paddings(1, 1, 1, 1)}),
    "groups_channels_widening": Convolution(2, 5, 15, (6, 5), (3, 3), {"groups": 5, "padding_style": "TF_SAME"}),
    "groups_narrowing": Convolution(2, 12, 4, (6, 5), (2, 2), {"groups": 4, "dilation_rate_in_x": 2}),
    "groups_pointwise": Convolution(3, 34, 51, (3, 4), (1, 1), {"groups": 17}),
    "one_channel_in": Convolution(3, 1, 9, (8, 8), (3, 3), {"padding_style": "TF_SAME"}),
    "one_channel_out": Convolution(3, 9, 1, (8, 8), (3, 3), {"padding_style": "TF_SAME"}),
}

# Sizes chosen to leave remainders in every direction an engine may block: channels by vectors, pixels, the batch.
LARGE = {
    "wide": Convolution(5, 40, 70, (24, 25), (3, 3), _paddings(1, 1, 1, 1)),
    "winograd_tail": Convolution(2, 33, 65, (13, 15), (3, 3), _paddings(0, 2, 1, 1)),
    "winograd_small_image": Convolution(3, 64, 48, (3, 5), (3, 3), {"padding_style": "TF_SAME"}),
    "deep_pointwise": Convolution(2, 400, 70, (9, 9), (1, 1)),
    "stem": Convolution(2, 3, 64, (31, 30), (7, 7), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(3, 3, 3, 3)}),
    "stem_stride_3": Convolution(
        2, 3, 40, (64, 75), (7, 6), {"stride_in_y": 3, "stride_in_x": 3, **_paddings(2, 4, 1, 3)}
    ),
    "stem_dilated": Convolution(
        3,
        2,
        24,
        (70, 66),
        (5, 4),
        {"stride_in_y": 2, "stride_in_x": 2, "dilation_rate_in_x": 3, **_paddings(5, 2, 2, 0)},
    ),
    "strided_wide": Convolution(
        3, 37, 41, (17, 19), (3, 3), {"stride_in_y": 2, "stride_in_x": 2, **_paddings(1, 1, 1, 1)}
    ),
    "grouped_wide": Convolution(2, 72, 36, (14, 13), (3, 3), {"groups": 4, **_paddings(1, 1, 1, 1)}),
    "many_images": Convolution(67, 3, 5, (6, 7), (3, 3), _paddings(1, 1, 1, 1)),
    "wide_pointwise": Convolution(2, 64, 64, (3, 130), (1, 1)),
    "pointwise_row": Convolution(3, 16, 64, (1, 60), (1, 1)),
    "pointwise_across_images": Convolution(5, 40, 70, (8, 14), (1, 1)),
    "pointwise_in_parts": Convolution(3, 1300, 50, (8, 14), (1, 1)),
    "pointwise_groups_across_images": Convolution(3, 60, 90, (5, 16), (1, 1), {"groups": 3}),
    "pointwise_small_images": Convolution(40, 30, 21, (3, 3), (1, 1)),
    "pointwise_whole_planes": Convolution(3, 100, 70, (14, 14), (1, 1)),
    "pointwise_whole_planes_of_groups": Convolution(2, 180, 150, (12, 13), (1, 1), {"groups": 2}),
    "strided_pointwise": Convolution(2, 48, 64, (21, 23), (1, 1), {"stride_in_y": 2, "stride_in_x": 2}),
    "large_planes": Convolution(2, 150, 20, (40, 41), (5, 5), _paddings(2, 2, 2, 2)),
    "few_outputs": Convolution(2, 37, 3, (40, 50), (3, 3), _paddings(1, 1, 1, 1)),
    "few_of_a_group": Convolution(2, 24, 8, (33, 40), (3, 5), {"groups": 4, **_paddings(2, 2, 1, 1)}),
    "long_row": Convolution(1, 2, 3, (1, 2100), (1, 5), _paddings(left=2, right=2)),
    "dilated_wide": Convolution(
        2, 35, 33, (16, 15), (3, 3), {"dilation_rate_in_y": 2, "dilation_rate_in_x": 2, "padding_style": "TF_SAME"}
    ),
}


def _random_convolution(number):
    """Any combination the descriptor can express, small."""
    rng = seeded("convolution", number)
    groups = int(rng.choice([1, 1, 1, 2, 3, 5]))
    kernel = tuple(int(k) for k in rng.integers(1, 5, 2))
    stride = rng.integers(1, 4, 2)
    dilation = rng.integers(1, 4, 2)
    extents = [(k - 1) * int(d) + 1 for k, d in zip(kernel, dilation, strict=True)]
    image = tuple(int(extent + rng.integers(0, 8)) for extent in extents)
    fields = {
        "groups": groups,
        "stride_in_y": int(stride[0]),
        "stride_in_x": int(stride[1]),
        "dilation_rate_in_y": int(dilation[0]),
        "dilation_rate_in_x": int(dilation[1]),
        "padding_style": str(rng.choice(["Explicit", "Explicit", "TF_VALID", "TF_SAME", "ONNX_SAME_LOWER"])),
        **_paddings(*map(int, rng.integers(0, 4, 4))),
    }
    inputs, outputs = (groups * int(n) for n in rng.integers(1, 20, 2))
    return Convolution(int(rng.integers(1, 4)), inputs, outputs, image, kernel, fields)


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize("name", SWEEP)
def test_every_layout(name, data_layout, weights_layout, operation):
    check_convolution(operation, **SWEEP[name].problem(operation, "float32", data_layout, weights_layout))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("dtype_name", dtypes("float64", "float16", "bfloat16"))
@pytest.mark.parametrize("name", SWEEP)
def test_every_dtype(name, dtype_name, operation):
    layouts = LAYOUTS[list(SWEEP).index(name) % len(LAYOUTS)]
    check_convolution(operation, **SWEEP[name].problem(operation, dtype_name, *layouts))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize("name", LARGE)
def test_block_boundaries(name, data_layout, weights_layout, operation):
    check_convolution(operation, **LARGE[name].problem(operation, "float32", data_layout, weights_layout))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("dtype_name", dtypes("float64", "float16", "bfloat16"))
@pytest.mark.parametrize(
    "name", ["wide", "strided_wide", "grouped_wide", "stem", "few_outputs", "pointwise_groups_across_images"]
)
@pytest.mark.parametrize(("data_layout", "weights_layout"), [("NCHW", "OIHW"), ("NHWC", "HWIO")])
def test_block_boundaries_of_other_dtypes(name, data_layout, weights_layout, dtype_name, operation):
    check_convolution(operation, **LARGE[name].problem(operation, dtype_name, data_layout, weights_layout))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("number", range(48))
def test_random_combinations(number, operation):
    convolution = _random_convolution(number)
    names = dtypes("float32", "float32", "float64", "bfloat16")
    dtype_name = names[number // 4 % len(names)]
    check_convolution(operation, **convolution.problem(operation, dtype_name, *LAYOUTS[number % 4], seed=number))
