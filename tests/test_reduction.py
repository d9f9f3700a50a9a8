import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, assert_same_bits, dtype, dtypes, names, random_array, seeded

import mpsgraph_native as mg

CASES = [
    ((), None),
    ((), ()),
    ((5,), 0),
    ((70_001,), None),
    ((300_001,), -1),
    ((3, 4), ()),
    ((6, 1000), 1),
    ((40_000, 3), 1),
    ((40_000, 3), 0),
    ((1000, 1), 0),
    ((37, 19), 0),
    ((200, 700), 0),
    ((2, 150, 700), 1),
    ((4, 5, 6, 7), (0, 2)),
    ((4, 5, 6, 7), (1, 3)),
    ((8, 3, 40, 41), (0, 2, 3)),
    ((8, 40, 41, 3), (0, 1, 2)),
    ((4, 5, 6, 7), (-1, 0)),
    ((4, 5, 6, 7), None),
    ((2, 1, 3), 1),
    ((0, 4), 1),
    ((4, 0), 1),
    ((3, 0, 5), (0, 2)),
    ((3, 0, 5), None),
]
NUMBERS = {
    "reduction_sum": np.sum,
    "reduction_product": np.prod,
    "reduction_maximum": lambda x, **options: np.max(x, initial=lowest(x), **options),
    "reduction_minimum": lambda x, **options: np.min(x, initial=highest(x), **options),
}
ARG = {"reduction_arg_maximum": np.argmax, "reduction_arg_minimum": np.argmin}


def lowest(x):
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def highest(x):
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def count_along(shape, axes):
    axes = range(len(shape)) if axes is None else np.atleast_1d(np.array(axes, int))
    return max(1, int(np.prod([shape[axis] for axis in axes])))


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize("function", NUMBERS)
@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_numbers(function, shape, axes, name):
    tensor = random_array(seeded(function, shape), shape, name)
    if function == "reduction_product":
        tensor = (
            np.asarray(tensor * 0.05 + 1).astype(tensor.dtype)
            if count_along(shape, axes) < 2000
            else np.ones_like(tensor)
        )
    x = tensor.astype(np.float64)
    expected = NUMBERS[function](x, axis=axes, keepdims=True)
    magnitude = np.sum(np.abs(x), axis=axes, keepdims=True) if function == "reduction_sum" else np.abs(expected)
    length = count_along(shape, axes)
    assert_close(
        getattr(mg, function)(tensor, axes=axes), expected, magnitude=magnitude, length=length, dtype=dtype(name)
    )


@pytest.mark.parametrize("name", ["int32", "int64"])
@pytest.mark.parametrize("function", NUMBERS)
@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_integers(function, shape, axes, name):
    limits = np.iinfo(name)
    tensor = np.asarray(seeded(function, shape).integers(limits.min, limits.max, shape, name, endpoint=True))
    options = {"dtype": name} if function in ("reduction_sum", "reduction_product") else {}
    expected = NUMBERS[function](tensor, axis=axes, keepdims=True, **options)
    assert_same_bits(getattr(mg, function)(tensor, axes=axes), np.asarray(expected, name))


@pytest.mark.parametrize("name", [*FLOAT_DTYPES, "int32", "int64"])
@pytest.mark.parametrize("function", ARG)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1,), 0), ((300_001,), 0), ((2, 70_001), 1), ((40_000, 3), 1), ((3, 70_001), 0), ((5, 6, 7), 1), ((5, 6, 7), -3),
     ((700, 90), 0), ((0, 3), 1), ((3, 1030), 1)],
    ids=str,
)  # fmt: skip
def test_arg(function, shape, axis, name):
    # Few values: ties everywhere, of which the first counts.
    tensor = seeded(function, shape).integers(-30, 30, shape).astype(dtype(name))
    expected = ARG[function](tensor.astype(np.float64), axis=axis, keepdims=True).astype(np.int32)
    assert_same_bits(getattr(mg, function)(tensor, axis=axis), expected)


@pytest.mark.parametrize("length", [1, 7, 100, 5000, 140_000])
@pytest.mark.parametrize("name", dtypes("float32", "float64"))
def test_nan_is_skipped(length, name):
    tensor = np.full((2, length), np.nan, name)
    tensor[1, length // 2] = -np.inf
    for array, axis in ((tensor, 1), (tensor.T.copy(), 0)):
        np.testing.assert_array_equal(mg.reduction_maximum(array, axes=axis).ravel(), [-np.inf, -np.inf])
        np.testing.assert_array_equal(mg.reduction_minimum(array, axes=axis).ravel(), [np.inf, -np.inf])
        np.testing.assert_array_equal(mg.reduction_arg_maximum(array, axis=axis).ravel(), [-1, length // 2])
        np.testing.assert_array_equal(mg.reduction_arg_minimum(array, axis=axis).ravel(), [-1, length // 2])
        assert np.isnan(mg.reduction_sum(array, axes=axis).ravel()[0])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("shape", "axes"), [((1 << 25,), 0), ((1 << 24, 2), 0), ((2, 1 << 24), 1)], ids=str)
def test_long_float32_sums_stay_exact(shape, axes, threads):
    # A running sum would stop growing at 2**24.
    before = mg.get_num_threads()
    mg.set_num_threads(threads)
    try:
        result = mg.reduction_sum(np.broadcast_to(np.float32(1), shape).copy(), axes=axes)
    finally:
        mg.set_num_threads(before)
    np.testing.assert_array_equal(result.ravel(), shape[axes])


ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "name"),
    [
        (lambda: mg.reduction_sum(ONES, axes=2), mg.ShapeError, "axes"),
        (lambda: mg.reduction_sum(ONES, axes=(0, -2)), mg.ShapeError, "axes"),
        (lambda: mg.reduction_sum(np.float32(1), axes=0), mg.ShapeError, "axes"),
        (lambda: mg.reduction_product(ONES > 0), mg.DTypeError, "tensor"),
        (lambda: mg.reduction_maximum(ONES, axes=(0, 1.5)), mg.DTypeError, "axes"),
        (lambda: mg.reduction_arg_maximum(ONES, axis=2), mg.ShapeError, "axis"),
        (lambda: mg.reduction_arg_minimum(ONES[:, :0].copy(), axis=1), mg.ShapeError, "axis"),
    ],
)
def test_refused(call, error, name):
    with pytest.raises(error, match=names(name)):
        call()


@pytest.mark.parametrize("name", ["reduction_sum", "reduction_product", "reduction_maximum", "reduction_minimum"])
def test_axis_is_the_single_form_of_axes(name):
    tensor = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for axis in (0, 1, -1):
        assert_same_bits(getattr(mg, name)(tensor, axis=axis), getattr(mg, name)(tensor, axes=axis))
    with pytest.raises(mg.ShapeError, match=names("axis")):
        getattr(mg, name)(tensor, axis=0, axes=1)
