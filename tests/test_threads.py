"""Python threads calling at once, the engine's own threads, and the interpreter lock."""

import threading
import time

import numpy as np
import pytest
from support import assert_same_bits, names, random_array, seeded

import mpsgraph_native as mg

THREAD_COUNTS = (1, 2, 8)


@pytest.fixture(autouse=True)
def same_thread_count():
    before = mg.get_num_threads()
    yield
    mg.set_num_threads(before)


def mixed_calls():
    """Operations of every family with their operands bound: call() gives a tuple of arrays."""
    rng = seeded("threads")
    x, dy, w = (random_array(rng, shape) for shape in ((2, 4, 9, 9), (2, 6, 7, 7), (6, 4, 3, 3)))
    geometry, depthwise = mg.Convolution2DDescriptor(), mg.DepthwiseConvolution2DDescriptor()
    pooling = mg.Pooling4DDescriptor(
        kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2), return_indices_mode="GlobalFlatten2D"
    )
    gru = mg.GRUDescriptor(training=True)
    source, recurrent, weight = (random_array(rng, shape) for shape in ((4, 3, 5), (21, 7), (21, 5)))
    dh = random_array(rng, (4, 3, 7))

    def gru_gradients():
        h, z_state = mg.gru(source, recurrent, input_weight=weight, descriptor=gru)
        gradients = mg.gru_gradients(source, recurrent, dh, z_state, h, input_weight=weight, descriptor=gru)
        return [value for value in gradients if value is not None]

    return [
        lambda: [mg.convolution_2d(x, w, descriptor=geometry)],
        lambda: [mg.convolution_2d_weights_gradient(dy, x, output_shape=w.shape, descriptor=geometry)],
        lambda: [mg.convolution_2d_data_gradient(dy, w, output_shape=x.shape, descriptor=geometry)],
        lambda: [mg.depthwise_convolution_2d(x, w[:1, :, :, :], descriptor=depthwise)],
        lambda: mg.max_pooling_4d_return_indices(x, descriptor=pooling),
        lambda: [mg.softmax(x, axis=1)],
        lambda: [mg.matrix_multiplication(x[:, 0], x[:, 1])],
        lambda: [mg.addition(x[:1], x)],
        gru_gradients,
    ]


def in_threads(count, work):
    """Runs work(k) in `count` threads that start together; raises the first failure."""
    barrier, failures = threading.Barrier(count), []

    def guarded(k):
        try:
            barrier.wait()
            work(k)
        except BaseException as failure:
            failures.append(failure)

    workers = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert not any(worker.is_alive() for worker in workers)
    if failures:
        raise failures[0]


def test_mixed_operations_from_eight_threads():
    """pytorch/pytorch#197805, microsoft/onnxruntime#27592: with clear_cache in between."""
    calls = mixed_calls()
    expected = [call() for call in calls]

    def work(k):
        for turn in range(60):
            index = (turn + k) % len(calls)
            for actual, wanted in zip(calls[index](), expected[index], strict=True):
                assert_same_bits(actual, wanted)
            if turn % 20 == k:
                mg.clear_cache()

    in_threads(8, work)


def test_one_executable_from_many_threads():
    graph = mg.Graph()
    x = graph.placeholder((64, 64), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.matrix_multiplication(x, graph.tanh(x))])
    inputs = [random_array(seeded("shared", k), (64, 64)) for k in range(6)]
    expected = [executable.run([value])[0] for value in inputs]

    def work(k):
        for _ in range(50):
            assert_same_bits(executable.run([inputs[k]])[0], expected[k])

    in_threads(6, work)


def test_one_graph_from_many_threads():
    graph = mg.Graph()
    x = graph.placeholder((5,), "float32", name="x")

    def work(k):
        for _ in range(20):
            (value,) = graph.run(feeds={x: np.full(5, k, np.float32)}, targets=[graph.square(x)])
            np.testing.assert_array_equal(value, np.full(5, k * k))

    in_threads(6, work)


def test_async_runs_overlap_with_calls():
    graph = mg.Graph()
    x = graph.placeholder((32, 32), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.matrix_multiplication(x, x)])
    values = [random_array(seeded("async", k), (32, 32)) for k in range(20)]
    futures = [executable.run_async([value]) for value in values]
    expected = [executable.run([value])[0] for value in values]
    for future, wanted in zip(futures, expected, strict=True):
        assert_same_bits(future.result()[0], wanted)


@pytest.mark.parametrize("count", THREAD_COUNTS)
def test_number_of_threads(count):
    mg.set_num_threads(count)
    assert mg.get_num_threads() == count


@pytest.mark.parametrize("count", [0, -1, 1.5, "two"])
def test_number_of_threads_refused(count):
    before = mg.get_num_threads()
    with pytest.raises((ValueError, TypeError)):
        mg.set_num_threads(count)
    assert mg.get_num_threads() == before


@pytest.mark.parametrize("count", THREAD_COUNTS)
@pytest.mark.parametrize("strides", [(2, 1), (1, 2), (3, 2)], ids=str)
@pytest.mark.parametrize("padding", ["TF_SAME", "TF_VALID"])
def test_repeated_gradients_are_bit_identical(count, strides, padding):
    """pytorch/pytorch#78035, pytorch/pytorch#181936."""
    rng = seeded("repeat")
    mg.set_num_threads(count)
    x, w = random_array(rng, (2, 3, 32, 32)), random_array(rng, (8, 3, 3, 3))
    descriptor = mg.Convolution2DDescriptor(stride_in_y=strides[0], stride_in_x=strides[1], padding_style=padding)
    dy = random_array(rng, mg.convolution_2d(x, w, descriptor=descriptor).shape)
    for gradient in (
        lambda: mg.convolution_2d_weights_gradient(dy, x, output_shape=w.shape, descriptor=descriptor),
        lambda: mg.convolution_2d_data_gradient(dy, w, output_shape=x.shape, descriptor=descriptor),
    ):
        first = gradient()
        for _ in range(4):
            assert_same_bits(gradient(), first)


@pytest.mark.parametrize("count", THREAD_COUNTS)
def test_every_operation_is_bit_identical_per_thread_count(count):
    mg.set_num_threads(count)
    for call in mixed_calls():
        first = call()
        for _ in range(3):
            for actual, wanted in zip(call(), first, strict=True):
                assert_same_bits(actual, wanted)


def test_thread_counts_agree_within_rounding():
    calls = mixed_calls()
    mg.set_num_threads(1)
    expected = [call() for call in calls]
    mg.set_num_threads(8)
    for call, wanted in zip(calls, expected, strict=True):
        for actual, value in zip(call(), wanted, strict=True):
            np.testing.assert_allclose(actual, value, rtol=1e-4, atol=1e-4)


def test_the_interpreter_runs_while_a_long_call_does():
    """A Python thread counts during one call that takes a good part of a second."""
    mg.set_num_threads(1)
    size = 256
    a = random_array(seeded("long"), (size, size))

    def multiply(batch):
        stacked = np.broadcast_to(a, (batch, size, size))
        began = time.perf_counter()
        mg.matrix_multiplication(stacked, a)
        return time.perf_counter() - began

    multiply(4)
    batch = 16
    while multiply(batch) < 0.3 and batch < 1024:
        batch *= 2
    ticks, running = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not running.is_set():
            ticks += 1
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    began = ticks
    elapsed = multiply(batch)
    made = ticks - began
    running.set()
    ticker.join()
    assert made > 20 * elapsed


def test_changing_the_number_of_threads_during_calls():
    calls = mixed_calls()

    def work(k):
        for turn in range(30):
            if k == 0:
                mg.set_num_threads(1 + turn % 4)
            for value in calls[(turn + k) % len(calls)]():
                assert np.isfinite(np.asarray(value, np.float64)).all()

    in_threads(4, work)


def test_the_argument_is_named():
    with pytest.raises((ValueError, TypeError), match=names("count", "threads", "num_threads", "n")):
        mg.set_num_threads(-3)
