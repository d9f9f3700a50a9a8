"""Memory of the mps engine: what the device shares and what it copies.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import numpy as np
import pytest
from mps_support import Transfers, add, at_offset, counter, needs_mps, needs_stand_in, on_pages, undisturbed  # noqa: F401  a fixture
from support import counting

import mpsgraph_native as mg
from mpsgraph_native._core import testing

pytestmark = [needs_mps, pytest.mark.usefixtures("undisturbed")]


def test_page_aligned_memory_is_shared():
    a, b = on_pages((64, 65)), on_pages((64, 65))
    a[...], b[...] = counting(64, 65), 2
    with Transfers() as transfers:
        result = add(a, b)
    np.testing.assert_array_equal(result, counting(64, 65) + 2)
    assert (transfers.aliased, transfers.copied) == (3 * a.nbytes, 0)


def test_results_land_in_the_callers_memory():
    a, out = on_pages((1000,)), on_pages((1000,))
    a[...] = 3
    with Transfers() as transfers:
        assert add(a, a, out=out) is out
    np.testing.assert_array_equal(out, 6)
    assert transfers.copied == 0


@pytest.mark.parametrize("offset", [4, 16, 64])
def test_small_memory_beside_pages_is_copied_once(offset):
    a, b, out = (at_offset(100, offset) for _ in range(3))
    a[...], b[...] = 1, 2
    with Transfers() as transfers:
        add(a, b, out=out)
    np.testing.assert_array_equal(out, 3)
    assert (transfers.aliased, transfers.copied) == (0, 1200)


@pytest.mark.parametrize("version, shared", [((15, 0), True), ((14, 0), False)])
def test_large_memory_beside_pages_is_shared_from_macos_15(version, shared):
    testing.set_macos_version(*version)
    a = at_offset(1 << 15, 64)
    a[...] = np.arange(a.size)
    with Transfers() as transfers:
        result = mg.square(a, device="mps")
    np.testing.assert_array_equal(result, a * a)
    assert transfers.copied == (0 if shared else a.nbytes)


@pytest.mark.parametrize("offset", [4, 8])
def test_an_offset_that_the_device_cannot_read_is_copied(offset):
    a = at_offset(1 << 15, offset)
    a[...] = 2
    with Transfers() as transfers:
        np.testing.assert_array_equal(mg.square(a, device="mps"), 4)
    assert transfers.copied == a.nbytes


def test_views_into_shared_memory():
    whole = on_pages((3, 4096))
    whole[...] = np.arange(3)[:, None]
    with Transfers() as transfers:
        for row in range(3):
            add(whole[row], whole[row], out=whole[(row + 1) % 3])
    assert transfers.copied == 0
    np.testing.assert_array_equal(whole[:, 0], [0, 0, 0])


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
