"""Helpers of the tests that need a process of their own."""

import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import pytest

TIMEOUT = 120
# Metal has no life after a fork; the cpu engine has.
ON_CPU = {"MPSGRAPH_NATIVE_ENGINE": "cpu"}
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

WORK = """
    import numpy as np, mpsgraph_native as mg
    x = np.linspace(-1, 1, 2 * 16 * 32 * 32, dtype=np.float32).reshape(2, 16, 32, 32)
    dy = np.linspace(1, -1, 2 * 32 * 30 * 30, dtype=np.float32).reshape(2, 32, 30, 30)
    def gradient():
        return mg.convolution_2d_weights_gradient(
            dy, x, output_shape=(32, 16, 3, 3), descriptor=mg.Convolution2DDescriptor())
"""

# Runs of many seconds and of about one, on machines of every speed, sanitizers included.
LONG_RUN = """
    import signal, threading, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    graph = mg.Graph()
    t = graph.placeholder((200, 200), "float32", name="t")
    values, identity = np.zeros((200, 200), np.float32), np.eye(200, dtype=np.float32)
    def power(count):
        product = t
        for _ in range(count):
            product = graph.matrix_multiplication(product, t)
        return product, graph.compile(feeds=[t], targets=[product], device="cpu")
    def lasting(seconds):
        square = power(1)[1]
        square.run([values])
        began = time.monotonic()
        square.run([values])
        return power(min(50000, max(3, int(seconds / (time.monotonic() - began)))))
    product, executable = lasting(30)
"""


def python(code, *, environment=None, cwd=None):
    """Runs code in a fresh interpreter; gives what it printed and asserts that it ended well."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=TIMEOUT, check=False,
        cwd=cwd or tempfile.gettempdir(), env=os.environ | (environment or {}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ended(code, *, after="ready", send=None, environment=None):
    """Runs code in a fresh interpreter; sends it a signal after it printed a line. Gives exit status, output and errors."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WORK) + textwrap.dedent(LONG_RUN) + textwrap.dedent(code)],
            stdout=subprocess.PIPE, stderr=errors, text=True, cwd=tempfile.gettempdir(),
            env=os.environ | (environment or {}),
        )  # fmt: skip
        watchdog = threading.Timer(TIMEOUT, process.kill)
        watchdog.start()
        with process:
            first = process.stdout.readline().strip()
            if send is not None:
                time.sleep(0.3)
                process.send_signal(send)
            output = process.stdout.read()
        watchdog.cancel()
        errors.seek(0)
        said = errors.read()
    assert first == after, said
    return process.returncode, output, said
