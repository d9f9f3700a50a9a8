import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, dtype, names, random_array, seeded

import mpsgraph_native as mg


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize("rate_shape", [(), (1,), (1, 1)], ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 17), (70_001,)], ids=str)
def test_stochastic_gradient_descent(shape, rate_shape, name):
    rng = seeded(shape)
    values, gradient = (random_array(rng, shape, name) for _ in range(2))
    rate = np.full(rate_shape, 0.3, dtype(name))
    v, g, r = (array.astype(np.float64) for array in (values, gradient, rate.reshape(())))
    result = mg.stochastic_gradient_descent(rate, values, gradient)
    assert_close(result, v - r * g, magnitude=np.abs(v) + r * np.abs(g), length=2, dtype=dtype(name))


ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("arguments", "error", "name"),
    [
        ((np.ones(2, np.float32), ONES, ONES), mg.ShapeError, "learning_rate"),
        ((np.ones(0, np.float32), ONES, ONES), mg.ShapeError, "learning_rate"),
        ((np.float32(1), ONES, ONES[:1]), mg.ShapeError, "gradient"),
        ((np.float32(1), ONES, np.ones((2, 3))), mg.DTypeError, "gradient"),
        ((np.float64(1), ONES, ONES), mg.DTypeError, "values"),
        ((np.int32(1), ONES, ONES), mg.DTypeError, "learning_rate"),
    ],
)
def test_refused(arguments, error, name):
    with pytest.raises(error, match=names(name)):
        mg.stochastic_gradient_descent(*arguments)
