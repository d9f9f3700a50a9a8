"""The machine's limits: multiply-adds per second on registers, bytes per second of a triad, on a number of threads."""

import ctypes
import os
import shutil
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from .machine import last_level_cache_bytes

SOURCE = Path(__file__).with_name("limits.c")
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC")
LEAST_STREAM_BYTES = 192 << 20
MOST_STREAM_BYTES = 3 << 30
SECONDS = 0.01  # of one multiply-add probe


class NoCompiler(RuntimeError):
    pass


def compile_library():
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler:
        raise NoCompiler("no C compiler (cc, or CC): the machine's limits are not measured")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "limits.so")
        done = subprocess.run([*compiler.split(), *FLAGS, str(SOURCE), "-o", path], capture_output=True, text=True)
        if done.returncode:
            raise NoCompiler(f"{compiler} cannot compile {SOURCE.name}: {done.stderr.strip()}")
        return ctypes.CDLL(path)


def _aligned(count):
    line = 64
    memory = np.empty(count * 4 + line, np.uint8)
    start = -memory.ctypes.data % line
    return memory[start : start + count * 4].view(np.float32)


class Limits:
    """Probes that are run between the libraries of a row, so that a drifting machine moves them all."""

    def __init__(self, threads):
        self.threads = threads
        library = compile_library()
        # ctypes lets go of the GIL, so that the parts run at the same time.
        self._multiply_add = library.multiply_add
        self._multiply_add.restype = ctypes.c_int64
        self._multiply_add.argtypes = [ctypes.c_int64, ctypes.c_float, ctypes.c_float, ctypes.c_void_p]
        kinds = []
        for function in (library.triad, library.triad_streaming):
            function.restype = None
            function.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_float]
            kinds.append(function)
        self._pool = ThreadPoolExecutor(threads)
        total = min(max(LEAST_STREAM_BYTES, 4 * last_level_cache_bytes()), MOST_STREAM_BYTES)
        self._count = total // 3 // 4 // threads // 16 * 16
        # Every thread touches its own part first, which decides where the pages lie.
        self._parts = self._together(self._make_part)[1]
        self._triad = max(kinds, key=lambda kind: max(self._triad_with(kind) for _ in range(3)))
        self._steps = 10_000
        start = time.perf_counter()
        self._one_multiply_add(0)
        self._steps = max(1, int(self._steps * SECONDS / (time.perf_counter() - start)))

    def _make_part(self, _):
        part = [_aligned(self._count) for _ in range(3)]
        for array in part:
            array.fill(1)
        return part

    def _together(self, function):
        """Seconds from the first start to the last end, and the results."""
        barrier = threading.Barrier(self.threads)

        def timed(index):
            barrier.wait()
            start = time.perf_counter()
            result = function(index)
            return start, time.perf_counter(), result

        runs = list(self._pool.map(timed, range(self.threads)))
        return max(end for _, end, _ in runs) - min(start for start, _, _ in runs), [result for _, _, result in runs]

    def _one_multiply_add(self, _):
        result = ctypes.c_float()
        return self._multiply_add(self._steps, 0.5, 0.25, ctypes.byref(result))

    def _triad_with(self, function):
        def one(index):
            a, b, c = (array.ctypes.data for array in self._parts[index])
            function(self._count, a, b, c, 0.5)

        seconds, _ = self._together(one)
        return self.threads * self._count * 3 * 4 / seconds

    def multiply_add(self):
        """Operations per second, a multiply-add being two."""
        seconds, operations = self._together(self._one_multiply_add)
        return sum(operations) / seconds

    def triad(self):
        """Bytes per second that are read and written, counted once each: the faster kind of store."""
        return self._triad_with(self._triad)
