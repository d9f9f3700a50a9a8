"""The core of the mps engine: the device, runs, failures, and what MPSGraph lacks.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from mps_support import MPS, STAND_IN, add, at_offset, method_replaced, needs_mps, needs_stand_in, on_pages, undisturbed  # noqa: F401  a fixture
from support import counting

import mpsgraph_native as mg
from mpsgraph_native._core import testing

pytestmark = [needs_mps, pytest.mark.usefixtures("undisturbed")]

RUN = "runAsyncWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:"


def test_the_description_says_what_computes():
    assert ("stand-in" in MPS.description) == (sys.platform != "darwin")
    assert STAND_IN or "MPSGraph on" in MPS.description


def test_the_native_version_is_the_package_version():
    assert testing.native_version() == mg.__version__


def test_a_machine_without_a_device():
    testing.hide_devices(True)
    assert not MPS.available
    assert "Metal finds no device" in MPS.reason
    with pytest.raises(mg.DeviceError, match="Metal finds no device"):
        add(counting(3), counting(3))
    testing.hide_devices(False)
    np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))


def test_an_executable_on_a_device_that_went_away():
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    testing.hide_devices(True)
    with pytest.raises(mg.DeviceError, match="not available"):
        executable.run([counting(3)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_use_after_fork():
    """pytorch/pytorch#178037: a forked child that touches Metal hangs or dies; here it is told."""
    code = """
        import os, sys, numpy as np, mpsgraph_native as mg
        x = np.ones(4, np.float32)
        graph = mg.Graph()
        p = graph.placeholder((4,), "float32", name="p")
        executable = graph.compile(feeds=[p], targets=[graph.square(p)], device="mps")
        executable.run([x])
        child = os.fork()
        if child == 0:
            told = 0
            for action in (lambda: executable.run([x]), lambda: mg.addition(x, x, device="mps")):
                try:
                    action()
                except mg.DeviceError as error:
                    told += "use spawn" in str(error)
            del executable
            mg.clear_cache()
            mg.trim_memory()
            mg.addition(x, x, device="cpu")
            os._exit(0 if told == 2 else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(code)], timeout=120, check=False)
    assert done.returncode == 0


def test_feeds_and_targets_keep_their_order():
    graph = mg.Graph()
    x = graph.placeholder((2, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    z = graph.placeholder((), "float32", name="z")
    targets = [graph.subtraction(y, z), graph.square(x), graph.multiplication(x, z), graph.subtraction(x, y)]
    arrays = {x: counting(2, 3), y: 10 * counting(3), z: np.array(4, np.float32)}
    expected = [arrays[y] - 4, arrays[x] ** 2, arrays[x] * 4, arrays[x] - arrays[y]]
    for feeds in ([x, y, z], [z, x, y], [y, z, x]):
        executable = graph.compile(feeds=feeds, targets=targets, device="mps")
        for got, want in zip(executable.run([arrays[feed] for feed in feeds]), expected, strict=True):
            np.testing.assert_array_equal(got, want)


def test_targets_that_need_no_computation():
    graph = mg.Graph()
    x = graph.placeholder((4,), "float32", name="x")
    unused = graph.placeholder((2,), "float32", name="unused")
    constant = graph.constant(counting(2, 2))
    square = graph.square(x)
    targets = [x, constant, square, square, x]
    executable = graph.compile(feeds=[x, unused], targets=targets, device="mps")
    results = executable.run([counting(4), counting(2)])
    for got, want in zip(
        results, [counting(4), counting(2, 2), counting(4) ** 2, counting(4) ** 2, counting(4)], strict=True
    ):
        np.testing.assert_array_equal(got, want)
    executable = graph.compile(feeds=[x], targets=[x, constant], device="mps")
    np.testing.assert_array_equal(executable.run([counting(4)])[0], counting(4))


def test_many_threads_on_one_executable():
    a = on_pages((50, 50))
    a[...] = counting(50, 50)
    wrong = []

    def work(k):
        for i in range(10):
            result = add(a, np.float32(k * i) * np.ones((50, 50), np.float32))
            if not np.array_equal(result, counting(50, 50) + k * i):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_failed_command_buffer_raises_in_the_calling_thread():
    """ml-explore/mlx#3224, jax-mps c71e5f8: a GPU's failure must not end the process."""
    testing.fail_command_buffers(1)
    with pytest.raises(mg.DeviceError, match="command buffer failed"):
        add(counting(3), counting(3))
    np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))


def test_a_failed_command_buffer_raises_in_the_awaiting_thread():
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    testing.fail_command_buffers(1)
    future = executable.run_async([counting(3)])
    with pytest.raises(mg.DeviceError, match="command buffer failed"):
        future.result(60)
    (result,) = executable.run_async([counting(3)]).result(60)
    np.testing.assert_array_equal(result, counting(3) ** 2)


def test_a_failed_run_writes_nothing_beside_pages():
    out = at_offset(3, 4)
    out[...] = 7
    testing.fail_command_buffers(1)
    with pytest.raises(mg.DeviceError):
        add(counting(3), counting(3), out=out)
    np.testing.assert_array_equal(out, 7)


@pytest.mark.parametrize("offset", [4, 16])
def test_memory_beside_pages_is_read_and_written_whole(offset):
    a, b, out = (at_offset(100, offset) for _ in range(3))
    a[...], b[...], out[...] = np.arange(100), 1, -1
    add(a, b, out=out)
    np.testing.assert_array_equal(out, np.arange(100) + 1)


def test_float64_is_refused_by_name():
    with pytest.raises(TypeError, match=r"primary.*mps"):
        add(counting(3, dtype_name="float64"), counting(3, dtype_name="float64"))
    with pytest.raises(TypeError, match=r"dtype.*mps"):
        mg.cast(counting(3), dtype="float64", device="mps")


def test_an_operation_newer_than_the_system():
    testing.set_macos_version(11, 0)
    descriptor = mg.GRUDescriptor()
    with pytest.raises(mg.DeviceError, match=r"macOS"):
        mg.gru(counting(2, 1, 6), recurrent_weight=counting(6, 2), descriptor=descriptor, device="mps")


def empty_cases():
    e = np.zeros
    f = np.float32
    convolution = mg.Convolution2DDescriptor()
    yield "sum", lambda d: mg.reduction_sum(e((0, 3), f), axes=[0], device=d)
    yield "product", lambda d: mg.reduction_product(e((0, 3), f), axes=[0], device=d)
    yield "maximum", lambda d: mg.reduction_maximum(e((0, 3), f), axes=[0], device=d)
    yield "minimum", lambda d: mg.reduction_minimum(e((0, 3), f), axes=[0], device=d)
    yield "integer maximum", lambda d: mg.reduction_maximum(e((0, 3), np.int32), axes=[0], device=d)
    yield "long minimum", lambda d: mg.reduction_minimum(e((0, 3), np.int64), axes=[0], device=d)
    yield "half maximum", lambda d: mg.reduction_maximum(e((0, 3), np.float16), axes=[0], device=d)
    yield "mean", lambda d: mg.mean(e((0, 3), f), axes=[0], device=d)
    yield "addition", lambda d: mg.addition(e((0, 3), f), e((3,), f), device=d)
    yield "product of no depth", lambda d: mg.matrix_multiplication(e((2, 0), f), e((0, 3), f), device=d)
    yield (
        "losses",
        lambda d: mg.softmax_cross_entropy(e((3, 0), f), e((3, 0), f), axis=1, reduction_type="None", device=d),
    )
    yield (
        "mean loss",
        lambda d: mg.softmax_cross_entropy(e((0, 3), f), e((0, 3), f), axis=1, reduction_type="Mean", device=d),
    )
    yield (
        "weights gradient of an empty batch",
        lambda d: mg.convolution_2d_weights_gradient(
            e((0, 4, 3, 3), f), e((0, 2, 5, 5), f), output_shape=(4, 2, 3, 3), descriptor=convolution, device=d
        ),
    )
    yield (
        "no input channels",
        lambda d: mg.convolution_2d(e((1, 0, 5, 5), f), e((4, 0, 3, 3), f), descriptor=convolution, device=d),
    )
    yield (
        "slice gradient",
        lambda d: mg.slice_gradient(e((0,), f), fwd_in_shape=(4,), starts=(1,), ends=(1,), strides=(1,), device=d),
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in empty_cases()])
def test_tensors_without_elements(case):
    """pytorch/pytorch#187399, jax-mps 8d25a9d: a dimension of size 0 ends the process inside MPSGraph."""
    got, want = case("mps"), case("cpu")
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("steps, channels", [(3, 0), (0, 2)])
def test_recurrent_operations_without_steps_or_channels(steps, channels):
    rng = np.random.default_rng(0)
    units = 3
    array = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    x, h0, bias = array(steps, 2, channels), array(2, units), array(3 * units)
    recurrent, weight = array(3 * units, units), array(3 * units, channels)
    descriptor = mg.GRUDescriptor(training=True)
    state = array(2, units)
    results = {}
    for device in ("mps", "cpu"):
        keywords = {
            "recurrent_weight": recurrent, "input_weight": weight, "bias": bias, "init_state": h0,
            "descriptor": descriptor, "device": device,
        }  # fmt: skip
        h, z_state = mg.gru(x, **keywords)
        gradients = mg.gru_gradients(
            x, source_gradient=np.ones_like(h), z_state=z_state, output_fwd=h, state_gradient=state, **keywords
        )
        results[device] = [h, *(gradient for gradient in gradients if gradient is not None)]
    for got, want in zip(results["mps"], results["cpu"], strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_graph_around_tensors_without_elements():
    graph = mg.Graph()
    x = graph.placeholder((0, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    total = graph.addition(graph.reduction_sum(graph.square(x), axes=[0]), y)
    executable = graph.compile(feeds=[x, y], targets=[total, graph.square(x)], device="mps")
    total_value, square_value = executable.run([np.zeros((0, 3), np.float32), counting(3)])
    np.testing.assert_array_equal(total_value, counting(1, 3))
    assert square_value.shape == (0, 3)


@needs_stand_in
@pytest.mark.parametrize("selector", ["addObject:", RUN])
def test_an_exception_of_the_frameworks_is_a_device_error(selector):
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    with (
        method_replaced(selector, "noSuchMethod"),
        pytest.raises(mg.DeviceError, match=r"NSInvalidArgumentException: .*unrecognized selector"),
    ):
        executable.run([counting(3)])
    np.testing.assert_array_equal(executable.run([counting(3)])[0], counting(3) ** 2)
