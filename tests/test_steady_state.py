"""Once its first calls are over, no founding operation allocates anything: counted, in a process of its own, never timed."""

import functools
import sysconfig

import pytest
from allocation_support import labels, needs, run_under

# Threads, size, calls. The larger size has work for both threads and scratch on pages.
RUNS = [(1, 8, 10_000), (2, 8, 10_000), (1, 32, 100), (2, 32, 100)]
pytestmark = needs("cc")


@functools.cache
def counts(folder, threads, size, times):
    """What grew over so many calls, by operation, layout, dtype and way to call."""
    return run_under("counter.c", "cc", "counting.py", threads, size, times, folder=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("steady_state")


runs = pytest.mark.parametrize("run", RUNS, ids=lambda run: "{} thread(s), size {}, {} calls".format(*run))


@runs
def test_every_founding_operation_is_counted(folder, run):
    found = counts(folder, *run)
    assert sorted(found) == sorted([*labels("function", "executable"), "control"])
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("free-threaded Python takes its objects from mimalloc, which the counter does not see")
    assert found["control"]["allocations"] >= run[2]


@runs
def test_no_call_allocates(folder, run):
    growing = {
        case: grown
        for case, grown in counts(folder, *run).items()
        if case != "control" and (grown["allocations"] or grown["mappings"] or grown["live page bytes"])
    }
    assert not growing


@runs
def test_nothing_is_left_behind(folder, run):
    # A few pages and blocks come and go with the interpreter; a word per call would be 80,000 bytes.
    growing = {
        case: grown
        for case, grown in counts(folder, *run).items()
        if grown["allocations"] != grown["releases"] or grown["resident bytes"] > 65536 or grown["Python blocks"] > 64
    }
    assert not growing
