"""set_precision(): what the faster algorithms cost in accuracy, where they are chosen, and that "exact" rules them out."""

import dataclasses
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import mpsgraph_native as mg
from mpsgraph_native.verify.tolerance import relative_errors

pytestmark = pytest.mark.skipif(mg.default_device().name != "cpu", reason="algorithms of the cpu engine")


class Window(NamedTuple):
    """Of 3 x 3 weights, along both axes."""

    stride: int = 1
    before: int = 1
    after: int = 1

    @property
    def descriptor(self):
        return mg.Convolution2DDescriptor(
            stride_in_x=self.stride, stride_in_y=self.stride, padding_left=self.before, padding_right=self.after,
            padding_top=self.before, padding_bottom=self.after,
        )  # fmt: skip

    @property
    def padding(self):
        return [(0, 0), (0, 0), (self.before, self.after), (self.before, self.after)]

    def outputs(self, size):
        return (size + self.before + self.after - 3) // self.stride + 1


PLAIN = Window()
WINDOWS = pytest.mark.parametrize("window", [PLAIN, Window(2), Window(2, before=0)], ids=["plain", "odd", "even"])


@pytest.fixture(autouse=True)
def restored():
    before = mg.precision()
    yield
    mg.set_precision(before)


def reference(source, weights, incoming, window=PLAIN):
    """Convolution and its two gradients in float64."""
    source, weights, incoming = (array.astype(np.float64) for array in (source, weights, incoming))
    padded = np.pad(source, window.padding)
    windows = sliding_window_view(padded, (3, 3), (2, 3))[:, :, :: window.stride, :: window.stride]
    data_gradient = np.zeros_like(padded)
    height, width = (window.stride * size for size in incoming.shape[2:])
    for i, j in np.ndindex(3, 3):
        met = data_gradient[:, :, i : i + height : window.stride, j : j + width : window.stride]
        met += np.einsum("nohw,oc->nchw", incoming, weights[:, :, i, j], optimize=True)
    rows, columns = (slice(window.before, window.before + size) for size in source.shape[2:])
    return (
        np.einsum("nchwij,ocij->nohw", windows, weights, optimize=True),
        data_gradient[:, :, rows, columns],
        np.einsum("nchwij,nohw->ocij", windows, incoming, optimize=True),
    )


def largest_nearby(image, distance):
    """The largest magnitude within so many pixels of each."""
    padding = [(0, 0), (0, 0), (distance, distance), (distance, distance)]
    side = 2 * distance + 1
    return sliding_window_view(np.pad(np.abs(image), padding), (side, side), (2, 3)).max((-2, -1))


def ours(source, weights, incoming, window=PLAIN):
    keywords = {"descriptor": window.descriptor}
    return (
        mg.convolution_2d(source, weights, **keywords),
        mg.convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, **keywords),
        mg.convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, **keywords),
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
# batch, input channels, output channels, height, width, window
CASES = [
    (2, 16, 16, 9, 10, PLAIN),
    (3, 64, 40, 14, 14, PLAIN),
    (1, 33, 70, 7, 7, PLAIN),
    (2, 256, 24, 12, 9, PLAIN),
    (3, 16, 32, 16, 16, Window(2)),
    (3, 64, 40, 15, 16, Window(2, before=0)),
    (4, 33, 70, 13, 14, Window(2, before=2)),
    (8, 160, 24, 16, 15, Window(2, before=0, after=0)),
    (2, 24, 18, 13, 29, Window(2, after=2)),
]


def shapes_of(case):
    n, c, o, h, w, window = case
    return (n, c, h, w), (o, c, 3, 3), (n, o, window.outputs(h), window.outputs(w))


def name_of(case):
    *sizes, window = case
    return "-".join(str(size) for size in (*sizes, *window))


@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("inputs", INPUTS, ids=lambda name: name.replace(" ", "-"))
@pytest.mark.parametrize("precision", ["fast", "exact"])
def test_error_at_adversarial_inputs(precision, inputs, case):
    """exact: within the bound of a sum of the formula's products. fast: of products with the largest values of a tile."""
    _, c, o, _, _, window = case
    rng = np.random.default_rng(7)
    source, weights, incoming = (
        make(rng, *shape).astype(np.float32) for make, shape in zip(INPUTS[inputs], shapes_of(case), strict=True)
    )
    mg.set_precision(precision)
    results = ours(source, weights, incoming, window)
    # Pixels of one tile of the source are at most 5 apart, with stride 2 at most 8, those of a tile of results 3, and
    # of the incoming gradient's tiles for the data gradient 5 or 4. The transforms of the weights mix the 3 x 3
    # elements of each kernel.
    near = (
        (lambda image, distance: largest_nearby(image, distance)) if precision == "fast" else (lambda i, _: np.abs(i))
    )
    kernel = np.abs(weights)
    if precision == "fast":
        kernel = np.broadcast_to(kernel.max((2, 3), keepdims=True), kernel.shape)
    near_source = near(source, 5 if window.stride == 1 else 8)
    data = reference(near_source, kernel, near(incoming, 6 - window.stride), window)[:2]
    weights_gradient = reference(near_source, kernel, near(incoming, 3), window)[2]
    lengths = (9 * c, 9 * o, incoming.size // o)
    for result, expected, magnitude, length in zip(
        results, reference(source, weights, incoming, window), (*data, weights_gradient), lengths, strict=True
    ):
        assert relative_errors(result, expected, magnitude, length).max() <= 1


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_these_cases_run_by_winograd(case):
    """So that the tests above are about it."""
    window = case[-1]
    keywords = {"descriptor": window.descriptor}
    graph = mg.Graph()
    feeds = [graph.placeholder(shape, "float32") for shape in shapes_of(case)]
    source, weights, incoming = feeds
    targets = [
        graph.convolution_2d(source, weights, **keywords),
        graph.convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, **keywords),
        graph.convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, **keywords),
    ]
    mg.set_precision("fast")
    executable = graph.compile(feeds=feeds, targets=targets)
    executable.run([np.zeros(feed.shape, np.float32) for feed in feeds], profile=True)
    name = "Winograd F(4 x 4, 3 x 3)" if window.stride == 1 else "Winograd F(4 x 4, 2 x 2) by phases"
    assert {step.algorithm for step in executable.last_profile} == {name}


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


@WINDOWS
def test_fast_results_are_near_exact_ones_and_not_the_same(window):
    rng = np.random.default_rng(1)
    arguments = [normal(rng, *shape).astype(np.float32) for shape in shapes_of((4, 32, 32, 16, 16, window))]
    mg.set_precision("fast")
    fast = ours(*arguments, window)
    mg.set_precision("exact")
    for a, b, expected in zip(fast, ours(*arguments, window), reference(*arguments, window), strict=True):
        assert not np.array_equal(a, b)
        error = [np.sqrt(np.mean((result - expected) ** 2)) for result in (a, b)]
        assert error[1] < error[0] < 4 * error[1]


@WINDOWS
def test_exact_sums_of_integers_are_exact(window):
    rng = np.random.default_rng(2)
    arguments = [rng.integers(-8, 9, shape).astype(np.float32) for shape in shapes_of((4, 24, 40, 13, 11, window))]
    mg.set_precision("exact")
    for result, expected in zip(ours(*arguments, window), reference(*arguments, window), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38], ids=str)
@pytest.mark.parametrize("which", range(3), ids=["source", "weights", "incoming"])
@WINDOWS
def test_values_without_finite_transforms_give_what_exact_gives(window, which, value):
    """An infinity would become NaN in a transform and spread over its tile; a value near the limit would overflow."""
    rng = np.random.default_rng(4)
    arguments = [normal(rng, *shape).astype(np.float32) * 0.01 for shape in shapes_of((4, 16, 32, 16, 15, window))]
    arguments[which][1, 3, 1, 2] = value
    mg.set_precision("fast")
    fast = ours(*arguments, window)
    mg.set_precision("exact")
    for position, (a, b) in enumerate(zip(fast, ours(*arguments, window), strict=True)):
        assert np.array_equal(np.isfinite(a), np.isfinite(b))
        if which in ((0, 1), (1, 2), (0, 2))[position] and not np.isfinite(value):
            assert not np.isfinite(b).all()
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("window", "channels"), [(PLAIN, 32), (Window(2), 32), (Window(2), 136)])
def test_results_do_not_depend_on_the_run(window, channels, layout, threads):
    rng = np.random.default_rng(5)
    descriptor = dataclasses.replace(window.descriptor, data_layout=layout)
    source_shape, weights_shape, incoming_shape = shapes_of((8, channels, channels, 20, 20, window))
    order = (0, 1, 2, 3) if layout == "NCHW" else (0, 2, 3, 1)
    source, incoming = (
        normal(rng, *(shape[axis] for axis in order)).astype(np.float32) for shape in (source_shape, incoming_shape)
    )
    before = mg.get_num_threads()
    mg.set_num_threads(threads)
    try:
        runs = [
            mg.convolution_2d_weights_gradient(incoming, source, output_shape=weights_shape, descriptor=descriptor)
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
