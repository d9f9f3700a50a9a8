"""Each allocation of each founding operation fails once: MemoryError, nothing is lost, and the next call is right."""

import functools

import pytest
from allocation_support import labels, needs, run_under

pytestmark = needs("c++")


@functools.cache
def outcomes(folder, threads):
    return run_under("failing.cpp", "c++", "failures.py", threads, folder=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("allocation_failures")


runs = pytest.mark.parametrize("threads", [1, 2])


@runs
def test_every_operation_met_failures(folder, threads):
    found = outcomes(folder, threads)
    assert sorted(found) == sorted(labels("function", "graph"))
    # To compile takes some allocations; a toolchain may have linked the C++ runtime into the core, out of reach.
    assert all(outcome["failures"] >= 5 for outcome in found.values())


@runs
def test_no_failure_does_harm(folder, threads):
    assert not {name: outcome["faults"] for name, outcome in outcomes(folder, threads).items() if outcome["faults"]}
