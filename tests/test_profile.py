"""Executable.run(profile=True): what each step of a program took."""

import re

import numpy as np
import pytest

import mpsgraph_native as mg

on_cpu = pytest.mark.skipif(mg.default_device().name != "cpu", reason="mps runs its program as a whole")


@pytest.fixture
def executable():
    graph = mg.Graph()
    source = graph.placeholder((2, 16, 12, 12), "float32", name="source")
    weights = graph.placeholder((32, 16, 3, 3), "float32", name="weights")
    descriptor = mg.Convolution2DDescriptor(padding_left=1, padding_right=1, padding_top=1, padding_bottom=1)
    return graph.compile(
        feeds=[source, weights], targets=[graph.tanh(graph.convolution_2d(source, weights, descriptor=descriptor))]
    )


INPUTS = [np.ones((2, 16, 12, 12), np.float32), np.full((32, 16, 3, 3), 0.01, np.float32)]


def test_a_profiled_run_gives_the_same_results(executable):
    assert executable.last_profile is None
    (expected,) = executable.run(INPUTS)
    assert executable.last_profile is None
    (result,) = executable.run(INPUTS, profile=True)
    np.testing.assert_array_equal(result, expected)
    out = np.empty_like(expected)
    assert executable.run(INPUTS, results=[out], profile=True)[0] is out
    np.testing.assert_array_equal(out, expected)


@on_cpu
def test_steps_of_the_cpu_engine(executable):
    executable.run(INPUTS, profile=True)
    convolution, tanh = executable.last_profile
    assert convolution.operation.startswith("convolution_2d(") and tanh.operation == "tanh()"
    assert convolution.floating_point_operations == 2 * 2 * 32 * 16 * 9 * 12 * 12
    assert convolution.nbytes == 4 * (2 * 16 * 12 * 12 + 32 * 16 * 9 + 2 * 32 * 12 * 12)
    assert tanh.nbytes == 2 * 4 * 2 * 32 * 12 * 12 and tanh.floating_point_operations == 0
    assert convolution.seconds > 0 and 1 <= convolution.threads <= mg.get_num_threads()
    assert convolution.gflops == pytest.approx(convolution.floating_point_operations / convolution.seconds / 1e9)


@on_cpu
@pytest.mark.parametrize(
    ("precision", "algorithm"), [("fast", "Winograd F(4 x 4, 3 x 3)"), ("exact", "indirect matrix product")]
)
def test_algorithm(precision, algorithm, executable):
    graph, before = executable.feeds[0].graph, mg.precision()
    mg.set_precision(precision)
    try:
        again = graph.compile(feeds=executable.feeds, targets=executable.targets)
        again.run(INPUTS, profile=True)
    finally:
        mg.set_precision(before)
    assert again.last_profile[0].algorithm == algorithm
    assert algorithm in again.describe()


@on_cpu
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_operations_of_depthwise_convolutions(layout):
    source_shape, result_shape = ((2, 6, 9, 8), (2, 18, 5, 4)) if layout == "NCHW" else ((2, 9, 8, 6), (2, 5, 4, 18))
    weights_shape = (3, 6, 3, 3)
    descriptor = mg.DepthwiseConvolution2DDescriptor(
        stride_in_x=2, stride_in_y=2, padding_left=1, padding_right=1, padding_top=1, padding_bottom=1,
        data_layout=layout,
    )  # fmt: skip
    graph = mg.Graph()
    source, weights, gradient = (
        graph.placeholder(shape, "float32") for shape in (source_shape, weights_shape, result_shape)
    )
    targets = [
        graph.depthwise_convolution_2d(source, weights, descriptor=descriptor),
        graph.depthwise_convolution_2d_data_gradient(
            gradient, weights, output_shape=source_shape, descriptor=descriptor
        ),
        graph.depthwise_convolution_2d_weights_gradient(
            gradient, source, output_shape=weights_shape, descriptor=descriptor
        ),
    ]
    feeds = [source, weights, gradient]
    executable = graph.compile(feeds=feeds, targets=targets)
    executable.run([np.zeros(feed.shape, np.float32) for feed in feeds], profile=True)
    operations = [step.floating_point_operations for step in executable.last_profile]
    assert operations == [2 * (2 * 18) * (5 * 4) * (3 * 3)] * 3


@on_cpu
def test_algorithm_for_few_channels():
    graph = mg.Graph()
    gradient = graph.placeholder((2, 64, 32, 32), "float32")
    weights = graph.placeholder((64, 3, 3, 3), "float32")
    descriptor = mg.Convolution2DDescriptor(
        stride_in_x=2, stride_in_y=2, padding_left=1, padding_right=1, padding_top=1, padding_bottom=1
    )
    result = graph.convolution_2d_data_gradient(gradient, weights, output_shape=(2, 3, 64, 64), descriptor=descriptor)
    executable = graph.compile(feeds=[gradient, weights], targets=[result])
    executable.run([np.zeros(feed.shape, np.float32) for feed in (gradient, weights)], profile=True)
    (step,) = executable.last_profile
    # Vectors of four lanes take up to two channels that way.
    narrow = mg.instruction_sets()[1] in ("avx2", "avx512")
    assert step.algorithm == ("products along lines of pixels" if narrow else "indirect matrix product")
    assert step.floating_point_operations == 2 * 2 * 64 * 3 * 9 * 32 * 32


@on_cpu
@pytest.mark.parametrize(("side", "pixels_in_panels"), [(8, True), (9, False)])
def test_panels_of_pointwise_convolutions(side, pixels_in_panels):
    graph = mg.Graph()
    source = graph.placeholder((2, 80, side, side), "float32")
    weights = graph.placeholder((48, 80, 1, 1), "float32")
    result = graph.convolution_2d(source, weights, descriptor=mg.Convolution2DDescriptor())
    executable = graph.compile(feeds=[source, weights], targets=[result])
    executable.run([np.zeros(feed.shape, np.float32) for feed in (source, weights)], profile=True)
    (step,) = executable.last_profile
    # Planes of whole vectors that are as long as a line of the cache.
    along_pixels = pixels_in_panels and mg.instruction_sets()[1] == "avx512"
    assert step.algorithm == ("matrix product along pixels" if along_pixels else "indirect matrix product")


@on_cpu
def test_operations_of_recurrent_gradients():
    graph = mg.Graph()
    feeds = [graph.placeholder(shape, "float32") for shape in ((5, 4, 8), (48, 16), (48, 8))]
    result = graph.gru(*feeds[:2], input_weight=feeds[2], descriptor=mg.GRUDescriptor(reset_after=True))
    executable = graph.compile(feeds=feeds, targets=[result])
    executable.run([np.zeros(feed.shape, np.float32) for feed in feeds], profile=True)
    assert executable.last_profile[0].floating_point_operations == 2 * 5 * 4 * 48 * (16 + 8)


def test_description(executable):
    before = executable.describe()
    assert "source: float32 [2, 16, 12, 12]" in before and "last profile" not in before
    executable.run(INPUTS, profile=True)
    assert "last profile" in executable.describe() and "GB/s" in executable.describe()


def test_description_of_operations_and_memory():
    graph = mg.Graph()
    x = graph.placeholder((4, 8), "float32", name="x")
    w = graph.constant(np.ones((8, 64), np.float32), name="w")
    hidden = graph.matrix_multiplication(graph.square(x, name="behind"), w, name="hidden")
    y = graph.tanh(graph.relu(hidden, name="rectified"), name="y")
    graph.exponent(x, name="not needed")
    executable = graph.compile(feeds=[x], targets=[y])
    text = executable.describe()
    lines = text.splitlines()
    shown = lines[lines.index("operations") + 1 : lines.index("targets")]
    assert [line.split(":")[0].strip() for line in shown] == ["w", "behind", "hidden", "rectified", "y"]
    assert "matrix_multiplication" in shown[2] and shown[2].endswith("-> float32 [4, 64]")
    parts = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)(?:,|$)", lines[-1].split(": ", 2)[2])}
    assert list(parts) == ["constants", "intermediates", "scratch", "program"]
    assert sum(parts.values()) == executable.nbytes
    if executable.device == "cpu":
        assert parts["constants"] == 8 * 64 * 4 and parts["intermediates"] >= 4 * 64 * 4
    behind = graph.compile(feeds=[hidden], targets=[y]).describe()
    assert "behind" not in behind and "rectified" in behind


def test_bad_inputs_leave_the_profile_alone(executable):
    with pytest.raises(mg.ShapeError):
        executable.run(INPUTS[:1], profile=True)
    assert executable.last_profile is None
