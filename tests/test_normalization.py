import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, dtype, names, random_array, seeded

import mpsgraph_native as mg


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((), None),
        ((7,), 0),
        ((5, 6), ()),
        ((4, 5, 6, 7), (0, 2, 3)),
        ((4, 30, 31, 5), (0, 1, 2)),
        ((300_001,), None),
        ((0, 3), 1),
    ],
    ids=str,
)
def test_mean(shape, axes, name):
    tensor = random_array(seeded(shape), shape, name)
    x = tensor.astype(np.float64)
    expected, magnitude = (np.mean(value, axis=axes, keepdims=True) for value in (x, np.abs(x)))
    assert_close(mg.mean(tensor, axes=axes), expected, magnitude=magnitude, length=max(1, x.size), dtype=dtype(name))


def test_half_precision_does_not_overflow():
    assert mg.mean(np.full(70_000, 60_000, np.float16)) == np.float16(60_000)


def test_mean_of_nothing_is_nan():
    assert np.isnan(mg.mean(np.ones((2, 0), np.float32), axes=1)).all()


@pytest.mark.parametrize(
    ("tensor", "axes", "error", "name"),
    [
        (np.ones(3, np.float32), 1, mg.ShapeError, "axes"),
        (np.ones((2, 3), np.float32), (1, 1), mg.ShapeError, "axes"),
        (np.ones(3, np.int32), 0, mg.DTypeError, "tensor"),
    ],
)
def test_refused(tensor, axes, error, name):
    with pytest.raises(error, match=names(name)):
        mg.mean(tensor, axes=axes)
