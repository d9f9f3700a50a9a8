"""set_precision(): what the faster algorithms cost in accuracy, where they are chosen, and that "exact" rules them out."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import mpsgraph_native as mg
from mpsgraph_native.verify.tolerance import relative_errors

pytestmark = pytest.mark.skipif(mg.default_device().name != "cpu", reason="algorithms of the cpu engine")

DESCRIPTOR = mg.Convolution2DDescriptor(padding_left=1, padding_right=1, padding_top=1, padding_bottom=1)


@pytest.fixture(autouse=True)
def restored():
    before = mg.precision()
    yield
    mg.set_precision(before)


def windows(image, padding=1):
    """All 3 x 3 windows of (N, C, H, W): shape (N, C, H, W, 3, 3)."""
    return sliding_window_view(np.pad(image, [(0, 0), (0, 0), (padding, padding), (padding, padding)]), (3, 3), (2, 3))


def reference(source, weights, incoming):
    """Convolution and its two gradients in float64."""
    source, weights, incoming = (array.astype(np.float64) for array in (source, weights, incoming))
    return (
        np.einsum("nchwij,ocij->nohw", windows(source), weights, optimize=True),
        np.einsum("nohwij,ocij->nchw", windows(incoming), weights[:, :, ::-1, ::-1], optimize=True),
        np.einsum("nchwij,nohw->ocij", windows(source), incoming, optimize=True),
    )


def largest_nearby(image, distance):
    """The largest magnitude within so many pixels of each."""
    padding = [(0, 0), (0, 0), (distance, distance), (distance, distance)]
    side = 2 * distance + 1
    return sliding_window_view(np.pad(np.abs(image), padding), (side, side), (2, 3)).max((-2, -1))


def ours(source, weights, incoming):
    return (
        mg.convolution_2d(source, weights, descriptor=DESCRIPTOR),
        mg.convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, descriptor=DESCRIPTOR),
        mg.convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, descriptor=DESCRIPTOR),
    )


def normal(rng, *shape):
    return rng.standard_normal(shape)


def dynamic(rng, *shape):
    """Neighbours that differ by factors of up to 10⁴."""
    return rng.standard_normal(shape) * 10.0 ** rng.uniform(-2, 2, shape)


INPUTS = {
    "normal": (normal, normal, normal),
    "large mean": (lambda rng, *shape: 1000 + normal(rng, *shape), normal, normal),
    "large means": (lambda rng, *shape: 1000 + normal(rng, *shape), normal, lambda rng, *shape: 1000 + normal(rng, *shape)),
    "dynamic range": (dynamic, dynamic, dynamic),
    "one bright pixel": (lambda rng, *shape: normal(rng, *shape) + 1e4 * (rng.random(shape) < 1e-3), normal, normal),
}  # fmt: skip
# batch, input channels, output channels, height, width
SHAPES = [(2, 16, 16, 9, 10), (3, 64, 40, 14, 14), (1, 33, 70, 7, 7), (2, 256, 24, 12, 9)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("inputs", INPUTS, ids=lambda name: name.replace(" ", "-"))
@pytest.mark.parametrize("precision", ["fast", "exact"])
def test_error_at_adversarial_inputs(precision, inputs, shape):
    """exact: within the bound of a sum of the formula's products. fast: of products with the largest values of a tile."""
    n, c, o, h, w = shape
    rng = np.random.default_rng(7)
    make_source, make_weights, make_incoming = INPUTS[inputs]
    source = make_source(rng, n, c, h, w).astype(np.float32)
    weights = make_weights(rng, o, c, 3, 3).astype(np.float32)
    incoming = make_incoming(rng, n, o, h, w).astype(np.float32)
    mg.set_precision(precision)
    results = ours(source, weights, incoming)
    # Pixels of one tile of the source are at most 5 apart, those of a tile of results 3. The transforms of the weights
    # mix the 3 x 3 elements of each kernel.
    near = (
        (lambda image, distance: largest_nearby(image, distance)) if precision == "fast" else (lambda i, _: np.abs(i))
    )
    kernel = np.abs(weights)
    if precision == "fast":
        kernel = np.broadcast_to(kernel.max((2, 3), keepdims=True), kernel.shape)
    data = reference(near(source, 5), kernel, near(incoming, 5))[:2]
    weights_gradient = reference(near(source, 5), kernel, near(incoming, 3))[2]
    for result, expected, magnitude, length in zip(
        results, reference(source, weights, incoming), (*data, weights_gradient), (9 * c, 9 * o, n * h * w), strict=True
    ):
        assert relative_errors(result, expected, magnitude, length).max() <= 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_these_shapes_run_by_winograd(shape):
    """So that the tests above are about it."""
    n, c, o, h, w = shape
    graph = mg.Graph()
    feeds = [graph.placeholder(dims, "float32") for dims in ((n, c, h, w), (o, c, 3, 3), (n, o, h, w))]
    source, weights, incoming = feeds
    targets = [
        graph.convolution_2d(source, weights, descriptor=DESCRIPTOR),
        graph.convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, descriptor=DESCRIPTOR),
        graph.convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, descriptor=DESCRIPTOR),
    ]
    mg.set_precision("fast")
    executable = graph.compile(feeds=feeds, targets=targets)
    executable.run([np.zeros(feed.shape, np.float32) for feed in feeds], profile=True)
    assert {step.algorithm for step in executable.last_profile} == {"Winograd F(4 x 4, 3 x 3)"}


def test_error_of_long_sums():
    rng = np.random.default_rng(3)
    source, incoming = (normal(rng, 16, 16, 112, 112).astype(np.float32) for _ in range(2))
    weights = normal(rng, 16, 16, 3, 3).astype(np.float32)
    expected = reference(source, weights, incoming)[2]
    magnitude = reference(np.abs(source), weights, np.abs(incoming))[2]
    errors = {}
    for precision in ("fast", "exact"):
        mg.set_precision(precision)
        result = ours(source, weights, incoming)[2]
        assert relative_errors(result, expected, magnitude, source.size // 16).max() <= 1
        errors[precision] = np.sqrt(np.mean((result - expected) ** 2))
    assert errors["fast"] < 4 * errors["exact"]


def test_fast_results_are_near_exact_ones_and_not_the_same():
    rng = np.random.default_rng(1)
    arguments = tuple(
        normal(rng, *shape).astype(np.float32) for shape in ((2, 32, 12, 12), (32, 32, 3, 3), (2, 32, 12, 12))
    )
    mg.set_precision("fast")
    fast = ours(*arguments)
    mg.set_precision("exact")
    for a, b, expected in zip(fast, ours(*arguments), reference(*arguments), strict=True):
        assert not np.array_equal(a, b)
        error = [np.sqrt(np.mean((result - expected) ** 2)) for result in (a, b)]
        assert error[1] < error[0] < 4 * error[1]


def test_exact_sums_of_integers_are_exact():
    rng = np.random.default_rng(2)
    arguments = tuple(
        rng.integers(-8, 9, shape).astype(np.float32) for shape in ((4, 24, 13, 11), (40, 24, 3, 3), (4, 40, 13, 11))
    )
    mg.set_precision("exact")
    for result, expected in zip(ours(*arguments), reference(*arguments), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38], ids=str)
@pytest.mark.parametrize("which", range(3), ids=["source", "weights", "incoming"])
def test_values_without_finite_transforms_give_what_exact_gives(which, value):
    """An infinity would become NaN in a transform and spread over its tile; a value near the limit would overflow."""
    rng = np.random.default_rng(4)
    arguments = [
        normal(rng, *shape).astype(np.float32) * 0.01 for shape in ((2, 16, 9, 9), (16, 16, 3, 3), (2, 16, 9, 9))
    ]
    arguments[which][1, 3, 1, 2] = value
    mg.set_precision("fast")
    fast = ours(*arguments)
    mg.set_precision("exact")
    for position, (a, b) in enumerate(zip(fast, ours(*arguments), strict=True)):
        assert np.array_equal(np.isfinite(a), np.isfinite(b))
        if which in ((0, 1), (1, 2), (0, 2))[position] and not np.isfinite(value):
            assert not np.isfinite(b).all()
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_do_not_depend_on_the_run(layout, threads):
    rng = np.random.default_rng(5)
    descriptor = mg.Convolution2DDescriptor(
        padding_left=1, padding_right=1, padding_top=1, padding_bottom=1, data_layout=layout
    )
    shape = (8, 32, 20, 20) if layout == "NCHW" else (8, 20, 20, 32)
    source, incoming = (normal(rng, *shape).astype(np.float32) for _ in range(2))
    before = mg.get_num_threads()
    mg.set_num_threads(threads)
    try:
        runs = [
            mg.convolution_2d_weights_gradient(incoming, source, output_shape=(32, 32, 3, 3), descriptor=descriptor)
            for _ in range(3)
        ]
    finally:
        mg.set_num_threads(before)
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


@pytest.mark.parametrize("value", ["slow", "", None, 1, True])
def test_unknown_precisions_are_refused(value):
    before = mg.precision()
    with pytest.raises(mg.ShapeError, match=r'value must be "fast" or "exact", got'):
        mg.set_precision(value)
    assert mg.precision() == before


def test_precision_from_the_environment():
    def run(value):
        return subprocess.run(
            [sys.executable, "-P", "-c", "import mpsgraph_native as mg; print(mg.precision())"],
            env={**os.environ, "MPSGRAPH_NATIVE_PRECISION": value}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert run("exact").stdout == "exact\n"
    failed = run("quick")
    assert failed.returncode and "MPSGRAPH_NATIVE_PRECISION must be fast or exact, got quick" in failed.stderr
