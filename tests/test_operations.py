"""The elementwise and linear operations as array functions, as graph methods and through automatic differentiation."""

import numpy as np
import pytest
from cases import operations as table
from cases.operations import OPERATIONS
from support import (
    FLOAT_DTYPES,
    WIDEST,
    WIDEST_TOLERANCE,
    assert_close,
    assert_same_bits,
    central_differences,
    counting,
    dtype,
    dtypes,
    names,
    seeded,
)

import mpsgraph_native as mg
from mpsgraph_native.verify.reference import softmax as reference_softmax

operations = pytest.mark.parametrize("operation", OPERATIONS, ids=str)
reductions = pytest.mark.parametrize("reduction", ["None", "Sum", "Mean"])


def operands_of(operation, name):
    return [np.asarray(array).astype(dtype(name)) for array in operation.operands(seeded(str(operation)))]


def wide(arrays):
    return [array.astype(np.float64) for array in arrays]


def magnitude_of(reference, arrays, expected):
    """One bound for the whole result: the formula on absolute values, at least the operands' own size."""
    absolute = np.abs(reference(*(np.abs(array) for array in arrays)))
    sizes = [np.abs(array).max(initial=0) for array in (*arrays, expected, absolute)]
    return max(1.0, *sizes)


@operations
@pytest.mark.parametrize("name", FLOAT_DTYPES)
def test_value(operation, name):
    arrays = operands_of(operation, name)
    result = getattr(mg, operation.name)(*arrays, **operation.attributes)
    expected = np.asarray(operation.reference(*wide(arrays)))
    magnitude = magnitude_of(operation.reference, wide(arrays), expected)
    assert_close(result, expected, magnitude=magnitude, length=operation.length, dtype=name)
    assert result.flags.c_contiguous


@operations
def test_graph_method_and_array_function_agree(operation):
    arrays = operands_of(operation, "float32")
    expected = getattr(mg, operation.name)(*arrays, **operation.attributes)
    graph = mg.Graph()
    feeds = {graph.placeholder(array.shape, "float32", name=f"operand{k}"): array for k, array in enumerate(arrays)}
    target = getattr(graph, operation.name)(*feeds, **operation.attributes, name="result")
    assert tuple(target.shape) == expected.shape
    (value,) = graph.run(feeds=feeds, targets=[target])
    assert_same_bits(value, expected)


@pytest.mark.parametrize("operation", [op for op in OPERATIONS if op.differentiable], ids=str)
def test_derivative(operation):
    """gradients(Σ w∘f(operands)) against (f(a + h) − f(a − h)) / 2h of the NumPy formula."""
    arrays = operands_of(operation, "float64")
    graph = mg.Graph()
    tensors = [graph.placeholder(array.shape, WIDEST, name=f"operand{k}") for k, array in enumerate(arrays)]
    result = getattr(graph, operation.name)(*tensors, **operation.attributes)
    weights = seeded("weights").standard_normal(tuple(result.shape))
    loss = graph.reduction_sum(graph.multiplication(result, graph.constant(weights, dtype=WIDEST)), axes=None)
    gradients = graph.gradients(loss, tensors)
    feeds = dict(zip(tensors, (array.astype(WIDEST) for array in arrays), strict=True))
    values = graph.run(feeds=feeds, targets=gradients)
    for position, value in enumerate(values):

        def moved(array, position=position):
            return operation.reference(*(array if k == position else other for k, other in enumerate(arrays)))

        assert value.shape == arrays[position].shape
        expected = central_differences(moved, arrays[position], weights, 1e-6)
        np.testing.assert_allclose(value, expected, **WIDEST_TOLERANCE)


@reductions
@pytest.mark.parametrize("name", dtypes("float32", "float64"))
@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 4), (1, 1)], ids=str)
def test_softmax_cross_entropy(reduction, name, shape):
    """The size of the result is settled: one loss per remaining element, or one altogether."""
    rng = seeded("cross entropy", shape)
    source, labels = (table.draw(rng, shape, kind).astype(dtype(name)) for kind in ("real", "distribution"))
    options = {"axis": -1, "reduction_type": reduction}
    result = mg.softmax_cross_entropy(source, labels, **options)
    assert result.dtype == dtype(name)
    expected = np.ravel(reference_softmax.cross_entropy(source.astype(float), labels.astype(float), -1, reduction))
    magnitude = max(1.0, float(np.abs(expected).max()))
    assert_close(result.ravel(), expected, magnitude=magnitude, length=source.size)
    incoming = rng.standard_normal(result.shape).astype(dtype(name))
    gradient = mg.softmax_cross_entropy_gradient(incoming, source, labels, **options)
    spread = incoming.reshape((*shape[:-1], 1)) if reduction == "None" else incoming.ravel()[0]
    wanted = reference_softmax.cross_entropy_gradient(
        np.asarray(spread).astype(float), source.astype(float), labels.astype(float), -1, reduction
    )
    assert_close(gradient, wanted, magnitude=max(1.0, float(np.abs(incoming).max())), length=shape[-1])


@reductions
@pytest.mark.float64
def test_softmax_cross_entropy_gradient_is_the_derivative(reduction):
    rng = seeded("cross entropy derivative")
    source, labels = table.draw(rng, (4, 6), "real"), table.draw(rng, (4, 6), "distribution")
    options = {"axis": 1, "reduction_type": reduction}
    incoming = rng.standard_normal(mg.softmax_cross_entropy(source, labels, **options).shape)
    gradient = mg.softmax_cross_entropy_gradient(incoming, source, labels, **options)
    expected = central_differences(
        lambda moved: mg.softmax_cross_entropy(moved, labels, **options), source, incoming, 1e-6
    )
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_softmax_cross_entropy_of_large_logits_is_finite():
    source = np.float32([[1e4, -1e4, 0.0]])
    labels = np.float32([[0.0, 1.0, 0.0]])
    result = mg.softmax_cross_entropy(source, labels, axis=1, reduction_type="Sum")
    assert result.ravel()[0] == pytest.approx(2e4, rel=1e-6)


def test_softmax_of_large_values():
    np.testing.assert_array_equal(mg.softmax(np.float32([1e4, -1e4]), axis=0), np.float32([1, 0]))


@pytest.mark.parametrize(("axis", "expected"), [(0, [[1, 0, 0]]), (1, [[1], [0]]), (-1, [[1], [0]])])
def test_reduction_arg_maximum(axis, expected):
    """int32, reduced axis kept, the first of equals."""
    source = np.float32([[1, 3, 3], [5, 2, 1]])
    result = mg.reduction_arg_maximum(source, axis=axis)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", [*FLOAT_DTYPES, "int32"])
@pytest.mark.parametrize("source", [*FLOAT_DTYPES, "int32"])
def test_cast(source, name):
    values = counting(3, 4, dtype_name=source)
    assert_same_bits(mg.cast(values, dtype=name), values.astype(dtype(name)))


def test_cast_rounds_to_nearest_even():
    values = np.float32([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 65504, 1e30, np.inf, np.nan])
    for name in ("bfloat16", "float16"):
        with np.errstate(over="ignore"):
            expected = values.astype(dtype(name)).astype(np.float64)
        np.testing.assert_array_equal(mg.cast(values, dtype=name).astype(np.float64), expected)


def test_reductions_skip_nan_where_the_framework_does():
    """reduction_maximum and reduction_minimum are seeded with infinities and skip NaN."""
    source = np.float32([[1, np.nan, 3], [np.nan, np.nan, 2]])
    np.testing.assert_array_equal(mg.reduction_maximum(source, axes=1), [[3], [2]])
    np.testing.assert_array_equal(mg.reduction_minimum(source, axes=1), [[1], [2]])


def test_relu_gradient_at_special_values():
    """g where x > 0, otherwise g·0; x NaN gives NaN."""
    incoming = np.float32([2, 2, 2, -2, 2])
    source = np.float32([1, 0, -1, -1, np.nan])
    np.testing.assert_array_equal(mg.relu_gradient(incoming, source), np.float32([2, 0, 0, -0.0, np.nan]))


EMPTY = [
    ("addition", [(0, 3), (0, 3)], {}, (0, 3)), ("exponent", [(2, 0)], {}, (2, 0)),
    ("matrix_multiplication", [(0, 3), (3, 2)], {}, (0, 2)), ("transpose", [(0, 3)], {"permutation": (1, 0)}, (3, 0)),
    ("reduction_sum", [(0, 3)], {"axes": 1}, (0, 1)), ("reshape", [(0, 3)], {"shape": (3, 0)}, (3, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes", "attributes", "expected"), EMPTY, ids=lambda value: str(value))
def test_empty_operands(name, shapes, attributes, expected):
    arrays = [np.empty(shape, np.float32) for shape in shapes]
    assert getattr(mg, name)(*arrays, **attributes).shape == expected


def test_empty_sums_are_zero():
    np.testing.assert_array_equal(mg.reduction_sum(np.empty((0, 3), np.float32), axes=0), np.zeros((1, 3)))
    product = mg.matrix_multiplication(np.empty((2, 0), np.float32), np.empty((0, 3), np.float32))
    np.testing.assert_array_equal(product, np.zeros((2, 3)))


X = np.zeros((2, 3, 4), np.float32)
REFUSED = [
    ("addition", (X, np.zeros(3, np.float32)), {}, ("primary", "secondary")),
    ("addition", (X, np.zeros(4, np.float64)), {}, ("secondary",)),
    ("matrix_multiplication", (X, X), {}, ("primary", "secondary")),
    ("matrix_multiplication", (X, np.zeros((3, 4, 5), np.float32)), {}, ("primary", "secondary")),
    ("transpose", (X,), {"permutation": (0, 1)}, ("permutation",)),
    ("transpose", (X,), {"permutation": (0, 1, 1)}, ("permutation",)),
    ("transpose", (X,), {"permutation": (0, 1, 3)}, ("permutation",)),
    ("transpose", (X,), {"dimension": 0, "with_dimension": 3}, ("with_dimension",)),
    ("transpose", (X,), {}, ("permutation",)),
    ("reshape", (X,), {"shape": (5, 5)}, ("shape",)),
    ("reshape", (X,), {"shape": (-1, -1)}, ("shape",)),
    ("reshape", (X,), {"shape": (-1, 5)}, ("shape",)),
    ("broadcast", (X,), {"shape": (2, 3, 5)}, ("shape",)),
    ("broadcast", (X,), {"shape": (3, 4)}, ("shape",)),
    ("reduction_sum", (X,), {"axes": 3}, ("axes",)),
    ("reduction_sum", (X,), {"axes": (0, 0)}, ("axes",)),
    ("reduction_arg_maximum", (X,), {"axis": -4}, ("axis",)),
    ("softmax", (X,), {"axis": 3}, ("axis",)),
    ("softmax_cross_entropy", (X, X[:1]), {"axis": 1}, ("labels",)),
    ("softmax_cross_entropy", (X, X), {"axis": 1, "reduction_type": "Median"}, ("reduction_type",)),
    ("relu_gradient", (X, X[:1]), {}, ("incoming_gradient", "source")),
    ("cast", (X,), {"dtype": "float31"}, ("dtype",)),
    ("stochastic_gradient_descent", (np.float32(1).reshape(()), X, X[:1]), {}, ("values", "gradient")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arrays", "attributes", "arguments"), REFUSED)
def test_refused(name, arrays, attributes, arguments):
    with pytest.raises((ValueError, TypeError), match=names(*arguments)):
        getattr(mg, name)(*arrays, **attributes)


def test_an_attribute_is_judged_alike_on_every_call():
    """1, 1.0 and True are equal to Python; the operation that an integer found must not answer for the others."""
    x = np.ones((2, 3), np.float32)
    mg.softmax(x, axis=1)
    for wrong in (1.0, True, None, "1", b"1"):
        with pytest.raises((mg.DTypeError, mg.ShapeError), match=names("axis")):
            mg.softmax(x, axis=wrong)
    mg.reshape(x, shape=(3, 2))
    for wrong in ((3.0, 2.0), (True, 6), ([3], 2), "32", 6.0, None, b"32"):
        with pytest.raises((mg.DTypeError, mg.ShapeError), match=names("shape")):
            mg.reshape(x, shape=wrong)
    np.testing.assert_array_equal(mg.softmax(x, axis=np.int64(1)), mg.softmax(x, axis=1))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: mg.cast(np.ones(2), dtype=None), "dtype"),
        (lambda: mg.broadcast(np.ones(2), shape=None), "shape"),
        (lambda: mg.reduction_arg_maximum(np.ones(2), axis=None), "axis"),
        (lambda: mg.reduction_sum(np.ones(2), axes=[[0]]), "axes"),
        (lambda: mg.transpose(np.ones((2, 2)), permutation=([1], 0)), "permutation"),
    ],
    ids=["cast", "broadcast", "argmax", "sum", "transpose"],
)
def test_attributes_that_are_required_or_malformed(call, argument):
    with pytest.raises((mg.DTypeError, mg.ShapeError), match=names(argument)):
        call()
