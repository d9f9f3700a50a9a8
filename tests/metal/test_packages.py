"""Compiled executables of the mps engine on disk, and its settings.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import logging
import os
import subprocess
import sys
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


@pytest.mark.parametrize("name", ["MPSGRAPH_NATIVE_OPTIMIZATION", "MPSGRAPH_NATIVE_CACHE"])
def test_settings_without_a_meaning_are_refused_at_import(name):
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import mpsgraph_native"], env=os.environ | {name: "fast"}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert name in done.stderr


def test_settings_come_from_the_environment(tmp_path):
    code = "import mpsgraph_native as mg; print(mg.optimization_level(), mg.compiled_storage())"
    for variables, expected in (
        ({"MPSGRAPH_NATIVE_OPTIMIZATION": "1", "MPSGRAPH_NATIVE_CACHE_DIR": str(tmp_path)}, f"1 {tmp_path}"),
        ({"MPSGRAPH_NATIVE_CACHE": "0", "MPSGRAPH_NATIVE_CACHE_DIR": str(tmp_path)}, "0 None"),
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
