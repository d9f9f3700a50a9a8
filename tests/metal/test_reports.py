"""Public bug reports of peer projects that are about Metal, restated as inputs of this package's operations.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import resource
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from mps_support import STAND_IN, at_offset, counter, needs_mps, needs_stand_in, on_pages, stand_in, undisturbed  # noqa: F401  fixtures
from support import Convolution, assert_close, counting, judge_convolution, run_convolution

import mpsgraph_native as mg

pytestmark = [needs_mps, pytest.mark.usefixtures("undisturbed")]


@pytest.fixture(autouse=True)
def on_mps():
    before = mg.default_device()
    mg.set_default_device("mps")
    yield
    mg.set_default_device(before)


def test_zero_strides():
    """pytorch/pytorch#180201, #180236: of a broadcast operand only every 16th row was computed."""
    source, descriptor = counting(2, 1, 3, 3), mg.Convolution2DDescriptor()
    for incoming in (np.broadcast_to(np.float32(1), (2, 1, 2, 2)), np.ones((2, 1, 2, 2), np.float32)):
        gradient = mg.convolution_2d_weights_gradient(
            incoming, source, output_shape=(1, 1, 2, 2), descriptor=descriptor
        )
        np.testing.assert_array_equal(gradient[0, 0], [[60, 68], [84, 92]])


def test_many_rows_of_zero_strides():
    """The same with more rows than a group of 16."""
    incoming = np.broadcast_to(np.float32(1), (2, 3, 40, 40))
    source = counting(2, 3, 40, 40) % 7
    gradient = mg.convolution_2d_weights_gradient(
        incoming, source, output_shape=(3, 3, 1, 1), descriptor=mg.Convolution2DDescriptor()
    )
    np.testing.assert_array_equal(gradient[:, :, 0, 0], np.tile(source.sum(axis=(0, 2, 3)), (3, 1)))


@pytest.mark.parametrize("shape", [(4, 3, 8, 8), (1, 3, 6, 6)], ids=str)
@pytest.mark.parametrize("layout", ["strides", "NHWC"])
def test_average_backward_on_channels_last(shape, layout):
    """pytorch/pytorch#175190, #189233: "buffer is not large enough", or garbage; rows of 6·6·3 float32 are 432 bytes."""
    batch, channels, height, width = shape
    memory = np.ones((batch, height // 2, width // 2, channels), np.float32)
    source = np.zeros((batch, height, width, channels), np.float32)
    if layout == "strides":
        memory, source = memory.transpose(0, 3, 1, 2), source.transpose(0, 3, 1, 2)
    descriptor = mg.Pooling2DDescriptor(
        kernel_height=2, kernel_width=2, stride_in_x=2, stride_in_y=2,
        data_layout="NCHW" if layout == "strides" else "NHWC",
    )  # fmt: skip
    gradient = mg.avg_pooling_2d_gradient(memory, source=source, descriptor=descriptor)
    np.testing.assert_array_equal(gradient, np.full(source.shape, 0.25))


def test_a_grouped_strided_data_gradient():
    """ml-explore/mlx#3800: wrong on Metal alone."""
    fields = {"groups": 32, "stride_in_y": 2, "stride_in_x": 2}
    fields |= {f"padding_{side}": 3 for side in ("left", "right", "top", "bottom")}
    problem = Convolution(1, 32, 32, (14, 14), (7, 7), fields).problem("convolution_2d_data_gradient")
    expected, magnitude, length = judge_convolution("convolution_2d_data_gradient", **problem)
    actual = run_convolution("convolution_2d_data_gradient", **problem)
    assert_close(actual, expected, magnitude=magnitude, length=length)


@pytest.mark.parametrize(
    "flip_z, h, dx, dh0",
    [
        (False, [0.128257, 0.301887], [-0.204204, -0.190574], 1.188769),
        (True, [0.085665, 0.246452], [-0.376624, -0.116345], 1.085594),
    ],
)
def test_the_meaning_of_flip_z(flip_z, h, dx, dh0):
    """KevinCoble/MPSGraphDSL: the header says both; numbers of a two-step GRU of one unit."""
    column = lambda *values: np.float32(values).reshape(-1, 1)  # noqa: E731
    descriptor = mg.GRUDescriptor(training=True, flip_z=flip_z)
    operands = {
        "recurrent_weight": column(0.2, -0.5, 0.9), "input_weight": column(0.3, 0.7, -0.4),
        "bias": np.float32([0.1, -0.2, 0.05]), "init_state": column(0.25), "descriptor": descriptor,
    }  # fmt: skip
    x = np.float32([0.5, -1]).reshape(2, 1, 1)
    result, z_state = mg.gru(x, **operands)
    gradients = mg.gru_gradients(
        x, source_gradient=np.ones_like(result), z_state=z_state, output_fwd=result, **operands
    )
    np.testing.assert_allclose(result.ravel(), h, atol=2e-6)
    np.testing.assert_allclose(gradients.source.ravel(), dx, atol=2e-6)
    np.testing.assert_allclose(gradients.init_state.ravel(), [dh0], atol=2e-6)


def resident():
    """The largest resident memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def gru_gradients():
    descriptor = mg.GRUDescriptor(training=True)
    steps, batch, units = (2, 1, 2) if STAND_IN else (10, 16, 32)  # the stand-in is slow, and what counts is the calls
    source = np.full((steps, batch, 3 * units), 0.1, np.float32)
    weights = np.full((3 * units, units), 0.01, np.float32)
    h, z_state = mg.gru(source, recurrent_weight=weights, descriptor=descriptor)
    incoming = np.ones_like(h)

    def call():
        return mg.gru_gradients(
            source, recurrent_weight=weights, source_gradient=incoming, z_state=z_state, output_fwd=h,
            descriptor=descriptor,
        )  # fmt: skip

    return call


@pytest.mark.slow
def test_memory_stays_over_ten_thousand_gradients():
    """pytorch/pytorch#145374: memory climbed until it was full."""
    call = gru_gradients()
    for _ in range(1000):
        call()
    before = resident()
    for _ in range(10_000):
        call()
    assert resident() - before < 5_000_000


@needs_stand_in
def test_objects_stay_over_many_gradients():
    """The same as a count: whatever a call makes dies with it."""
    call, live = gru_gradients(), counter("live_objects")
    call()
    before = live()
    for _ in range(200):
        call()
    assert live() == before


def test_adopted_memory_is_not_recycled():
    """ml-explore/mlx tests/test_zero_copy: a buffer over the caller's memory went into the pool, and came out for others."""
    for value in range(200):
        adopted = mg.asarray(at_offset(3000, 0), copy=False)
        np.asarray(adopted)[...] = value
        kept = np.asarray(adopted)
        result = mg.square(adopted)
        del adopted
        other = mg.square(np.full(3000, -1, np.float32))
        assert (result == np.float32(value) ** 2).all() and (other == 1).all()
        assert (kept == value).all()


def python(code):
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_arrays_beyond_the_limit_are_refused():
    """xinntao/ESRGAN#134, pytorch/pytorch#143859: an array of more than 2**32 bytes ends the process. No page is touched."""
    printed = python("""
        import numpy as np, mpsgraph_native as mg
        source = np.empty((1, 1, 32768, 32769), np.float32)
        row = np.empty((32769,), np.float32)
        for call in (
            lambda: mg.square(source, device="mps"),
            lambda: mg.reduction_sum(source, axes=[3], device="mps"),
            lambda: mg.broadcast(row, shape=(32768, 32769), device="mps"),
            lambda: mg.addition(source, row, device="mps"),
        ):
            try:
                call()
            except ValueError as error:
                assert "at most 2**32 bytes" in str(error), error
                print("refused")
        print(int(mg.addition(row[:3] * 0, np.float32([1, 2, 3]), device="mps").sum()))
    """)
    assert printed == ["refused"] * 4 + ["6"]


def test_the_gradient_of_a_padding():
    """tillahoffmann/jax-mps#59: an assertion about the shape that nothing catches. 3x3 with one row and column around it."""
    printed = python("""
        import numpy as np, mpsgraph_native as mg
        graph = mg.Graph()
        x = graph.placeholder((3, 3), "float32", name="x")
        dy = graph.placeholder((5, 5), "float32", name="dy")
        padded = graph.slice_gradient(x, fwd_in_shape=(5, 5), starts=(1, 1), ends=(4, 4), strides=(1, 1))
        loss = graph.reduction_sum(graph.multiplication(padded, dy), axes=None)
        (gradient,) = graph.gradients(loss, [x])
        executable = graph.compile(feeds=[x, dy], targets=[padded, gradient], device="mps")
        ones, incoming = np.ones((3, 3), np.float32), np.arange(25, dtype=np.float32).reshape(5, 5)
        value, gradient = executable.run([ones, incoming])
        assert (value == np.pad(ones, 1)).all() and (gradient == incoming[1:4, 1:4]).all()
        try:
            mg.slice(ones, starts=(0, 0), ends=(4, 3), strides=(0, 1), device="mps")
        except ValueError:
            print("done")
    """)
    assert printed == ["done"]


def failing(executable, inputs, results):
    yield lambda: executable.run(inputs, results=results)
    yield lambda: executable.run_async(inputs, results=results).result(60)


@needs_stand_in
@pytest.mark.parametrize("how", [0, 1], ids=["run", "run_async"])
@pytest.mark.parametrize("place", [on_pages, lambda shape: at_offset(shape[0], 4)], ids=["shared", "copied"])
def test_a_command_buffer_that_fails(how, place):
    """ml-explore/mlx#3224, #3390; tinygrad#3465; gfx-rs/wgpu#9545: thrown on the system's queue, or unnoticed."""
    graph = mg.Graph()
    x = graph.placeholder((64,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    source, result = np.full(64, 3, np.float32), place((64,))
    call = list(failing(executable, [source], [result]))[how]
    stand_in("fail_command_buffers", None)(1)
    with pytest.raises(mg.DeviceError, match=r"command buffer failed.*Internal Error"):
        call()
    call()
    assert (result == 9).all()


@needs_stand_in
def test_only_the_thread_whose_command_buffer_fails_is_told():
    stand_in("fail_command_buffers", None)(3)
    outcomes = []

    def work(value):
        for _ in range(10):
            try:
                outcomes.append(bool((mg.square(np.full(64, value, np.float32)) == value**2).all()))
            except mg.DeviceError:
                outcomes.append(None)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == [None] * 3 + [True] * 37


@needs_stand_in
def test_a_buffer_that_cannot_be_made():
    """The view of shared memory, then the buffer for a copy of it."""
    operand = on_pages((3_333_333,))  # no buffer of that size is in the pool
    operand[...] = 2
    stand_in("fail_buffers", None)(100)
    try:
        with pytest.raises(mg.DeviceError, match=r"no buffer of \d+ bytes"):
            mg.square(operand)
    finally:
        stand_in("fail_buffers", None)(0)
    assert (mg.square(operand) == 4).all()


def test_threads_that_compile_and_clear():
    """pytorch/pytorch#197805, microsoft/onnxruntime#27592: two threads encode at once."""
    wrong = []

    def work(thread):
        for step in range(25):
            size = 1 + (thread + step) % 5
            x = np.full((size, 4), thread + step, np.float32)
            results = (
                mg.square(x),
                mg.matrix_multiplication(x, np.ones((4, 2), np.float32)),
                mg.reduction_sum(x, axes=[1]),
            )
            expected = x**2, x @ np.ones((4, 2), np.float32), x.sum(axis=1, keepdims=True)
            wrong.extend(step for got, want in zip(results, expected, strict=True) if not np.array_equal(got, want))
            if step % 7 == thread:
                mg.clear_cache()

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
