"""Small convolutions, which the cpu engine runs on flat images: what that accepts, where it is chosen, and its edges."""

import itertools

import numpy as np
import pytest
from support import (
    CONVOLUTIONS,
    LAYOUTS,
    Convolution,
    assert_close,
    assert_same_bits,
    check_convolution,
    dtypes,
    judge_convolution,
    run_convolution,
)

import mpsgraph_native as mg

pytestmark = pytest.mark.skipif(mg.default_device().name != "cpu", reason="an algorithm of the cpu engine")

NAME = "flat images"
KERNELS = [(1, 2), (2, 1), (3, 3), (4, 2), (5, 5)]
DILATIONS = [(1, 1), (2, 1), (1, 3), (2, 2)]
PADDINGS = {
    "none": (0, 0, 0, 0),
    "one": (1, 1, 1, 1),
    "uneven": (2, 0, 1, 3),
    "beyond_the_kernel": (6, 5, 7, 9),
}


def convolution(batch=1, inputs=2, outputs=3, image=(12, 13), kernel=(3, 3), padding=(1, 1, 1, 1), **fields):
    sides = ("padding_left", "padding_right", "padding_top", "padding_bottom")
    return Convolution(batch, inputs, outputs, image, kernel, {**dict(zip(sides, padding, strict=True)), **fields})


def algorithm(operation, **problem):
    """What the engine chose, as the profile tells."""
    source, weights, incoming = problem["source"], problem["weights"], problem["incoming"]
    first, second = {
        "convolution_2d": (source, weights),
        "convolution_2d_data_gradient": (incoming, weights),
        "convolution_2d_weights_gradient": (incoming, source),
    }[operation]
    keywords = {"descriptor": problem["descriptor"]}
    if operation.endswith("gradient"):
        keywords["output_shape"] = (source if operation.endswith("data_gradient") else weights).shape
    graph = mg.Graph()
    feeds = [graph.placeholder(array.shape, array.dtype) for array in (first, second)]
    executable = graph.compile(feeds=feeds, targets=[getattr(graph, operation)(*feeds, **keywords)])
    executable.run([first, second], profile=True)
    return executable.last_profile[0].algorithm


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(("kernel", "dilation"), list(itertools.product(KERNELS, DILATIONS)))
def test_kernels_dilations_and_paddings(kernel, dilation, padding, operation):
    case = convolution(
        kernel=kernel,
        padding=PADDINGS[padding],
        dilation_rate_in_y=dilation[0],
        dilation_rate_in_x=dilation[1],
        image=(12, 13),
    )
    check_convolution(operation, **case.problem(operation))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("dtype_name", dtypes("float32", "float64"))
@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize(
    ("batch", "groups", "inputs", "outputs"),
    [(1, 1, 1, 1), (3, 1, 5, 8), (2, 1, 8, 7), (2, 2, 6, 4), (1, 3, 9, 15), (4, 6, 6, 6), (5, 1, 3, 2)],
)
def test_batches_groups_and_layouts(batch, groups, inputs, outputs, data_layout, weights_layout, dtype_name, operation):
    case = convolution(batch, inputs, outputs, (9, 8), (3, 2), groups=groups)
    check_convolution(operation, **case.problem(operation, dtype_name, data_layout, weights_layout))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("dtype_name", dtypes("float16", "bfloat16"))
def test_half_types(dtype_name, operation):
    check_convolution(operation, **convolution(2, 5, 7, (9, 8)).problem(operation, dtype_name))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33])
def test_every_width(width, operation):
    """So that lines end at every lane."""
    case = convolution(2, 2, 2, (3, width), (2, 3))
    check_convolution(operation, **case.problem(operation))


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize(
    ("case", "flat"),
    [
        (convolution(), True),
        (convolution(4, 3, 3, (28, 28), (5, 5), (2, 2, 2, 2)), True),
        (convolution(2, 6, 6, (16, 16), groups=2), True),
        (convolution(1, 2, 2, (12, 13), dilation_rate_in_x=2), True),
        (convolution(stride_in_x=2), False),
        (convolution(kernel=(1, 1), padding=(0, 0, 0, 0)), False),
        (convolution(1, 9, 9), False),
        (convolution(1, 3, 3, (230, 230)), False),
        (convolution(1, 1, 1, (260, 260), (1, 2)), False),
        (convolution(1, 3, 3, (2, 2), dilation_rate_in_x=9, padding=(9, 9, 1, 1)), False),
    ],
)
def test_choice(case, flat, operation):
    problem = case.problem(operation)
    assert (algorithm(operation, **problem) == NAME) == flat
    check_convolution(operation, **problem)


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize("where", [(0, 0), (0, 12), (11, 12), (5, 6)])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_what_is_not_finite_stays_where_it_belongs(value, where, operation):
    """In the gaps between rows, a source meets gradients that it has nothing to do with."""
    problem = convolution().problem(operation)
    problem["source" if operation != "convolution_2d_data_gradient" else "incoming"][0, 1, *where] = value
    assert algorithm(operation, **problem) == NAME
    with np.errstate(invalid="ignore"):
        expected, magnitude, length = judge_convolution(operation, **problem)
    actual = run_convolution(operation, **problem)
    finite = np.isfinite(expected)
    assert 0 < finite.sum() < expected.size
    np.testing.assert_array_equal(np.isfinite(actual), finite)
    assert_close(actual[finite], expected[finite], magnitude=magnitude[finite], length=length)


@pytest.mark.parametrize("operation", CONVOLUTIONS)
@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize("image", [(3, 4), (8, 8), (5, 17)])
def test_writes_the_result_alone(image, data_layout, weights_layout, operation):
    problem = convolution(2, 5, 3, image).problem(operation, "float32", data_layout, weights_layout)
    expected = run_convolution(operation, **problem)
    room = np.full(expected.size + 64, 7, np.float32)
    out = room[32:-32].reshape(expected.shape)
    assert run_convolution(operation, **problem, out=out) is out
    assert_same_bits(out, expected)
    assert (room[:32] == 7).all() and (room[-32:] == 7).all()
