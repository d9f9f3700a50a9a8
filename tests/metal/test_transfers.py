"""Zero copy as numbers: the bytes that the device shares and those that are copied, for every sort of operand and result.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import numpy as np
import pytest
from mps_support import Transfers, at_offset, macos, needs_mps, on_pages, undisturbed  # noqa: F401  fixtures

import mpsgraph_native as mg
from mpsgraph_native._core import testing

pytestmark = [needs_mps, pytest.mark.usefixtures("undisturbed")]

LARGE, SMALL = 1 << 15, 100  # elements of float32: views from an offset begin to pay at 64 KiB
NEW, OLD = (15, 0), (14, 7)  # with and without initWithBuffer:offset:descriptor:


def tensor_data(count):
    return mg.empty((count,), "float32")


def result_of_ours(count):
    return mg.square(np.ones(count, np.float32), device="mps")


def page_aligned(count):
    return at_offset(count, 0)


def inner_row(count):
    """A row of an array of ours, 64 bytes behind a page."""
    return on_pages((2, count + 16))[0, 16:]


def at(offset):
    def make(count):
        return at_offset(count, offset)

    make.__name__ = f"at_offset_{offset}"
    return make


def strided(count):
    return on_pages((count, 2))[:, 0]


def read_only(count):
    array = page_aligned(count)
    array.flags.writeable = False
    return array


# What makes the memory, its elements, and whether the device shares it as an operand: from macOS 15 on, and before.
OPERANDS = [
    (tensor_data, LARGE, True, True),
    (tensor_data, SMALL, True, True),
    (result_of_ours, LARGE, True, True),
    (page_aligned, LARGE, True, True),
    (page_aligned, SMALL, True, True),
    (read_only, LARGE, True, True),
    (inner_row, LARGE, True, False),
    (inner_row, SMALL, True, False),
    (at(64), LARGE, True, False),
    (at(64), SMALL, False, False),
    (at(16), LARGE, True, False),
    (at(4), LARGE, False, False),
    (at(8), LARGE, False, False),
]
# The same for results: the device writes to no page that holds something before the array.
RESULTS = [
    (tensor_data, LARGE, True, True),
    (tensor_data, SMALL, True, True),
    (result_of_ours, LARGE, True, True),
    (page_aligned, LARGE, True, True),
    (page_aligned, SMALL, True, True),
    (inner_row, LARGE, True, False),
    (inner_row, SMALL, True, False),
    (at(64), LARGE, False, False),
    (at(64), SMALL, False, False),
    (at(4), LARGE, False, False),
]


def parameters(rows):
    return [
        pytest.param(
            make,
            count,
            version,
            shared,
            id=f"{make.__name__}-{count}-macos_{version[0]}-{'shared' if shared else 'copied'}",
        )
        for make, count, *outcomes in rows
        for version, shared in zip((NEW, OLD), outcomes, strict=True)
    ]


def executable(count):
    graph = mg.Graph()
    x = graph.placeholder((count,), "float32", name="x")
    return graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")


def fill(memory, value):
    array = np.asarray(memory)
    if array.flags.writeable:
        array[...] = value
    else:
        array.flags.writeable = True
        array[...] = value
        array.flags.writeable = False


@pytest.mark.parametrize("make, count, version, shared", parameters(OPERANDS))
def test_operands(make, count, version, shared, macos):  # noqa: F811
    macos(*version)
    operand, out = make(count), on_pages((count,))
    fill(operand, 3)
    with Transfers() as transfers:
        mg.square(operand, device="mps", out=out)
    assert (out == 9).all()
    size = 4 * count
    assert transfers.device == ((2 * size, 0) if shared else (size, size))
    assert transfers.host == {"aliased_inputs": 1, "aliased_bytes": size, "aliased_results": 1,
                              "aliased_result_bytes": size}  # fmt: skip


@pytest.mark.parametrize("make, count, version, shared", parameters(RESULTS))
def test_results(make, count, version, shared, macos):  # noqa: F811
    macos(*version)
    operand, result = on_pages((count,)), make(count)
    operand[...] = 3
    run = executable(count)
    with Transfers() as transfers:
        (given,) = run.run([operand], results=[result])
    assert given is result and (np.asarray(result) == 9).all()
    size = 4 * count
    assert transfers.device == ((2 * size, 0) if shared else (size, size))
    assert transfers.host == {"aliased_inputs": 1, "aliased_bytes": size, "aliased_results": 1,
                              "aliased_result_bytes": size}  # fmt: skip


def test_results_that_nobody_gave_are_shared():
    operand = on_pages((LARGE,))
    operand[...] = 3
    run = executable(LARGE)
    with Transfers() as transfers:
        run.run([operand])
        run.run([operand], results=[None])
        run.run_async([operand]).result(60)
        mg.square(operand, device="mps")
    assert transfers.device == (8 * operand.nbytes, 0)


def test_strided_results_are_written_once_and_spread():
    """The device writes to pages of ours, from which one copy goes to the caller's memory."""
    operand, result = on_pages((LARGE,)), strided(LARGE)
    operand[...] = 3
    with Transfers() as transfers:
        executable(LARGE).run([operand], results=[result])
    assert (result == 9).all()
    size = operand.nbytes
    assert transfers.device == (2 * size, 0)
    assert transfers.host == {"aliased_inputs": 1, "aliased_bytes": size, "copied_results": 1,
                              "copied_result_bytes": size}  # fmt: skip


@pytest.mark.parametrize("count", [LARGE, SMALL])
def test_strided_operands_are_copied_once(count):
    """Onto pages, where the device reads them."""
    operand, out = strided(count), on_pages((count,))
    operand[...] = 3
    with Transfers() as transfers:
        mg.square(operand, device="mps", out=out)
    assert (out == 9).all()
    size = 4 * count
    assert transfers.device == (2 * size, 0)
    assert transfers.host == {"copied_inputs": 1, "copied_bytes": size, "aliased_results": 1,
                              "aliased_result_bytes": size}  # fmt: skip


def test_several_operands_and_results():
    """Each by itself: a shared and a copied operand, a copied and a shared result."""
    graph = mg.Graph()
    x, y = (graph.placeholder((SMALL,), "float32", name=name) for name in "xy")
    run = graph.compile(feeds=[x, y], targets=[graph.addition(x, y), graph.subtraction(x, y)], device="mps")
    first, second = page_aligned(SMALL), at_offset(SMALL, 4)
    total, difference = at_offset(SMALL, 8), tensor_data(SMALL)
    first[...], second[...] = 5, 2
    with Transfers() as transfers:
        run.run([first, second], results=[total, difference])
    assert (total == 7).all() and (np.asarray(difference) == 3).all()
    assert transfers.device == (8 * SMALL, 8 * SMALL)


def test_a_failed_run_delivers_nothing():
    operand, result = on_pages((SMALL,)), at_offset(SMALL, 4)
    operand[...], result[...] = 3, 7
    testing.fail_command_buffers(1)
    with Transfers() as transfers, pytest.raises(mg.DeviceError):
        mg.square(operand, device="mps", out=result)
    assert (result == 7).all()
    assert transfers.device == (operand.nbytes, 0)


def test_the_cpu_engine_reads_and_writes_memory_where_it_lies():
    operand, result = at_offset(SMALL, 4), at_offset(SMALL, 8)
    operand[...] = 3
    with Transfers() as transfers:
        mg.square(operand, device="cpu", out=result)
    assert (result == 9).all()
    assert transfers.device == (0, 0)
    assert transfers.host["aliased_inputs"] == transfers.host["aliased_results"] == 1
