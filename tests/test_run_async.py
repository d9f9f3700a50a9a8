"""Executable.run_async: futures that everybody can wait for, their order, and how they end."""

import asyncio
import concurrent.futures
import gc
import threading
import weakref

import numpy as np
import pytest
from support import assert_same_bits, counting, names

import mpsgraph_native as mg
from mpsgraph_native import _future

REFUSED = (ValueError, TypeError, mg.MPSGraphError)
VALUES = [counting(2, 3)]
EXPECTED = 2 * VALUES[0]


@pytest.fixture
def executable():
    graph = mg.Graph()
    x = graph.placeholder((2, 3), name="x")
    return graph.compile(feeds=[x], targets=[graph.addition(x, x)])


@pytest.fixture
def held():
    """Keeps the worker busy until the event is set: what is queued behind does not start."""
    event, started = threading.Event(), threading.Event()

    def run():
        started.set()
        event.wait(60)

    future = _future.submit(run)
    assert started.wait(60)
    yield event
    event.set()
    future.result(60)


def test_result(executable):
    futures = [executable.run_async(VALUES) for _ in range(10)]
    for future in futures:
        assert isinstance(future, mg.Future)
        (value,) = future.result()
        assert_same_bits(value, EXPECTED)
        assert future.done() and not future.cancelled() and future.exception() is None


def test_await(executable):
    async def wait():
        (value,) = await executable.run_async(VALUES)
        return value

    async def main():
        gathered = await asyncio.gather(*(wait() for _ in range(5)))
        direct = await asyncio.gather(executable.run_async(VALUES), executable.run_async(VALUES))
        limited = await asyncio.wait_for(executable.run_async(VALUES), 60)
        return [await wait(), *gathered, *(value for (value,) in direct), *limited]

    for value in asyncio.run(main()):
        assert_same_bits(value, EXPECTED)


def test_wait_and_as_completed(executable):
    futures = [executable.run_async(VALUES) for _ in range(10)]
    done, waiting = concurrent.futures.wait(futures, timeout=60)
    assert done == set(futures) and not waiting
    futures = [executable.run_async(VALUES) for _ in range(10)]
    completed = list(concurrent.futures.as_completed(futures, timeout=60))
    assert len(completed) == 10 and set(completed) == set(futures)
    for future in completed:
        assert_same_bits(future.result()[0], EXPECTED)


def test_first_completed_and_first_exception(executable, held):
    futures = [executable.run_async(VALUES) for _ in range(2)]
    done, waiting = concurrent.futures.wait(futures, timeout=0.05, return_when=concurrent.futures.FIRST_COMPLETED)
    assert not done and waiting == set(futures)
    held.set()
    done, _ = concurrent.futures.wait(futures, timeout=60, return_when=concurrent.futures.FIRST_COMPLETED)
    assert done


def test_result_with_a_timeout(executable, held):
    future = executable.run_async(VALUES)
    with pytest.raises(TimeoutError):
        future.result(0.02)
    with pytest.raises(TimeoutError):
        future.exception(0.02)
    assert not future.done() and not future.running()
    held.set()
    assert_same_bits(future.result(60)[0], EXPECTED)


def test_cancel_before_the_start(executable, held):
    out = np.zeros((2, 3), np.float32)
    first = executable.run_async(VALUES)
    second = executable.run_async(VALUES, results=[out])
    assert second.cancel() and second.cancelled() and second.done()
    held.set()
    assert_same_bits(first.result(60)[0], EXPECTED)
    assert not first.cancel()
    with pytest.raises(concurrent.futures.CancelledError):
        second.result(60)
    assert_same_bits(executable.run_async(VALUES).result(60)[0], EXPECTED)
    assert not out.any()


def test_an_awaited_future_that_is_cancelled(executable, held):
    async def main():
        future = executable.run_async(VALUES)
        future.cancel()
        with pytest.raises(asyncio.CancelledError):
            await future

    asyncio.run(main())


def test_callbacks(executable):
    called = []
    future = executable.run_async(VALUES)
    future.add_done_callback(called.append)
    future.result(60)
    _future.submit(int).result(60)  # callbacks come after the result
    assert called == [future]


def test_runs_start_in_the_order_of_the_calls():
    order = []
    futures = [_future.submit(lambda number=number: order.append(number)) for number in range(100)]
    concurrent.futures.wait(futures, timeout=60)
    assert order == list(range(100))


def test_many_threads_at_a_time(executable):
    def work(_):
        return [executable.run_async(VALUES).result(60)[0] for _ in range(20)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for values in pool.map(work, range(8)):
            for value in values:
                assert_same_bits(value, EXPECTED)


def test_it_keeps_its_memory_alive(executable):
    graph = executable.feeds[0].graph
    fresh = graph.compile(feeds=executable.feeds, targets=executable.targets)
    future = fresh.run_async([array.copy() for array in VALUES])
    del fresh
    gc.collect()
    assert_same_bits(future.result()[0], EXPECTED)


def test_it_lets_go_of_its_memory(executable):
    """The worker that waits for the next run holds nothing of the last one."""
    array = VALUES[0].copy()
    alive = weakref.ref(array)
    executable.run_async([array]).result(60)
    _future.submit(int).result(60)
    del array
    assert alive() is None


def failing():
    """A run that is refused only when it has the values: an index outside of the destination."""
    graph = mg.Graph()
    gradient = graph.placeholder((1, 1, 1, 1), "float32", name="gradient")
    indices = graph.placeholder((1, 1, 1, 1), "int32", name="indices")
    window = mg.Pooling2DDescriptor(kernel_height=2, kernel_width=2, return_indices_mode="GlobalFlatten2D")
    target = graph.max_pooling_2d_gradient(gradient, indices=indices, output_shape=(1, 1, 2, 2), descriptor=window)
    executable = graph.compile(feeds=[gradient, indices], targets=[target])
    return executable.run_async([counting(1, 1, 1, 1), np.full((1, 1, 1, 1), 4, np.int32)])


def test_a_run_that_fails_leaves_no_cycle():
    """Without it the error and its future would keep each other until the cyclic garbage collector comes."""
    gc.disable()
    try:
        future = failing()
        with pytest.raises(mg.ShapeError, match="indices") as raised:
            future.result(60)
        error = weakref.ref(raised.value)
        del future, raised
        _future.submit(int).result(60)  # without a GIL an object goes when the thread that made it comes by again
        assert error() is None
    finally:
        gc.enable()


def test_a_run_that_fails_does_not_stop_the_next(executable):
    future = failing()
    assert isinstance(future.exception(60), mg.ShapeError)
    assert_same_bits(executable.run_async(VALUES).result(60)[0], EXPECTED)

    async def main():
        await failing()

    with pytest.raises(mg.ShapeError, match="indices"):
        asyncio.run(main())


def test_it_refuses_like_run(executable):
    with pytest.raises(REFUSED, match=names("x")):
        executable.run_async([VALUES[0][:1]])
