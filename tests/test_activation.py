import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, central_differences, dtype, dtypes, names, random_array, seeded

import mpsgraph_native as mg
from mpsgraph_native.verify.reference.elementwise import sigmoid
from mpsgraph_native.verify.reference.softmax import softmax, softmax_gradient

SHAPES = [(), (0,), (5,), (3, 17), (2, 3, 4, 5), (70_001,)]
SOFTMAX_CASES = [
    ((5,), 0),
    ((1,), -1),
    ((4, 1), 1),
    ((3, 10), -1),
    ((2, 1000), 1),
    ((1, 70_001), 1),
    ((7, 33), 0),
    ((300, 3), 0),
    ((70_001, 1), 0),
    ((3, 5, 70), 1),
    ((2, 3, 4, 5), -3),
    ((2, 600, 130), 1),
    ((0, 4), 1),
    ((4, 0), 1),
    ((4, 0), 0),
]


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pointwise(shape, name):
    rng = seeded(shape)
    source, gradient = (np.asarray(3 * random_array(rng, shape, name)) for _ in range(2))
    x, g = source.astype(np.float64), gradient.astype(np.float64)
    s = sigmoid(x)
    results = {
        "relu": (mg.relu(source), np.maximum(x, 0)),
        "sigmoid": (mg.sigmoid(source), s),
        "relu_gradient": (mg.relu_gradient(gradient, source), np.where(x > 0, g, 0)),
        "sigmoid_gradient": (mg.sigmoid_gradient(gradient, source), g * s * sigmoid(-x)),
    }
    for result, expected in results.values():
        assert_close(result, expected, magnitude=np.abs(expected), length=2, dtype=dtype(name))


@pytest.mark.parametrize("name", dtypes("float32", "float64"))
def test_special_values(name):
    source = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e30, -1e30], name)
    np.testing.assert_array_equal(mg.relu(source), [np.nan, np.inf, 0, 0, 0, 0, np.dtype(name).type(1e30), 0])
    np.testing.assert_array_equal(
        mg.sigmoid(source), [np.nan, 1, 0, 0.5, 0.5, np.dtype(name).type(sigmoid(-1.0)), 1, 0]
    )
    gradient = np.full(source.shape, -2, name)
    result = mg.relu_gradient(gradient, source)
    np.testing.assert_array_equal(result, [np.nan, -2, 0, 0, 0, 0, -2, 0])
    assert np.signbit(result[2:6]).all()
    np.testing.assert_array_equal(mg.sigmoid_gradient(gradient, source)[[0, 1, 2, 6, 7]], [np.nan, 0, 0, 0, 0])


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize(("shape", "axis"), SOFTMAX_CASES, ids=str)
def test_softmax(shape, axis, name):
    rng = seeded(shape, axis)
    source, gradient = (np.asarray(3 * random_array(rng, shape, name)) for _ in range(2))
    x, g = source.astype(np.float64), gradient.astype(np.float64)
    y = softmax(x, axis)
    # The error of exp(x - max) is relative to the size of its argument.
    scale = 1 + np.ptp(x) if x.size else 1
    assert_close(mg.softmax(source, axis=axis), y, magnitude=y * scale, length=shape[axis], dtype=dtype(name))
    expected = softmax_gradient(g, x, axis)
    magnitude = y * (np.abs(g) + (np.abs(g) * y).sum(axis, keepdims=True)) * scale
    result = mg.softmax_gradient(gradient, source, axis=axis)
    assert_close(result, expected, magnitude=magnitude, length=shape[axis], dtype=dtype(name))


@pytest.mark.float64
def test_softmax_of_large_values_and_masks():
    source = np.array([[1e4, 1e4, -np.inf], [-1e4, -1e4 + np.log(3), -np.inf]])
    for array, axis in ((source, 1), (source.T.copy(), 0)):
        result = mg.softmax(array, axis=axis)
        np.testing.assert_allclose(result if axis else result.T, [[0.5, 0.5, 0], [0.25, 0.75, 0]], rtol=1e-11)


def test_softmax_keeps_nan_to_its_line():
    source = np.zeros((3, 40), np.float32)
    source[1, 39] = np.nan
    for array, axis in ((source, 1), (source.T.copy(), 0)):
        result = mg.softmax(array, axis=axis)
        result = result if axis else result.T
        assert np.isnan(result[1]).all()
        np.testing.assert_allclose(result[[0, 2]], 1 / 40, rtol=1e-6)


@pytest.mark.float64
def test_gradients_agree_with_differences():
    rng = seeded("differences")
    source, gradient = rng.standard_normal((2, 3, 5))
    for forward, backward in (
        (mg.relu, mg.relu_gradient),
        (mg.sigmoid, mg.sigmoid_gradient),
        (lambda x: mg.softmax(x, axis=0), lambda g, x: mg.softmax_gradient(g, x, axis=0)),
        (lambda x: mg.softmax(x, axis=1), lambda g, x: mg.softmax_gradient(g, x, axis=1)),
    ):
        expected = central_differences(forward, source, gradient, 1e-5)
        np.testing.assert_allclose(backward(gradient, source), expected, rtol=1e-6, atol=1e-8)


ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "name"),
    [
        (lambda: mg.relu(np.ones(3, np.int32)), mg.DTypeError, "tensor"),
        (lambda: mg.relu_gradient(ONES, np.ones((2, 3))), mg.DTypeError, "source"),
        (lambda: mg.sigmoid_gradient(ONES[:1], ONES), mg.ShapeError, "incoming_gradient"),
        (lambda: mg.softmax(ONES, axis=2), mg.ShapeError, "axis"),
        (lambda: mg.softmax(ONES, axis=-3), mg.ShapeError, "axis"),
        (lambda: mg.softmax(np.float32(1), axis=0), mg.ShapeError, "axis"),
        (lambda: mg.softmax(ONES, axis=1.5), mg.DTypeError, "axis"),
        (lambda: mg.softmax_gradient(ONES, ONES, axis=7), mg.ShapeError, "axis"),
        (lambda: mg.softmax_gradient(ONES[:, :1], ONES, axis=1), mg.ShapeError, "incoming_gradient"),
    ],
)
def test_refused(call, error, name):
    with pytest.raises(error, match=names(name)):
        call()
