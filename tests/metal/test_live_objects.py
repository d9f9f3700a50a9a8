"""Objective-C objects of the mps engine: as many live after a thousand calls as before them.

It runs on the stand-in, whose runtime counts its objects by class.
"""

import gc
import os

import pytest
from every_operation import CASES, each_operation, with_gradients
from mps_support import add, at_offset, control, live_objects, method_replaced, needs_stand_in, on_pages, undisturbed  # noqa: F401  a fixture
from support import counting

import mpsgraph_native as mg
from mpsgraph_native import _future, ops
from mpsgraph_native._core import testing

pytestmark = [needs_stand_in, pytest.mark.usefixtures("undisturbed")]

# Sanitizers take many times as long, and look for leaks themselves.
CALLS = 20 if "MPSGRAPH_NATIVE_TESTED_SANITIZERS" in os.environ else 1000
FEWER_CALLS = max(CALLS // 10, 20)
WARM_UP = 20
COMPILE = "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:"


def counted():
    if _future._worker is not None:  # its thread gives the results before it drops the run
        _future.submit(int).result(60)
    mg.trim_memory()  # views of memory that waits to be used again are no growth
    return live_objects()


def check_that_objects_do_not_grow(call, calls=CALLS):
    for _ in range(WARM_UP):
        call()
    gc.collect()  # what earlier tests left
    before = counted()
    for _ in range(calls):
        call()
    assert counted() == before


def test_there_is_a_case_of_every_operation():
    assert {case.operation for case in CASES} == {name for name in ops.__all__ if hasattr(mg.Graph, name)}


@each_operation
def test_calls(case):
    problem = case.build("float32", "mps")
    function = getattr(mg, case.operation)
    check_that_objects_do_not_grow(lambda: function(*problem.arguments, **problem.keywords, device="mps"))


@each_operation
def test_runs_with_gradients(case):
    graph, feeds, results, gradients = with_gradients(case, "mps")
    executable = graph.compile(feeds=list(feeds), targets=[*results, *gradients], device="mps")
    arrays = list(feeds.values())
    check_that_objects_do_not_grow(lambda: executable.run(arrays), FEWER_CALLS)


def test_gradients_are_among_the_runs():
    assert sum(bool(with_gradients(case, "mps")[3]) for case in CASES) > 30


@each_operation
def test_compilations(case):
    """An executable that is dropped leaves nothing behind, whatever was lowered for it."""
    graph, feeds, results, gradients = with_gradients(case, "mps")

    def compile_and_drop():
        graph.compile(feeds=list(feeds), targets=[*results, *gradients], device="mps")
        mg.clear_cache()

    check_that_objects_do_not_grow(compile_and_drop, 20)


def test_a_hundred_signatures_in_the_cache():
    def compile_and_clear():
        for size in range(1, 101):
            graph = mg.Graph()
            x = graph.placeholder((size, 3), "float32", name="x")
            graph.compile(feeds=[x], targets=[graph.softmax(graph.square(x), axis=1)], device="mps")
        assert mg.cache_info().entries == 100
        mg.clear_cache()

    compile_and_clear()
    gc.collect()
    before = counted()
    compile_and_clear()
    assert counted() == before


def test_views_are_kept_between_calls():
    a, out = on_pages((3000,)), on_pages((3000,))
    a[...] = 1
    add(a, a, out=out)
    before = live_objects()
    for _ in range(20):
        add(a, a, out=out)
        assert live_objects() == before


def square_executable(count=15):
    graph = mg.Graph()
    x = graph.placeholder((count,), "float32", name="x")
    return graph.compile(feeds=[x], targets=[graph.square(x), graph.constant(counting(4))], device="mps")


def run(executable, array):
    return executable.run([array])


def run_asynchronously(executable, array):
    return executable.run_async([array]).result(60)


each_way_to_run = pytest.mark.parametrize("way", [run, run_asynchronously])


def test_asynchronous_runs():
    executable = square_executable()
    check_that_objects_do_not_grow(lambda: run_asynchronously(executable, counting(15)))


def test_asynchronous_runs_at_the_same_time():
    executable = square_executable()

    def call():
        for future in [executable.run_async([counting(15)]) for _ in range(10)]:
            future.result(60)

    check_that_objects_do_not_grow(call, FEWER_CALLS)


@each_way_to_run
@pytest.mark.parametrize("fail", [testing.fail_command_buffers, control("fail_command_buffers")], ids=["hook", "queue"])
def test_runs_whose_command_buffer_fails(way, fail):
    executable = square_executable()

    def call():
        fail(1)
        with pytest.raises(mg.DeviceError, match="command buffer failed"):
            way(executable, counting(15))

    check_that_objects_do_not_grow(call, FEWER_CALLS)


@each_way_to_run
def test_runs_without_memory_on_the_device(way):
    count = 700_001  # of a size that no buffer in the engine's pool has
    executable, array = square_executable(count), at_offset(count, 4)

    def call():
        control("fail_buffers")(1)
        with pytest.raises(mg.DeviceError, match="no buffer"):
            way(executable, array)

    check_that_objects_do_not_grow(call, FEWER_CALLS)


@each_way_to_run
@pytest.mark.parametrize(
    "selector",
    ["addObject:", "runAsyncWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:"],
)
def test_runs_that_an_exception_ends(way, selector):
    executable = square_executable()

    def call():
        with pytest.raises(mg.DeviceError, match="NSInvalidArgumentException"):
            way(executable, counting(15))

    with method_replaced(selector, "noSuchMethod"):
        check_that_objects_do_not_grow(call, FEWER_CALLS)


@pytest.mark.parametrize(
    "selector, replacement, error",
    [
        ("squareWithTensor:name:", "noSuchMethod", mg.DeviceError),
        ("squareWithTensor:name:", "standInNothing", mg.CompileError),
        (COMPILE, "noSuchMethod", mg.DeviceError),
        (COMPILE, "standInNothing", mg.CompileError),
    ],
)
def test_compilations_that_fail(selector, replacement, error):
    graph = mg.Graph()
    x = graph.placeholder((3, 5), "float32", name="x")
    y = graph.square(graph.transpose(x, permutation=(1, 0)))

    def call():
        with pytest.raises(error):
            graph.compile(feeds=[x], targets=[y], device="mps")

    with method_replaced(selector, replacement):
        check_that_objects_do_not_grow(call, 100)
