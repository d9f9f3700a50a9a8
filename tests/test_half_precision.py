"""Half types at sizes that the cpu engine converts part by part: values against float64, at every number of threads."""

import numpy as np
import pytest
from support import (
    Convolution,
    assert_close,
    assert_same_bits,
    judge_convolution,
    pooling_descriptor,
    pooling_operation,
    pooling_source,
    random_array,
    run_convolution,
    seeded,
)

import mpsgraph_native as mg
from mpsgraph_native.verify.reference import elementwise, pooling, reduction, softmax

halves = pytest.mark.parametrize("dtype_name", ["float16", "bfloat16"])

# A part holds 65,536 elements of all operands and results together: these have parts of one, of some and of many items,
# and a last part that is smaller.
SHAPES = {"one item": (3, 4, 60, 150), "some items": (11, 3, 40, 52), "many items": (150, 2, 29, 31)}
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@pytest.fixture
def each_number_of_threads():
    before = mg.get_num_threads()

    def numbers():
        for threads in (1, 2, 5):
            mg.set_num_threads(threads)
            yield threads

    yield numbers
    mg.set_num_threads(before)


def check(actual, expected, dtype_name=None):
    values, magnitude, length = expected
    if magnitude is None:
        np.testing.assert_array_equal(actual.astype(np.float64), np.asarray(values).astype(np.float64))
    else:
        assert_close(actual, values, magnitude=magnitude, length=length, dtype=dtype_name)


@halves
@shapes
@pytest.mark.parametrize("operation", ["negative", "tanh", "relu", "square"])
def test_of_one_operand(operation, shape, dtype_name, each_number_of_threads):
    source = random_array(seeded(operation, shape), shape, dtype_name)
    expected = elementwise.judge(operation, source)
    for _ in each_number_of_threads():
        check(getattr(mg, operation)(source), expected)


@halves
@pytest.mark.parametrize(
    "other", [(), (1,), (1, 1, 1, 1), (52,), (3, 1, 1), (11, 1, 1, 1), (11, 3, 40, 52), (1, 3, 40, 52)]
)
@pytest.mark.parametrize("operation", ["addition", "multiplication"])
def test_of_two_operands(operation, other, dtype_name):
    rng = seeded(operation, other)
    pair = random_array(rng, (11, 3, 40, 52), dtype_name), random_array(rng, other, dtype_name)
    check(getattr(mg, operation)(*pair), elementwise.judge(operation, *pair))
    check(getattr(mg, operation)(*reversed(pair)), elementwise.judge(operation, *reversed(pair)))


@halves
def test_both_operands_are_broadcast(dtype_name):
    rng = seeded("both")
    pair = random_array(rng, (300, 1, 60), dtype_name), random_array(rng, (1, 40, 60), dtype_name)
    check(mg.addition(*pair), elementwise.judge("addition", *pair))


@halves
def test_results_of_another_type(dtype_name):
    rng = seeded("comparison")
    left, right = (random_array(rng, (70, 2000), dtype_name).round(1) for _ in range(2))
    assert_same_bits(mg.less_than(left, right), left < right)
    assert_same_bits(mg.cast(left, dtype="float32"), left.astype(np.float32))
    assert_same_bits(mg.cast(left.astype(np.float32), dtype=dtype_name), left)


@halves
@pytest.mark.parametrize("rate", [(), (1,)])
def test_gradient_descent(rate, dtype_name):
    rng = seeded("descent")
    values, gradient = (random_array(rng, (70, 2000), dtype_name) for _ in range(2))
    learning_rate = np.full(rate, 0.25).astype(values.dtype)
    expected = values.astype(np.float64) - 0.25 * gradient.astype(np.float64)
    magnitude = np.abs(values.astype(np.float64)) + np.abs(gradient.astype(np.float64))
    actual = mg.stochastic_gradient_descent(learning_rate, values, gradient)
    assert_close(actual, expected, magnitude=magnitude, length=2, dtype=dtype_name)


@halves
@shapes
@pytest.mark.parametrize("axes", [(2, 3), (1,), (0, 3), None], ids=str)
@pytest.mark.parametrize("operation", ["reduction_sum", "reduction_maximum"])
def test_reductions(operation, axes, shape, dtype_name):
    source = random_array(seeded(operation, axes, shape), shape, dtype_name)
    check(getattr(mg, operation)(source, axes=axes), reduction.judge(operation, source, axes))


@halves
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_positions_of_maxima(axis, dtype_name):
    source = random_array(seeded("arg", axis), (40, 30, 150), dtype_name)
    check(mg.reduction_arg_maximum(source, axis=axis), reduction.judge("reduction_arg_maximum", source, axis))


@halves
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis, dtype_name):
    rng = seeded("softmax", axis)
    source, incoming = (random_array(rng, (40, 30, 150), dtype_name) for _ in range(2))
    check(mg.softmax(source, axis=axis), softmax.judge("softmax", source, axis=axis))
    check(
        mg.softmax_gradient(incoming, source, axis=axis), softmax.judge("softmax_gradient", incoming, source, axis=axis)
    )


DEPTHWISE = {
    "parts of one image": Convolution(3, 8, 1, (75, 60), (3, 3), {"padding_style": "TF_SAME"}),
    "parts of some": Convolution(11, 6, 2, (30, 31), (3, 3), {"stride_in_y": 2}),
    "parts of many": Convolution(150, 4, 1, (12, 14), (5, 3), {"padding_left": 2}),
}


@halves
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("case", DEPTHWISE.values(), ids=DEPTHWISE)
@pytest.mark.parametrize("kind", ["", "_data_gradient", "_weights_gradient"])
def test_depthwise_convolution(kind, case, layout, dtype_name, each_number_of_threads):
    operation = f"depthwise_convolution_2d{kind}"
    problem = case.problem(operation, data_layout=layout, dtype_name=dtype_name)
    expected = judge_convolution(operation, **problem)
    for _ in each_number_of_threads():
        check(run_convolution(operation, **problem), expected, dtype_name)


POOLINGS = {
    "2d": (
        (11, 6, 40, 30),
        {"kernel_width": 3, "kernel_height": 2, "stride_in_x": 2, "stride_in_y": 2, "padding_left": 1},
    ),
    "2d channels last": (
        (11, 40, 30, 6),
        {"kernel_width": 3, "kernel_height": 2, "stride_in_x": 2, "stride_in_y": 2, "data_layout": "NHWC"},
    ),
    "4d": ((11, 6, 40, 30), {"kernel_sizes": (1, 2, 3, 2), "strides": (1, 2, 2, 1)}),
    "4d over images": ((11, 6, 40, 30), {"kernel_sizes": (2, 1, 3, 2), "strides": (2, 1, 2, 1)}),
    "4d of rank 5": ((9, 2, 6, 40, 30), {"kernel_sizes": (2, 1, 3, 2), "strides": (2, 1, 2, 1)}),
}
poolings = pytest.mark.parametrize(("shape", "fields"), POOLINGS.values(), ids=POOLINGS)


@halves
@poolings
@pytest.mark.parametrize("mode", ["GlobalFlatten2D", "GlobalFlatten4D", "LocalFlatten4D"])
def test_max_pooling_and_its_gradient_from_indices(mode, shape, fields, dtype_name):
    descriptor = pooling_descriptor(fields, return_indices_mode=mode)
    source = pooling_source(shape, "ties", dtype_name)
    values, indices = pooling_operation(("max", "_return_indices"), descriptor)(source, descriptor=descriptor)
    expected_values, expected_indices = pooling.max_pooling(source, descriptor)
    np.testing.assert_array_equal(values.astype(np.float64), expected_values)
    np.testing.assert_array_equal(indices, expected_indices)
    if mode == "GlobalFlatten2D":
        return  # which does not name every axis that is pooled here
    gradient = random_array(seeded(mode, shape), values.shape, dtype_name)
    actual = pooling_operation(("max", "_gradient"), descriptor)(
        gradient, indices=indices, output_shape=shape, descriptor=descriptor
    )
    expected = pooling.max_gradient_from_indices(gradient, indices, shape, descriptor)
    magnitude = pooling.max_gradient_from_indices(np.abs(gradient), indices, shape, descriptor)
    assert_close(actual, expected, magnitude=magnitude, length=12, dtype=dtype_name)


KINDS = [(kind, name) for kind in ("max", "avg", "l2_norm") for name in POOLINGS if kind != "l2_norm" or "4d" in name]


@halves
@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_pooling_gradients_from_the_source(kind, name, dtype_name):
    shape, fields = POOLINGS[name]
    descriptor = pooling_descriptor(fields)
    source = pooling_source(shape, "normal", dtype_name)
    result_shape = pooling.output_shape(shape, descriptor)
    gradient = random_array(seeded(kind, shape), result_shape, dtype_name)
    actual = pooling_operation((kind, "_gradient"), descriptor)(gradient, source=source, descriptor=descriptor)
    check(actual, pooling.judge_gradient(kind, gradient, source, descriptor), dtype_name)


@halves
def test_sums_over_parts_depend_on_the_number_of_threads_alone(dtype_name, each_number_of_threads):
    operation = "depthwise_convolution_2d_weights_gradient"
    problem = DEPTHWISE["parts of many"].problem(operation, data_layout="NHWC", dtype_name=dtype_name)
    for _ in each_number_of_threads():
        first = run_convolution(operation, **problem)
        for _ in range(4):
            mg.clear_cache()
            assert_same_bits(run_convolution(operation, **problem), first)


@halves
def test_nan_and_infinities_pass_through(dtype_name):
    source = np.resize(np.array([np.nan, np.inf, -np.inf, -0.0, 1.5]), (1000, 300)).astype(
        random_array(seeded(0), (1,), dtype_name).dtype
    )
    np.testing.assert_array_equal(mg.relu(source)[0, 1:5].astype(np.float64), [np.inf, 0, 0, 1.5])
    assert np.isnan(mg.negative(source)[:, 0].astype(np.float32)[::5]).all()


def test_the_float32_copies_do_not_grow_with_the_batch():
    def scratch(count):
        mg.clear_cache()
        mg.tanh(np.zeros((count, 1000), np.float16), device="cpu")
        return mg.cache_info().bytes

    assert scratch(8000) == scratch(1000)
