import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, central_differences, dtype, names, random_array, seeded

import mpsgraph_native as mg

CASES = [
    ((5,), 0),
    ((3, 10), 1),
    ((3, 10), 0),
    ((2, 3, 4, 5), 1),
    ((4000, 37), -1),
    ((1, 70_001), 1),
    ((33, 2100), 0),
    ((0, 4), 1),
]


def reference(source, labels, axis, reduction_type):
    """Loss, softmax and the number of losses."""
    shifted = source - source.max(axis, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis, keepdims=True))
    losses = (labels * (log_sum - shifted)).sum(axis, keepdims=True)
    if reduction_type == "Sum":
        losses = np.asarray(losses.sum())
    elif reduction_type == "Mean":
        losses = np.asarray(losses.mean()) if losses.size else np.asarray(np.nan)
    count = source.size // source.shape[axis] if reduction_type == "Mean" else 1
    return losses, np.exp(shifted - log_sum), count


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize("reduction_type", ["None", "Sum", "Mean"])
@pytest.mark.parametrize(("shape", "axis"), CASES, ids=str)
def test_softmax_cross_entropy(shape, axis, reduction_type, name):
    rng = seeded(shape, axis, reduction_type)
    source = np.asarray(3 * random_array(rng, shape, name))
    labels = rng.random(shape).astype(dtype(name))  # they need not sum to 1
    x, t = source.astype(np.float64), labels.astype(np.float64)
    losses, y, count = reference(x, t, axis, reduction_type)
    with np.errstate(over="ignore"):
        losses = np.where(np.isinf(losses.astype(dtype(name))), np.inf, losses)
    options = {"axis": axis, "reduction_type": reduction_type}

    result = mg.softmax_cross_entropy(source, labels, **options)
    assert_close(result, losses, magnitude=2 * np.abs(losses) + 1, length=x.size, dtype=dtype(name))

    gradient = random_array(rng, losses.shape, name)
    g = gradient.astype(np.float64)
    total = t.sum(axis, keepdims=True)
    expected = g * (y * total - t) / max(count, 1)
    magnitude = np.abs(g) * (y * total * 20 + t) / max(count, 1)
    result = mg.softmax_cross_entropy_gradient(gradient, source, labels, **options)
    assert_close(result, expected, magnitude=magnitude, length=shape[axis], dtype=dtype(name))


@pytest.mark.parametrize("reduction_type", ["None", "Sum", "Mean"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.float64
def test_gradient_agrees_with_differences(axis, reduction_type):
    rng = seeded("differences")
    source, labels = rng.standard_normal((4, 5)), rng.random((4, 5))
    options = {"axis": axis, "reduction_type": reduction_type}
    gradient = rng.standard_normal(mg.softmax_cross_entropy(source, labels, **options).shape)
    expected = central_differences(lambda x: mg.softmax_cross_entropy(x, labels, **options), source, gradient, 1e-5)
    result = mg.softmax_cross_entropy_gradient(gradient, source, labels, **options)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-8)


def test_large_logits():
    source, labels = np.float32([[1000, 0], [0, 1000]]), np.float32([[1, 0], [1, 0]])
    np.testing.assert_array_equal(mg.softmax_cross_entropy(source, labels, axis=1), [[0], [1000]])


def test_no_losses():
    source = np.ones((0, 3), np.float32)
    assert mg.softmax_cross_entropy(source, source, axis=1, reduction_type="Sum") == 0
    assert np.isnan(mg.softmax_cross_entropy(source, source, axis=1, reduction_type="Mean"))


ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "name"),
    [
        (lambda: mg.softmax_cross_entropy(ONES, ONES[:1], axis=1), mg.ShapeError, "labels"),
        (lambda: mg.softmax_cross_entropy(ONES, np.ones((2, 3)), axis=1), mg.DTypeError, "labels"),
        (lambda: mg.softmax_cross_entropy(ONES, ONES, axis=2), mg.ShapeError, "axis"),
        (lambda: mg.softmax_cross_entropy(ONES, ONES, axis=1, reduction_type="Median"), ValueError, "reduction_type"),
        (lambda: mg.softmax_cross_entropy_gradient(ONES, ONES, ONES, axis=1), mg.ShapeError, "incoming_gradient"),
        (
            lambda: mg.softmax_cross_entropy_gradient(ONES[:, :1], ONES, ONES, axis=1, reduction_type="Sum"),
            mg.ShapeError,
            "incoming_gradient",
        ),
    ],
)
def test_refused(call, error, name):
    with pytest.raises(error, match=names(name)):
        call()
