"""Once its first calls are over, no founding operation allocates anything: counted, in a process of its own, never timed."""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("steady_state")
# Threads, size, calls. The larger size has work for both threads and scratch on pages.
RUNS = [(1, 8, 10_000), (2, 8, 10_000), (1, 32, 100), (2, 32, 100)]
IMAGES = [
    *(f"{prefix}convolution_2d{suffix}" for prefix in ("", "depthwise_") for suffix in ("", "_data_gradient", "_weights_gradient")),
    "max_pooling_2d", "max_pooling_2d_return_indices", "max_pooling_2d_gradient", "max_pooling_2d_gradient from source",
    "avg_pooling_2d", "avg_pooling_2d_gradient",
]  # fmt: skip
CASES = [
    f"{operation} {dtype} {way}"
    for operation in (
        *(f"{operation} {layout}" for operation in IMAGES for layout in ("NCHW", "NHWC")),
        *(f"{cell}{suffix}" for cell in ("gru", "lstm", "single_gate_rnn") for suffix in ("", "_gradients")),
    )
    for dtype in ("float32", "float16")
    for way in ("function", "executable")
]
pytestmark = [
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the counter needs glibc"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="the counter needs a C compiler"),
    pytest.mark.skipif(
        "MPSGRAPH_NATIVE_TESTED_SANITIZERS" in os.environ, reason="sanitizers bring a malloc of their own"
    ),
]


@functools.cache
def counts(folder, threads, size, times):
    """What grew over so many calls, by operation, layout, dtype and way to call."""
    library = folder / "counter.so"
    if not library.exists():
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", FOLDER / "counter.c", "-o", library], check=True)
    done = subprocess.run(
        [sys.executable, "-P", str(FOLDER / "workload.py"), *map(str, (threads, size, times))], capture_output=True,
        text=True, timeout=300, check=False, env=os.environ | {"LD_PRELOAD": str(library)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("steady_state")


runs = pytest.mark.parametrize("run", RUNS, ids=lambda run: "{} thread(s), size {}, {} calls".format(*run))


@runs
def test_every_founding_operation_is_counted(folder, run):
    found = counts(folder, *run)
    assert sorted(found) == sorted([*CASES, "control"])
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
