"""Memory of the mps engine: what the device shares and what it copies.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import mmap

import numpy as np
import pytest
from mps_support import (  # noqa: F401  fixtures
    add,
    at_offset,
    counter,
    macos,
    needs_mps,
    needs_stand_in,
    on_pages,
    stand_in,
    undisturbed,
)
from support import counting, names

import mpsgraph_native as mg
from mpsgraph_native._core import testing

pytestmark = [needs_mps, pytest.mark.usefixtures("undisturbed")]


def test_memory_around_an_output_stays():
    whole = on_pages((4096,))
    whole[...] = 7
    mg.square(counting(10), device="mps", out=whole[16:26])
    np.testing.assert_array_equal(whole[16:26], counting(10) ** 2)
    assert (whole[:16] == 7).all() and (whole[26:] == 7).all()


def test_memory_mapped_files(tmp_path):
    counting(5000).tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", np.float32, mode="r")
    np.testing.assert_array_equal(mg.square(mapped, device="mps"), counting(5000) ** 2)


@needs_stand_in
def test_recurring_arrays_are_viewed_once():
    aliased = counter("aliased_bytes")
    a, out = on_pages((3000,)), on_pages((3000,))
    a[...] = 1
    add(a, a, out=out)
    before = aliased()
    for _ in range(20):
        add(a, a, out=out)
    assert aliased() == before


@needs_stand_in
def test_views_die_with_their_memory():
    """An adopted array's pages go back to the system, and no view of them is left to be found."""
    live = counter("live_objects")
    add(on_pages((3000,)), on_pages((3000,)))
    mg.trim_memory()
    before = live()
    arrays = [on_pages((3000,)) for _ in range(40)]
    for array in arrays:
        array[...] = 2
        mg.addition(array, array, device="mps")
    assert live() >= before + 40
    del array, arrays
    mg.trim_memory()
    assert live() <= before
    for size in range(1, 200):
        array = on_pages((size * 50,))
        array[...] = size
        np.testing.assert_array_equal(mg.square(array, device="mps"), size * size)
        mg.trim_memory()


def foreign(count):
    """An array on pages that are not this package's, and the mapping."""
    pages = mmap.mmap(-1, 4 * count)
    return np.frombuffer(pages, np.float32), pages


@needs_stand_in
def test_views_of_memory_that_is_not_ours_end_with_the_call():
    """Such memory does not tell when it dies, and other arrays may lie there next."""
    views, live = counter("live_views"), counter("live_objects")
    array, pages = foreign(1 << 15)
    array.flags.writeable = True
    out = on_pages(array.shape)
    for expected in (2, 3):
        array[...] = expected
        before = views()
        mg.square(array, device="mps", out=out)
        if expected == 3:
            assert views() == before  # the result's is kept: its memory is ours
        assert (out == expected**2).all()
    testing.fail_command_buffers(1)
    before, objects = views(), live()
    with pytest.raises(mg.DeviceError):
        mg.square(array, device="mps", out=out)
    assert (views(), live()) == (before, objects)
    with pytest.raises(mg.ShapeError):
        mg.addition(array, array[:7], device="mps")
    assert views() == before
    del array
    pages.close()  # BufferError while anything held it


@needs_stand_in
def test_memory_that_comes_again_at_the_same_address_is_read_anew():
    """MLX tests/test_zero_copy: an adopted buffer that is found again by its address shows what was there before."""
    places = set()
    out = on_pages((1 << 14,))
    for value in range(200):
        array, pages = foreign(1 << 14)
        array.flags.writeable = True
        places.add(array.ctypes.data)
        array[...] = value
        mg.square(array, device="mps", out=out)
        assert (out == np.float32(value) ** 2).all()
        del array
        pages.close()
    assert len(places) < 200  # the system gave a place again


@needs_stand_in
def test_arrays_that_nobody_holds_live_until_an_asynchronous_run_is_done():
    graph = mg.Graph()
    x = graph.placeholder((1 << 15,), "float32", name="x")
    executable = graph.compile(feeds=[x], targets=[graph.square(x)], device="mps")
    stand_in("set_delay", None)(50)
    try:
        futures = []
        for value in range(5):
            array, pages = foreign(1 << 15)
            array.flags.writeable = True
            array[...] = value
            futures.append(executable.run_async([array]))
            del array, pages
        for value, future in enumerate(futures):
            assert (future.result(60)[0] == value**2).all()
    finally:
        stand_in("set_delay", None)(0)


def test_views_of_more_mappings_than_are_kept():
    """512 views are kept; the least recently used ones go, and come back."""
    arrays = [on_pages((1024,)) for _ in range(530)]
    for round_ in range(2):
        for index, array in enumerate(arrays):
            array[...] = index + round_
            mg.square(array, device="mps")
    for index, array in enumerate(arrays):
        assert (mg.square(array, device="mps") == np.float32(index + 1) ** 2).all()


@pytest.mark.parametrize("offset", [4, 64])
def test_memory_that_the_device_cannot_share_is_refused_or_copied(offset):
    """actions/runner-images#10663, Metal.jl#62: without a copy, memory begins on a page."""
    array = at_offset(100, offset)
    array[...] = 2
    with pytest.raises(BufferError, match=rf"obj needs a copy: its alignment .* {offset} bytes behind"):
        mg.asarray(array, copy=False, device="mps")
    copied = mg.asarray(array, device="mps")
    assert not np.shares_memory(np.asarray(copied), array)
    assert mg.asarray(np.asarray(copied), copy=False, device="mps").nbytes == 400
    assert np.shares_memory(np.asarray(mg.asarray(array, copy=False, device="cpu")), array)


@pytest.mark.parametrize("offset", [0, 16384])
def test_memory_on_a_page_is_shared(offset):
    array = at_offset(1 << 14, offset) if not offset else at_offset(1 << 14, 0)[offset // 4 :]
    shared = mg.asarray(array, copy=False, device="mps")
    assert np.shares_memory(np.asarray(shared), array)


def test_a_part_of_ours_is_shared_from_macos_15(macos):  # noqa: F811
    part = on_pages((4, 1024))[1:, 16:]
    row = part[0]
    macos(15, 0)
    assert np.shares_memory(np.asarray(mg.asarray(row, copy=False, device="mps")), row)
    with pytest.raises(BufferError, match="alignment"):
        mg.asarray(row[1:], copy=False, device="mps")
    macos(14, 7)
    with pytest.raises(BufferError, match=names("alignment")):
        mg.asarray(row, copy=False, device="mps")


@needs_stand_in
def test_objects_do_not_accumulate():
    live = counter("live_objects")
    a, small = on_pages((64, 64)), at_offset(100, 4)
    a[...], small[...] = 1, 1

    def work():
        for _ in range(50):
            add(a, a)
            mg.square(small, device="mps")
            testing.fail_command_buffers(1)
            with pytest.raises(mg.DeviceError):
                add(a, a)

    work()
    before = live()
    work()
    assert live() == before
