"""The sanitizers see every part of the package: each planted fault ends a process that ends well without it.

run_stand_in.sh says which sanitizers the build has; other builds have nothing to test.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mpsgraph_native._core import testing

SANITIZERS = os.environ.get("MPSGRAPH_NATIVE_TESTED_SANITIZERS", "").split(",")
FOLDER = Path(testing.__file__).parent

SETUP = """
    import ctypes, sys, threading
    import numpy as np, mpsgraph_native as mg
    from mpsgraph_native._core import testing
    from pathlib import Path
    library = ctypes.CDLL(next(Path(testing.__file__).parent.glob("libmpsgraph_native_core.*")))
    c = ctypes.CDLL(None)
    c.malloc.restype = ctypes.c_void_p
    c.malloc.argtypes = [ctypes.c_size_t]
    c.free.argtypes = [ctypes.c_void_p]

    def array_at(address, count):
        return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))

    mg.square(np.ones(3, np.float32))
"""

needs = {
    name: pytest.mark.skipif(name not in SANITIZERS, reason=f"needs a build with the sanitizer {name}")
    for name in ("address", "thread", "undefined")
}


def reported(code, **options):
    """What the sanitizers write about the process; empty when it ended well."""
    options = {"ASAN_OPTIONS": "", "UBSAN_OPTIONS": "", "TSAN_OPTIONS": "halt_on_error=1"} | options
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(SETUP) + textwrap.dedent(code)],
        capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {name: f"{os.environ.get(name, '')}:log_path=stderr:{value}" for name, value in options.items()},
    )  # fmt: skip
    assert (done.returncode != 0) == ("Sanitizer" in done.stderr or "runtime error" in done.stderr), done.stderr
    return done.stderr if done.returncode else ""


def libraries():
    return [pytest.param(path, id=path.name.split(".")[0]) for path in sorted(FOLDER.glob("*.so"))]


@pytest.mark.skipif(SANITIZERS == [""], reason="needs a build with sanitizers")
@pytest.mark.parametrize("path", libraries())
def test_every_library_is_instrumented(path):
    marks = {"address": b"__asan_init", "thread": b"__tsan_func_entry", "undefined": b"__ubsan_handle_"}
    content = path.read_bytes()
    assert [name for name in SANITIZERS if marks[name] not in content] == []


@pytest.mark.skipif(SANITIZERS == [""], reason="needs a build with sanitizers")
@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_calls_without_a_fault(device):
    code = f"""
    memory = c.malloc(4000)
    array_at(memory, 1000)[...] = 2
    assert (mg.square(array_at(memory, 1000), device={device!r}) == 4).all()
    c.free(memory)
    block = mg.square(np.ones(1000, np.float32), device={device!r}).base
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(block))
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(block))
    """
    assert reported(code) == ""


@needs["address"]
def test_a_leaked_object_of_the_engine():
    report = reported("library.stand_in_plant_leak()")
    assert "detected memory leaks" in report and "stand_in_plant_leak" in report and "class_createInstance" in report


@needs["address"]
def test_a_leaked_object_of_an_extension_module():
    """Of a type that Python's collector does not track: its lists refer to all others as long as the process lives."""
    code = """
    block = mg.square(np.ones(1000, np.float32)).base
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(block))
    """
    # Python has no frame pointers, so that only the slow unwinder comes from its allocator to its caller.
    report = reported(code, ASAN_OPTIONS="fast_unwind_on_malloc=0")
    assert "detected memory leaks" in report and "PageBlock" in report


@needs["address"]
def test_a_message_to_a_dead_object():
    report = reported("library.stand_in_plant_message_to_the_dead()")
    assert "heap-use-after-free" in report and "objcrt_lookup" in report


@needs["address"]
@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_an_operand_whose_memory_is_gone(device):
    code = f"""
    memory = c.malloc(4000)
    operand = array_at(memory, 1000)
    c.free(memory)
    mg.square(operand, device={device!r})
    """
    assert "heap-use-after-free" in reported(code)


@needs["undefined"]
def test_undefined_behaviour():
    assert "signed integer overflow" in reported("library.stand_in_plant_overflow()")


@needs["thread"]
def test_two_threads_on_one_integer():
    report = reported("library.stand_in_plant_race()")
    assert "data race" in report and "planted_faults.mm" in report


@needs["thread"]
@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_two_threads_that_write_one_result(device):
    code = f"""
    # Beside a page, so that device mps delivers what it computed on the calling thread.
    source, result = np.ones(1 << 16, np.float32), np.ones((1 << 16) + 1, np.float32)[1:]
    def work():
        for _ in range(20):
            mg.square(source, device={device!r}, out=result)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    """
    assert "data race" in reported(code)
