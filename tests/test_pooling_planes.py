"""Max pooling of 2 and 3 taps at stride 2, which has kernels of its own, and gradients gathered from indices."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from support import assert_same_bits, dtypes

import mpsgraph_native as mg

# kernel, padding before, padding after
WINDOWS = [(2, 0, 0), (2, 0, 1), (2, 1, 0), (3, 0, 0), (3, 1, 1), (3, 1, 0), (3, 2, 1)]
SIZES = [(7, 18), (16, 32), (9, 33), (5, 71)]
MODES = {
    "NCHW": ("GlobalFlatten2D", "GlobalFlatten4D", "LocalFlatten2D"),
    "NHWC": ("GlobalFlatten3D", "GlobalFlatten4D"),
}
CASES = [(window, size, layout) for window in WINDOWS for size in SIZES for layout in MODES]


def descriptor_of(window, layout, mode):
    kernel, before, after = window
    return mg.Pooling2DDescriptor(
        kernel_width=kernel, kernel_height=kernel, stride_in_x=2, stride_in_y=2, padding_left=before,
        padding_right=after, padding_top=before, padding_bottom=after, data_layout=layout, return_indices_mode=mode,
    )  # fmt: skip


def source_of(size, layout, dtype="float32"):
    """Ties, infinities and NaN, -inf alone in some windows."""
    rng = np.random.default_rng(sum(size))
    source = rng.integers(-3, 4, (2, 19, *size)).astype(dtype)
    source[rng.random(source.shape) < 0.02] = np.nan
    source[rng.random(source.shape) < 0.02] = np.inf
    source[rng.random(source.shape) < 0.1] = -np.inf
    source[0, 3] = -np.inf
    return source if layout == "NCHW" else np.ascontiguousarray(source.transpose(0, 2, 3, 1))


def ordered_source_of(size, layout, dtype="float32"):
    """Ties, and -inf alone in some windows: no NaN, and +inf in few places."""
    rng = np.random.default_rng(sum(size))
    source = rng.integers(-3, 4, (2, 19, *size)).astype(dtype)
    source[rng.random(source.shape) < 0.3] = -np.inf
    source[0, 3] = -np.inf
    source[1, 2, 1::5, 3::7] = np.inf
    source[1, 4, 2, 1] = np.nan
    return source if layout == "NCHW" else np.ascontiguousarray(source.transpose(0, 2, 3, 1))


def planes_first(array, layout):
    return array if layout == "NCHW" else array.transpose(0, 3, 1, 2)


def expected_taps(planes, window):
    """Of each window the number of the first maximum in row-major order, the first NaN before all numbers."""
    kernel, before, after = window
    pad = [(0, 0), (0, 0), (before, after), (before, after)]
    taps = sliding_window_view(np.pad(planes, pad, constant_values=-np.inf), (kernel, kernel), (2, 3))[:, :, ::2, ::2]
    inside = sliding_window_view(np.pad(np.ones_like(planes), pad), (kernel, kernel), (2, 3))[:, :, ::2, ::2] > 0
    taps, inside = (array.reshape(*array.shape[:4], -1) for array in (taps, inside))
    order = np.where(np.isnan(taps), 2.0, np.where(taps == np.inf, 1.5, np.where(taps == -np.inf, -1.5, taps / 8)))
    return np.where(inside, order, -3).argmax(-1), taps


def expected_indices(taps, window, planes, mode):
    """Positions of taps, in an array whose planes come first."""
    kernel, before, _ = window
    channels, height, width = planes.shape[1:]
    batch, channel, y, x = np.indices(taps.shape)
    row, column = taps // kernel, taps % kernel
    if mode.startswith("Local"):
        return row * kernel + column
    y, x = 2 * y - before + row, 2 * x - before + column
    return {
        "GlobalFlatten2D": y * width + x,
        "GlobalFlatten3D": (y * width + x) * channels + channel,
        "GlobalFlatten4D": ((batch * channels + channel) * height + y) * width + x,
        "GlobalFlatten4D NHWC": ((batch * height + y) * width + x) * channels + channel,
    }[mode]


@pytest.mark.parametrize("make_source", [source_of, ordered_source_of])
@pytest.mark.parametrize("dtype", dtypes("float32", "float64"))
@pytest.mark.parametrize(("window", "size", "layout"), CASES)
def test_first_maxima(window, size, layout, dtype, make_source):
    source = make_source(size, layout, dtype)
    planes = planes_first(source, layout)
    taps, values = expected_taps(planes, window)
    for mode in MODES[layout]:
        given, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor_of(window, layout, mode))
        np.testing.assert_array_equal(
            planes_first(given, layout), np.take_along_axis(values, taps[..., None], -1)[..., 0]
        )
        name = f"{mode} NHWC" if (layout, mode) == ("NHWC", "GlobalFlatten4D") else mode
        np.testing.assert_array_equal(planes_first(indices, layout), expected_indices(taps, window, planes, name))
        np.testing.assert_array_equal(mg.max_pooling_2d(source, descriptor=descriptor_of(window, layout, mode)), given)


def gradients(incoming, indices, shape, descriptor):
    """From int32 indices, and from int64 ones, which are always scattered."""
    return [
        mg.max_pooling_2d_gradient(incoming, indices=indices.astype(dtype), output_shape=shape, descriptor=descriptor)
        for dtype in (np.int32, np.int64)
    ]


@pytest.mark.parametrize(("window", "size", "layout"), CASES)
def test_gathered_gradients_are_the_scattered_ones(window, size, layout):
    source = source_of(size, layout)
    rng = np.random.default_rng(1)
    for mode in MODES[layout]:
        descriptor = descriptor_of(window, layout, mode)
        _, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
        incoming = rng.standard_normal(indices.shape, dtype=np.float32)
        incoming[rng.random(incoming.shape) < 0.05] = np.inf
        incoming[rng.random(incoming.shape) < 0.05] = -0.0
        gathered, scattered = gradients(incoming, indices, source.shape, descriptor)
        assert_same_bits(gathered, scattered)
        # Every gradient arrives somewhere.
        finite = np.where(np.isfinite(incoming), incoming, 0)
        total = gradients(finite, indices, source.shape, descriptor)[0].sum(dtype=np.float64)
        np.testing.assert_allclose(total, finite.sum(dtype=np.float64), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("layout", MODES)
@pytest.mark.parametrize("window", WINDOWS)
def test_indices_outside_their_windows(window, layout):
    """One that means another place of the slice than its window's, by one position of any kind."""
    source = source_of((9, 33), layout)
    descriptor = descriptor_of(window, layout, MODES[layout][0])
    _, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    incoming = np.random.default_rng(2).standard_normal(indices.shape, dtype=np.float32)
    bound = source[0, 0].size if layout == "NCHW" else source[0].size
    row = 33 if layout == "NCHW" else 33 * 19
    for step in (1, -1, 2, -2, 3, -3, row - 1, row, -row, row + 3, 2 * row - 1, 3 * row):
        for position in [(0, 0, 0, 0), (1, 2, 3, 4), tuple(size - 1 for size in indices.shape)]:
            moved = indices.copy()
            moved[position] = np.clip(moved[position] + step, 0, bound - 1)
            gathered, scattered = gradients(incoming, moved, source.shape, descriptor)
            assert_same_bits(gathered, scattered)


@pytest.mark.parametrize("layout", MODES)
def test_a_bad_index_writes_nothing(layout):
    source = source_of((9, 33), layout)
    descriptor = descriptor_of((2, 0, 0), layout, MODES[layout][0])
    incoming, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    for bad in (-1, -2, source.size, 2**31 - 1, -(2**31)):
        wrong, out = indices.copy(), np.full_like(source, 7)
        wrong[-1, -1, -1, -1] = bad
        with pytest.raises(mg.ShapeError, match="indices"):
            mg.max_pooling_2d_gradient(
                incoming, indices=wrong, output_shape=source.shape, descriptor=descriptor, out=out
            )
        assert (out == 7).all()


@pytest.mark.parametrize("layout", MODES)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_the_rows(layout, threads):
    source = np.random.default_rng(3).standard_normal((3, 19, 67, 70), dtype=np.float32)
    source = source if layout == "NCHW" else np.ascontiguousarray(source.transpose(0, 2, 3, 1))
    descriptor = descriptor_of((3, 1, 1), layout, MODES[layout][0])
    before = mg.get_num_threads()
    results = []
    try:
        for count in (1, threads):
            mg.set_num_threads(count)
            values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
            results.append([values, indices, *gradients(values, indices, source.shape, descriptor)])
    finally:
        mg.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        assert_same_bits(one, other)
