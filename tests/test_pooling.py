"""Max, average and L2-norm pooling, and the indices of maxima, against naive loops."""

import numpy as np
import pytest
from support import (
    FLOAT_DTYPES,
    INDEX_MODES,
    POOLINGS,
    assert_close,
    assert_same_bits,
    dtypes,
    pooling_descriptor,
    pooling_operation,
    pooling_source,
)

import mpsgraph_native as mg
from mpsgraph_native.verify.reference import pooling as reference_pooling

FOUR_D = [name for name, (_, fields) in POOLINGS.items() if "kernel_sizes" in fields]


def _window(**fields):
    return mg.Pooling2DDescriptor(**{"kernel_width": 2, "kernel_height": 2, **fields})


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("kind", ["normal", "ties", "special"])
@pytest.mark.parametrize("name", POOLINGS)
def test_max(name, kind, dtype_name):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, kind, dtype_name), pooling_descriptor(fields)
    result = pooling_operation(("max", ""), descriptor)(source, descriptor=descriptor)
    expected, _ = reference_pooling.max_pooling(source, descriptor)
    assert result.dtype == source.dtype
    np.testing.assert_array_equal(result.astype(np.float64), expected)


@pytest.mark.parametrize("kind", ["normal", "ties", "special"])
@pytest.mark.parametrize("mode", INDEX_MODES)
@pytest.mark.parametrize("name", POOLINGS)
def test_max_return_indices(name, mode, kind):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, kind), pooling_descriptor(fields, return_indices_mode=mode)
    values, indices = pooling_operation(("max", "_return_indices"), descriptor)(source, descriptor=descriptor)
    expected_values, expected_indices = reference_pooling.max_pooling(source, descriptor)
    assert indices.dtype == np.int32 and indices.flags.c_contiguous
    np.testing.assert_array_equal(values, expected_values.astype(np.float32))
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize("dtype_name", dtypes("float64", "float16", "bfloat16"))
@pytest.mark.parametrize("name", POOLINGS)
def test_indices_of_every_dtype(name, dtype_name):
    shape, fields = POOLINGS[name]
    source, descriptor = (
        pooling_source(shape, "special", dtype_name),
        pooling_descriptor(fields, return_indices_mode="GlobalFlatten4D"),
    )
    values, indices = pooling_operation(("max", "_return_indices"), descriptor)(source, descriptor=descriptor)
    expected_values, expected_indices = reference_pooling.max_pooling(source, descriptor)
    assert values.dtype == source.dtype
    np.testing.assert_array_equal(values.astype(np.float64), expected_values)
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("include_zero_pad", [False, True], ids=["inside", "whole"])
@pytest.mark.parametrize("name", POOLINGS)
def test_avg(name, include_zero_pad, dtype_name):
    shape, fields = POOLINGS[name]
    source, descriptor = (
        pooling_source(shape, "normal", dtype_name),
        pooling_descriptor(fields, include_zero_pad_to_average=include_zero_pad),
    )
    result = pooling_operation(("avg", ""), descriptor)(source, descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge("avg", source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype=dtype_name)


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("name", FOUR_D)
def test_l2_norm(name, dtype_name):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, "normal", dtype_name), pooling_descriptor(fields)
    result = mg.l2_norm_pooling_4d(source, descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge("l2_norm", source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype=dtype_name)


def test_l2_norm_is_not_divided_by_the_window():
    source = np.array([[3.0, 4.0]], np.float32).reshape(1, 1, 1, 2)
    descriptor = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 1, 2))
    np.testing.assert_array_equal(
        mg.l2_norm_pooling_4d(source, descriptor=descriptor), np.float32(5).reshape(1, 1, 1, 1)
    )


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
def test_windows_without_a_tap(dtype_name):
    """ceil_mode gives MPSGraph's size: 3x4 windows on 4x6 pixels, the last row and column of them outside."""
    source = pooling_source((1, 1, 4, 6), "normal", dtype_name)
    fields = {"kernel_width": 1, "kernel_height": 1, "stride_in_x": 2, "stride_in_y": 2, "ceil_mode": True}
    outside = np.zeros((1, 1, 3, 4), bool)
    outside[..., 2, :] = outside[..., 3] = True
    descriptor = mg.Pooling2DDescriptor(**fields, return_indices_mode="GlobalFlatten2D")
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    assert np.isneginf(values[outside].astype(np.float64)).all() and (indices[outside] == -1).all()
    assert np.isfinite(values[~outside].astype(np.float64)).all() and (indices[~outside] >= 0).all()
    for include in (False, True):
        averages = mg.avg_pooling_2d(
            source, descriptor=mg.Pooling2DDescriptor(**fields, include_zero_pad_to_average=include)
        )
        assert (averages[outside] == 0).all()


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("data_layout", ["NCHW", "NHWC"])
def test_first_nan_wins(data_layout, dtype_name):
    window = np.array([np.inf, np.nan, 5.0, np.nan]).astype(pooling_source((1,), "ties", dtype_name).dtype)
    source = window.reshape((1, 1, 2, 2) if data_layout == "NCHW" else (1, 2, 2, 1))
    descriptor = _window(data_layout=data_layout, return_indices_mode="LocalFlatten4D")
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    assert np.isnan(values.astype(np.float64)).all() and indices.item() == 1


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("data_layout", ["NCHW", "NHWC"])
def test_all_minus_infinity_is_a_maximum_like_any_other(data_layout, dtype_name):
    source = np.full((1, 4, 4, 4), -np.inf).astype(pooling_source((1,), "ties", dtype_name).dtype)
    descriptor = _window(stride_in_x=2, stride_in_y=2, data_layout=data_layout, return_indices_mode="LocalFlatten4D")
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    assert np.isneginf(values.astype(np.float64)).all() and not indices.any()


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("data_layout", ["NCHW", "NHWC"])
def test_zeros_of_either_sign_tie(data_layout, dtype_name):
    """The first zero of the window wins with its own sign, so values and indices agree bit for bit."""
    rng = np.random.default_rng(5)
    shape = (2, 3, 8, 9) if data_layout == "NCHW" else (2, 8, 9, 19)
    source = np.where(rng.random(shape) < 0.5, -0.0, 0.0).astype(pooling_source((1,), "ties", dtype_name).dtype)
    descriptor = _window(stride_in_y=2, data_layout=data_layout, return_indices_mode="GlobalFlatten4D")
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    np.testing.assert_array_equal(indices, reference_pooling.max_pooling(source, descriptor)[1])
    assert_same_bits(values, source.ravel()[indices])
    assert_same_bits(mg.max_pooling_2d(source, descriptor=descriptor), values)


def test_padding_never_wins():
    source = np.full((1, 2, 3, 3), -5, np.float32)
    fields = {
        "kernel_height": 3,
        "kernel_width": 3,
        "padding_left": 1,
        "padding_right": 1,
        "padding_top": 1,
        "padding_bottom": 1,
    }
    assert (mg.max_pooling_2d(source, descriptor=mg.Pooling2DDescriptor(**fields)) == -5).all()


@pytest.mark.parametrize("data_layout", ["NCHW", "NHWC"])
def test_2d_equals_4d(data_layout):
    """The 2D operation is the 4D one with kernel 1 over batch and channels."""
    source = pooling_source((2, 6, 7, 5), "normal")
    image = slice(2, 4) if data_layout == "NCHW" else slice(1, 3)
    kernel, strides = [1] * 4, [1] * 4
    kernel[image], strides[image] = (3, 2), (2, 1)
    two = mg.Pooling2DDescriptor(kernel_height=3, kernel_width=2, stride_in_y=2, data_layout=data_layout)
    four = mg.Pooling4DDescriptor(kernel_sizes=kernel, strides=strides)
    assert_same_bits(mg.max_pooling_2d(source, descriptor=two), mg.max_pooling_4d(source, descriptor=four))
    assert_same_bits(mg.avg_pooling_2d(source, descriptor=two), mg.avg_pooling_4d(source, descriptor=four))


def test_half_sums_are_float32():
    """4096 ones: a running float16 sum stops at 2048, a bfloat16 one at 256."""
    for dtype_name in ("float16", "bfloat16"):
        source = np.ones((1, 1, 64, 64), pooling_source((1,), "ties", dtype_name).dtype)
        descriptor = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 64, 64))
        assert mg.avg_pooling_4d(source, descriptor=descriptor).item() == 1
        assert mg.l2_norm_pooling_4d(source, descriptor=descriptor).item() == 64


@pytest.mark.parametrize("operation", ["max_pooling_2d", "avg_pooling_2d"])
def test_out(operation):
    source, descriptor = pooling_source((2, 3, 6, 7), "normal"), _window(stride_in_x=2)
    expected = getattr(mg, operation)(source, descriptor=descriptor)
    out = np.full_like(expected, 7)
    assert getattr(mg, operation)(source, descriptor=descriptor, out=out) is out
    assert_same_bits(out, expected)
    frame = np.full((2, 3, *(2 * size for size in expected.shape[2:])), 7, np.float32)
    getattr(mg, operation)(source, descriptor=descriptor, out=frame[:, :, ::2, ::-2])
    assert_same_bits(frame[:, :, ::2, ::-2], expected)
    assert (frame[:, :, 1::2] == 7).all()


def test_out_of_two_results():
    source, descriptor = pooling_source((2, 3, 6, 7), "normal"), _window(return_indices_mode="GlobalFlatten2D")
    expected = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    out = tuple(np.full_like(array, 7) for array in expected)
    result = mg.max_pooling_2d_return_indices(source, descriptor=descriptor, out=out)
    for got, given, right in zip(result, out, expected, strict=True):
        assert got is given
        assert_same_bits(given, right)


@pytest.mark.parametrize("name", ["2d_overlap", "2d_vector_tail_nhwc", "4d_every_axis"])
def test_same_call_same_bits_and_untouched_input(name):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, "normal"), pooling_descriptor(fields)
    source.flags.writeable = False
    copy = source.copy()
    for kind in ("max", "avg"):
        operation = pooling_operation((kind, ""), descriptor)
        assert_same_bits(operation(source, descriptor=descriptor), operation(source, descriptor=descriptor))
    assert_same_bits(source, copy)


@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda a: a[:, :, ::-1].copy()[:, :, ::-1],
        lambda a: a.astype(">f4"),
        lambda a: np.repeat(a, 2, axis=3)[..., ::2],
    ],
    ids=["fortran", "negative", "byte-swapped", "sliced"],
)
def test_memory_of_the_source_does_not_matter(view):
    shape, fields = POOLINGS["4d_image"]
    source, descriptor = (
        pooling_source(shape, "normal"),
        pooling_descriptor(fields, return_indices_mode="GlobalFlatten2D"),
    )
    for got, expected in zip(
        mg.max_pooling_4d_return_indices(view(source), descriptor=descriptor),
        mg.max_pooling_4d_return_indices(source, descriptor=descriptor),
        strict=True,
    ):
        assert_same_bits(got, expected)
        assert got.flags.c_contiguous


@pytest.mark.parametrize("shape", [(0, 3, 8, 8), (2, 0, 3, 8, 8)], ids=["batch", "leading axis"])
def test_empty_batch(shape):
    source = np.empty(shape, np.float32)
    descriptor = mg.Pooling4DDescriptor(
        kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2), return_indices_mode="GlobalFlatten2D"
    )
    expected = (*shape[:-2], 4, 4)
    values, indices = mg.max_pooling_4d_return_indices(source, descriptor=descriptor)
    assert values.shape == indices.shape == expected
    for operation in (mg.max_pooling_4d, mg.avg_pooling_4d, mg.l2_norm_pooling_4d):
        assert operation(source, descriptor=descriptor).shape == expected


def test_descriptor_defaults():
    four, two = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2)), _window()
    assert tuple(four.strides) == tuple(four.dilation_rates) == (1, 1, 1, 1)
    assert tuple(four.padding_values) == (0,) * 8
    assert two.stride_in_x == two.stride_in_y == two.dilation_rate_in_x == two.dilation_rate_in_y == 1
    assert two.padding_left == two.padding_right == two.padding_top == two.padding_bottom == 0
    assert two.data_layout.name == "NCHW"
    for d in (four, two):
        assert (d.padding_style.name, d.return_indices_mode.name) == ("Explicit", "None")
        assert d.ceil_mode is False and d.include_zero_pad_to_average is False
    assert two == _window(stride_in_x=1) and hash(two) == hash(_window(stride_in_x=1))
    assert two != _window(stride_in_x=2)
    assert four == mg.Pooling4DDescriptor(kernel_sizes=[1, 1, 2, 2])
    assert "kernel_sizes" in repr(four) and "kernel_width" in repr(two)
    with pytest.raises(AttributeError):
        four.strides = (2, 2, 2, 2)


EMPTY_SOURCES = {
    "no_channels_nhwc": ((2, 4, 4, 0), {"data_layout": "NHWC"}),
    "no_channels_nchw": ((2, 0, 4, 4), {"data_layout": "NCHW"}),
    "no_batch": ((0, 3, 4, 4), {"data_layout": "NCHW"}),
}


@pytest.mark.parametrize("name", EMPTY_SOURCES)
def test_sources_without_elements(name):
    """Everything about them is empty, whichever way the vectors would have run."""
    shape, fields = EMPTY_SOURCES[name]
    descriptor = mg.Pooling2DDescriptor(
        kernel_width=2, kernel_height=2, return_indices_mode="GlobalFlatten4D", **fields
    )
    source = np.zeros(shape, np.float32)
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    assert values.size == 0 and values.shape == indices.shape
    for forward in (mg.max_pooling_2d, mg.avg_pooling_2d):
        assert forward(source, descriptor=descriptor).shape == values.shape
    for result in (
        mg.max_pooling_2d_gradient(values, source=source, descriptor=descriptor),
        mg.max_pooling_2d_gradient(values, indices=indices, output_shape=shape, descriptor=descriptor),
        mg.avg_pooling_2d_gradient(values, source=source, descriptor=descriptor),
    ):
        assert result.shape == shape


def test_an_empty_batch_under_a_stride():
    descriptor = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2), strides=(2, 1, 1, 1))
    assert mg.max_pooling_4d(np.zeros((0, 1, 4, 4), np.float32), descriptor=descriptor).shape == (0, 1, 3, 3)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_time_follows_the_taps_inside_not_the_kernel(layout):
    """A window of two thousand million taps over six pixels sees six."""
    source = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6) if layout == "NCHW" else None
    if source is None:
        source = np.arange(36, dtype=np.float32).reshape(1, 6, 6, 1)
    descriptor = mg.Pooling2DDescriptor(
        kernel_width=2**31 - 1, kernel_height=1, padding_style="TF_SAME", data_layout=layout
    )
    pooled = mg.max_pooling_2d(source, descriptor=descriptor, device="cpu").reshape(6, 6)
    np.testing.assert_array_equal(pooled, np.repeat(source.reshape(6, 6).max(axis=1, keepdims=True), 6, axis=1))
