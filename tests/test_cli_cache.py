"""python -m mpsgraph_native cache: what is kept on disk, on machines with and without the engine that keeps it."""

import datetime
import json
import os

import pytest
from mps_support import MPS, add, needs_mps
from support import counting

import mpsgraph_native as mg

SIGNATURE = """\
mpsgraph_native 0.1.0
macOS 15.4 build 24E248
GPU Apple M2
optimization level 0
placeholder(shape=(3,), dtype=float32) -> float32(3,)
addition() 0.0 0.0 -> float32(3,)
square() 1.0 -> float32(3,)
square() 2.0 -> float32(3,)
feeds 0.0
targets 3.0
"""


# Fed with nothing, and with one file as its package.
ENTRY = f"mpsgraph_native package, format 1\n\n0 \n100 {'0' * 32} .\n\n{SIGNATURE}"


def entry(directory, key, *, used, size=100, text=ENTRY):
    """Makes an entry; gives its size."""
    folder = directory / key
    folder.mkdir(parents=True)
    (folder / "package").write_bytes(bytes(size))
    (folder / "entry").write_text(text)
    os.utime(folder / "entry", (used, used))
    return size + len(text)


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "kept"


@pytest.fixture
def cache(command, directory):
    def run(*arguments, **environment):
        here = {"MPSGRAPH_NATIVE_CACHE_DIR": str(directory), "MPSGRAPH_NATIVE_CACHE": "1"}
        return command("cache", *arguments, environment=here | environment)

    return run


def document(done):
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return json.loads(done.stdout)


def test_list(cache, directory):
    sizes = [entry(directory, "a" * 32, used=1_000_000), entry(directory, "0" * 32, used=2_000_000, size=5000)]
    entry(directory, "f" * 32, used=500, text="nothing of ours")
    listed = document(cache("list", "--json", MPSGRAPH_NATIVE_CACHE_DIR_LIMIT_BYTES="12345"))
    assert listed["directory"] == str(directory)
    assert listed["limit_bytes"] == 12345
    assert listed["engine"] == MPS.reason
    assert [found["key"] for found in listed["entries"]] == ["0" * 32, "a" * 32, "f" * 32]
    newest, oldest, damaged = listed["entries"]
    assert (newest["bytes"], oldest["bytes"]) == (sizes[1], sizes[0])
    assert listed["bytes"] == sum(sizes) + damaged["bytes"]
    assert datetime.datetime.fromisoformat(newest["last_used"]).timestamp() == 2_000_000
    assert newest["operations"] == ["placeholder", "addition", "square", "square"]
    assert newest["made_for"] == SIGNATURE.splitlines()[:4]
    assert damaged["operations"] is None and damaged["made_for"] is None
    text = cache("list")
    assert text.returncode == 0, text.stderr
    expected = (
        str(directory),
        "3 executables",
        "a" * 32,
        "1970-01-24T03:33:20+00:00",
        "2 square",
        "damaged",
        MPS.reason,
    )
    for words in expected:
        assert words in text.stdout


def test_clear(cache, directory):
    for number in range(3):
        entry(directory, f"{number:032x}", used=number)
    (directory / "notes.txt").write_text("not ours")
    (directory / ".new-1-1").mkdir()
    os.utime(directory / ".new-1-1", (0, 0))
    (directory / ".new-1-2").mkdir()  # somebody may be writing it
    assert document(cache("clear", "--json")) == {"directory": str(directory), "removed": 3}
    assert sorted(path.name for path in directory.iterdir()) == [".new-1-2", "notes.txt"]
    done = cache("clear")
    assert done.returncode == 0 and "0 executables removed" in done.stdout
    assert document(cache("list", "--json"))["entries"] == []


def test_a_directory_that_is_not_there(cache, directory):
    listed = document(cache("list", "--json"))
    assert (listed["directory"], listed["entries"], listed["bytes"]) == (str(directory), [], 0)
    assert document(cache("clear", "--json"))["removed"] == 0
    assert not directory.exists()


def test_nothing_is_kept(cache):
    for action in ("list", "clear"):
        done = cache(action, MPSGRAPH_NATIVE_CACHE="0")
        assert done.returncode == 0 and "MPSGRAPH_NATIVE_CACHE" in done.stdout
        assert document(cache(action, "--json", MPSGRAPH_NATIVE_CACHE="0"))["directory"] is None


def test_a_directory_that_cannot_be_read(cache, directory):
    directory.write_text("a file")
    for action in ("list", "clear"):
        done = cache(action, "--json")
        assert done.returncode == 1
        assert str(directory) in done.stderr and "Traceback" not in done.stderr
        assert not done.stdout
    assert directory.read_text() == "a file"


@pytest.mark.parametrize("arguments", [(), ("empty",), ("list", "--yaml"), ("clear", "now")], ids=" ".join)
def test_unknown_arguments(cache, arguments):
    done = cache(*arguments)
    assert done.returncode == 2
    assert "usage" in done.stderr and "Traceback" not in done.stderr


@needs_mps
def test_what_the_engine_keeps(cache, directory):
    storage, limit = mg.compiled_storage(), mg.compiled_storage_limit()
    try:
        mg.set_compiled_storage(directory)
        mg.clear_cache()
        add(counting(3), counting(3))
        listed = document(cache("list", "--json"))
        (kept,) = listed["entries"]
        assert kept["operations"] == ["placeholder", "placeholder", "addition"]
        assert kept["made_for"][0] == f"mpsgraph_native {mg.__version__}"
        assert kept["bytes"] == sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
        assert document(cache("clear", "--json"))["removed"] == 1
        mg.clear_cache()
        add(counting(3), counting(3))
        assert len(document(cache("list", "--json"))["entries"]) == 1
    finally:
        mg.set_compiled_storage(storage, limit_bytes=limit)
        mg.clear_cache()
