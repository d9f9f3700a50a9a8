"""Helpers of the tests of the mps engine, which run on a Mac and on the stand-in."""

import contextlib
import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

import mpsgraph_native as mg
from mpsgraph_native._core import testing

MPS = next(device for device in mg.devices() if device.name == "mps")
STAND_IN = "stand-in" in MPS.description

needs_mps = pytest.mark.skipif(not MPS.available, reason=f"device mps: {MPS.reason}")
needs_stand_in = pytest.mark.skipif(not STAND_IN, reason="only the stand-in counts")


@pytest.fixture
def undisturbed():
    storage, limit = mg.compiled_storage(), mg.compiled_storage_limit()
    mg.set_compiled_storage(None)
    mg.clear_cache()
    yield
    testing.fail_command_buffers(0)
    testing.hide_devices(False)
    testing.set_macos_version(0, 0)
    mg.set_compiled_storage(storage, limit_bytes=limit)
    mg.set_optimization_level(0)
    mg.clear_cache()


@pytest.fixture
def macos():
    """Makes the engine decide as on an older macOS, and takes from the stand-in what is younger."""

    def pretend(major, minor):
        testing.set_macos_version(major, minor)
        mg.clear_cache()
        if STAND_IN:
            stand_in("set_macos_version", None)(major, minor, 0)

    yield pretend
    testing.set_macos_version(0, 0)
    if STAND_IN:
        stand_in("set_macos_version", None)(26, 0, 0)
    mg.clear_cache()


def stand_in(name, result=ctypes.c_long):
    """A control or counter of the stand-in, which lives in the core library."""
    library = ctypes.CDLL(next(Path(testing.__file__).parent.glob("libmpsgraph_native_core.*")))
    function = getattr(library, f"stand_in_{name}")
    function.restype = result
    return function


def counter(name):
    return stand_in(name)


class Transfers:
    """What was shared and copied inside the block: `device` is (aliased, copied) bytes, `host` what else changed."""

    def __enter__(self):
        self.before = mg.transfer_statistics()
        return self

    def __exit__(self, *_):
        changes = {name: value - self.before[name] for name, value in mg.transfer_statistics().items()}
        self.aliased, self.copied = self.device = tuple(
            changes.pop(f"device_{how}_bytes") for how in ("aliased", "copied")
        )
        self.host = {name: change for name, change in changes.items() if change}


def on_pages(shape, dtype="float32"):
    return np.asarray(mg.empty(shape, dtype))


def at_offset(count, offset, dtype="float32"):
    """An array whose memory begins `offset` bytes after a page."""
    page = os.sysconf("SC_PAGESIZE")
    size = count * np.dtype(dtype).itemsize
    memory = np.empty(size + 2 * page + offset, np.uint8)
    start = -memory.ctypes.data % page + offset
    return memory[start : start + size].view(dtype)


def add(a, b, **keywords):
    return mg.addition(a, b, device="mps", **keywords)


def control(name):
    """A function of the stand-in that gives nothing, looked up when it is called."""

    def call(*arguments):
        function = counter(name)
        function.restype = None
        function(*arguments)

    return call


@contextlib.contextmanager
def method_replaced(selector, replacement):
    """Has messages with `selector` answered by another method: "standInNothing" gives nil, an unknown one raises."""
    control("replace_method")(selector.encode(), replacement.encode())
    try:
        yield
    finally:
        control("replace_method")(selector.encode(), None)


@contextlib.contextmanager
def losses_expected():
    """Has LeakSanitizer look away: an initializer that was replaced does not give its object back."""
    process = ctypes.CDLL(None)
    watched = hasattr(process, "__lsan_disable")
    if watched:
        process.__lsan_disable()
    try:
        yield
    finally:
        if watched:
            process.__lsan_enable()


def live_objects():
    """How many Objective-C objects live on the stand-in, by class; blocks on the heap count too."""
    counts = {}
    report = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_long)
    control("report_live_objects")(report(lambda name, count: counts.update({name.decode(): count})))
    return counts
