"""Compiled executables of the mps engine on disk, and its settings.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import fcntl
import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from mps_support import add, counter, needs_mps, needs_stand_in, undisturbed  # noqa: F401  a fixture
from support import counting

import mpsgraph_native as mg
from mpsgraph_native._core import testing

pytestmark = [needs_mps, pytest.mark.usefixtures("undisturbed")]


def entries(directory):
    return sorted(path.name for path in directory.iterdir())


def test_executables_are_kept_on_disk(tmp_path):
    mg.set_compiled_storage(tmp_path)
    assert Path(mg.compiled_storage()) == tmp_path
    add(counting(3), counting(3))
    first = entries(tmp_path)
    assert len(first) == 1
    mg.clear_cache()
    np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))
    assert entries(tmp_path) == first
    add(counting(4), counting(4))
    mg.set_optimization_level(1)
    mg.clear_cache()
    add(counting(3), counting(3))
    assert len(entries(tmp_path)) == 3


@needs_stand_in
def test_a_kept_executable_is_not_compiled_again(tmp_path):
    mg.set_compiled_storage(tmp_path)
    graph = mg.Graph()
    x = graph.placeholder((2, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    targets = [graph.square(y), graph.subtraction(x, y), graph.addition(x, y)]
    compilations, loads = counter("compilations"), counter("package_loads")
    for expected in ((1, 0), (0, 1)):
        before = compilations(), loads()
        executable = graph.compile(feeds=[y, x], targets=targets, device="mps")
        results = executable.run([counting(3), 10 * counting(2, 3)])
        assert (compilations() - before[0], loads() - before[1]) == expected
        for got, want in zip(
            results,
            [counting(3) ** 2, 10 * counting(2, 3) - counting(3), 10 * counting(2, 3) + counting(3)],
            strict=True,
        ):
            np.testing.assert_array_equal(got, want)
        del executable
        mg.clear_cache()


@needs_stand_in
def test_an_executable_from_a_file_takes_the_kept_package(tmp_path):
    mg.set_compiled_storage(tmp_path / "kept")
    graph = mg.Graph()
    x, y = graph.placeholder((2, 3), name="x"), graph.placeholder((3,), name="y")
    executable = graph.compile(feeds=[y, x], targets=[graph.subtraction(x, y)], device="mps")
    executable.save(tmp_path / "saved")
    compilations, loads = counter("compilations"), counter("package_loads")
    before = compilations(), loads()
    mg.clear_cache()
    loaded = mg.Executable.load(tmp_path / "saved", device="mps")
    assert (compilations() - before[0], loads() - before[1]) == (0, 1)
    (value,) = loaded.run({"x": 10 * counting(2, 3), "y": counting(3)})
    np.testing.assert_array_equal(value, 10 * counting(2, 3) - counting(3))


@pytest.mark.parametrize("file", ["entry", "package"])
@pytest.mark.parametrize("damage", ["longer", "shorter", "changed", "missing"])
def test_a_damaged_entry_is_a_miss_with_one_warning(tmp_path, caplog, file, damage):
    mg.set_compiled_storage(tmp_path)
    add(counting(3), counting(3))
    folder = tmp_path / entries(tmp_path)[0]
    victim = folder / file
    if victim.is_dir():
        victim = next(path for path in sorted(victim.rglob("*")) if path.is_file())
    content = victim.read_bytes()
    if damage == "missing":
        victim.unlink()
    else:
        changed = bytes([content[0] ^ 1]) + content[1:]
        victim.write_bytes({"longer": content + b"x", "shorter": content[:-1], "changed": changed}[damage])
    mg.clear_cache()
    with caplog.at_level(logging.WARNING, "mpsgraph_native"):
        np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))
        mg.clear_cache()
        add(counting(3), counting(3))
    assert len([record for record in caplog.records if "is not used" in record.message]) == 1
    assert (folder / "entry").exists()


@needs_stand_in
def test_a_damaged_entry_is_replaced(tmp_path):
    mg.set_compiled_storage(tmp_path)
    add(counting(3), counting(3))
    entry = tmp_path / entries(tmp_path)[0] / "entry"
    compilations, loads = counter("compilations"), counter("package_loads")
    entry.write_bytes(entry.read_bytes()[:-1])
    for expected in ((1, 0), (0, 1)):
        before = compilations(), loads()
        mg.clear_cache()
        np.testing.assert_array_equal(add(counting(3), counting(3)), 2 * counting(3))
        assert (compilations() - before[0], loads() - before[1]) == expected


def size_of(directory):
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


@pytest.fixture
def one_size(tmp_path_factory):
    """What one executable of the tests below takes on disk."""
    directory = tmp_path_factory.mktemp("one")
    mg.set_compiled_storage(directory)
    add(counting(30), counting(30))
    mg.clear_cache()
    return size_of(directory)


def use(count):
    """The entry of a vector of that many elements, used once more; gives whether it was there."""
    mg.clear_cache()
    before = set(entries(Path(mg.compiled_storage())))
    np.testing.assert_array_equal(add(counting(count), counting(count)), 2 * counting(count))
    return set(entries(Path(mg.compiled_storage()))) <= before


def test_the_least_recently_used_executables_make_room(tmp_path, one_size):
    mg.set_compiled_storage(tmp_path, limit_bytes=3 * one_size + one_size // 2)
    assert mg.compiled_storage_limit() == 3 * one_size + one_size // 2
    for count in (31, 32, 33):
        assert not use(count)
    assert len(entries(tmp_path)) == 3
    assert use(31)  # 32 is now the one that was not used for the longest time
    assert not use(34)
    assert len(entries(tmp_path)) == 3 and size_of(tmp_path) <= mg.compiled_storage_limit()
    assert use(31) and use(33) and use(34)
    assert not use(32)


def test_a_lower_limit_counts_when_the_next_executable_is_added(tmp_path, one_size):
    mg.set_compiled_storage(tmp_path, limit_bytes=100 * one_size)
    for count in range(31, 37):
        use(count)
    mg.set_compiled_storage(tmp_path, limit_bytes=2 * one_size + one_size // 2)
    assert len(entries(tmp_path)) == 6
    use(37)
    assert len(entries(tmp_path)) == 2
    assert use(37) and use(36)


def test_what_was_there_before_counts(tmp_path, one_size):
    """Another process filled the directory."""
    code = f"""
        import numpy as np, mpsgraph_native as mg
        mg.set_compiled_storage({str(tmp_path)!r}, limit_bytes=2**30)
        for count in range(31, 37):
            mg.addition(np.ones(count, np.float32), np.ones(count, np.float32), device="mps")
    """
    subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(code)], timeout=120, check=True)
    assert len(entries(tmp_path)) == 6
    mg.set_compiled_storage(tmp_path, limit_bytes=3 * one_size + one_size // 2)
    use(40)
    assert len(entries(tmp_path)) == 3
    assert use(40)


def test_a_limit_of_nothing_keeps_nothing(tmp_path, caplog):
    mg.set_compiled_storage(tmp_path, limit_bytes=0)
    with caplog.at_level(logging.WARNING, "mpsgraph_native"):
        for count in (31, 32):
            assert not use(count) or not entries(tmp_path)
    assert not entries(tmp_path) and not caplog.records


def test_remains_of_processes_that_ended_are_removed(tmp_path, one_size):
    old, fresh, other = tmp_path / ".new-1-0", tmp_path / ".old-1-1", tmp_path / "notes"
    for folder in (old, fresh, other):
        folder.mkdir()
    (old / "package").write_bytes(b"half")
    (other / "text").write_bytes(bytes(10 * one_size))
    (other / "entry").write_text("of somebody else")
    os.utime(other / "entry", (1, 1))
    os.utime(old, (1, 1))
    mg.set_compiled_storage(tmp_path, limit_bytes=one_size + one_size // 2)
    use(31)
    use(32)
    assert not old.exists() and fresh.exists() and (other / "text").exists() and (other / "entry").exists()
    assert len(entries(tmp_path)) == 3


@pytest.mark.parametrize(
    "held, blocked", [(fcntl.LOCK_SH, "making room"), (fcntl.LOCK_EX, "reading")], ids=["reading", "making room"]
)
def test_reading_and_making_room_wait_for_each_other(tmp_path, one_size, held, blocked):
    """By a lock on the directory, which other processes see."""
    mg.set_compiled_storage(tmp_path, limit_bytes=one_size + one_size // 2)
    use(31)
    mg.clear_cache()
    kept = entries(tmp_path)
    directory = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(directory, held)
    count = 32 if blocked == "making room" else 31
    waiting = threading.Thread(target=lambda: add(counting(count), counting(count)))
    waiting.start()
    try:
        waiting.join(0.5)
        assert waiting.is_alive() and set(kept) <= set(entries(tmp_path))
    finally:
        os.close(directory)  # and thereby unlocks
        waiting.join(60)
    assert not waiting.is_alive()
    assert (entries(tmp_path) == kept) == (blocked == "reading")


def test_who_reads_an_executable_keeps_it(tmp_path, one_size, caplog):
    """One thread makes room while another reads: a miss, and nothing to warn of. The lock is between processes too."""
    mg.set_compiled_storage(tmp_path, limit_bytes=2 * one_size)
    wrong = []

    def work(thread):
        for step in range(60):
            count = 31 + (thread + step) % 5
            mg.clear_cache()
            if not np.array_equal(add(counting(count), counting(count)), 2 * counting(count)):
                wrong.append(count)

    with caplog.at_level(logging.WARNING, "mpsgraph_native"):
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong and not caplog.records
    assert size_of(tmp_path) <= mg.compiled_storage_limit()


@pytest.mark.parametrize(
    "limit, error", [(-1, mg.ShapeError), (True, mg.DTypeError), ("1 GiB", mg.DTypeError), (1.5, mg.DTypeError)]
)
def test_limits_without_a_meaning(tmp_path, limit, error):
    before = mg.compiled_storage(), mg.compiled_storage_limit()
    with pytest.raises(error, match="limit_bytes"):
        mg.set_compiled_storage(tmp_path, limit_bytes=limit)
    assert (mg.compiled_storage(), mg.compiled_storage_limit()) == before


def test_a_place_that_cannot_be_written_is_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    mg.set_compiled_storage(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING, "mpsgraph_native"):
        for count in (3, 4):
            np.testing.assert_array_equal(add(counting(count), counting(count)), 2 * counting(count))
    assert len([record for record in caplog.records if "are not kept" in record.message]) == 1


def test_nothing_is_kept_before_macos_14(tmp_path):
    testing.set_macos_version(13, 0)
    mg.set_compiled_storage(tmp_path)
    add(counting(3), counting(3))
    assert not entries(tmp_path)


def test_constants_are_part_of_the_signature(tmp_path):
    mg.set_compiled_storage(tmp_path)
    for value in (1.0, 1.0 + 2**-20):
        graph = mg.Graph()
        x = graph.placeholder((2,), "float32", name="x")
        constant = graph.constant(np.full(2, value, np.float32))
        (result,) = graph.compile(feeds=[x], targets=[graph.addition(x, constant)], device="mps").run(
            [np.zeros(2, np.float32)]
        )
        np.testing.assert_array_equal(result, np.float32(value))
    assert len(entries(tmp_path)) == 2


def test_large_constants_are_not_kept(tmp_path):
    mg.set_compiled_storage(tmp_path)
    graph = mg.Graph()
    x = graph.placeholder((1 << 15,), "float32", name="x")
    constant = graph.constant(np.ones(1 << 15, np.float32))
    graph.compile(feeds=[x], targets=[graph.addition(x, constant)], device="mps")
    assert not entries(tmp_path)


@pytest.mark.parametrize("level", [2, -1, True, "0"])
def test_optimization_levels(level):
    with pytest.raises(mg.ShapeError, match="level"):
        mg.set_optimization_level(level)


def test_another_level_drops_what_is_compiled():
    add(counting(3), counting(3))
    assert mg.cache_info().entries == 1
    mg.set_optimization_level(1)
    assert mg.cache_info().entries == 0


@pytest.mark.parametrize(
    "name", ["MPSGRAPH_NATIVE_OPTIMIZATION", "MPSGRAPH_NATIVE_CACHE", "MPSGRAPH_NATIVE_CACHE_DIR_LIMIT_BYTES"]
)
def test_settings_without_a_meaning_are_refused_at_import(name):
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import mpsgraph_native"], env=os.environ | {name: "fast"}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert name in done.stderr


def test_settings_come_from_the_environment(tmp_path):
    code = """if True:
        import mpsgraph_native as mg
        print(mg.optimization_level(), mg.compiled_storage(), mg.compiled_storage_limit())"""
    for variables, expected in (
        (
            {"MPSGRAPH_NATIVE_OPTIMIZATION": "1", "MPSGRAPH_NATIVE_CACHE_DIR": str(tmp_path)},
            f"1 {tmp_path} {2**30}",
        ),
        (
            {
                "MPSGRAPH_NATIVE_CACHE": "0",
                "MPSGRAPH_NATIVE_CACHE_DIR": str(tmp_path),
                "MPSGRAPH_NATIVE_CACHE_DIR_LIMIT_BYTES": "1000",
            },
            "0 None 1000",
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert done.stdout.strip() == expected
