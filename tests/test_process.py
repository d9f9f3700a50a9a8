"""The package inside a process: fork, spawn, exceptions on worker threads, import, exit."""

import os
import subprocess
import sys
import tempfile
import textwrap

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


SPAWN = """
    import multiprocessing
    import numpy as np
    import mpsgraph_native as mg

    def work(k):
        return float(mg.reduction_sum(mg.square(np.full(3, k, np.float32)), axes=None).ravel()[0])

    if __name__ == "__main__":
        work(1)
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            print(pool.map(work, range(4)))
"""


def python(code, *, environment=None, cwd=None):
    """Runs code in a fresh interpreter; gives what it printed and asserts that it ended well."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=TIMEOUT, check=False,
        cwd=cwd or tempfile.gettempdir(), env=os.environ | (environment or {}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_fork
def test_fork_after_use():
    """pytorch/pytorch#178037: the child has no worker threads until it makes its own."""
    code = """
    import os, signal
    mg.set_num_threads(4)
    expected = gradient()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        same = np.array_equal(gradient(), expected) and mg.get_num_threads() == 4
        os._exit(0 if same else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    assert np.array_equal(gradient(), expected)
    print("both")
    """
    assert python(textwrap.dedent(WORK) + textwrap.dedent(code), environment=ON_CPU) == "both"


@needs_fork
def test_fork_while_another_thread_computes():
    code = """
    import os, signal, threading
    mg.set_num_threads(2)
    expected = gradient()
    stop = threading.Event()
    def loop():
        while not stop.is_set():
            gradient()
    busy = threading.Thread(target=loop)
    busy.start()
    for _ in range(10):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if np.array_equal(gradient(), expected) else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
    stop.set()
    busy.join()
    print("all")
    """
    environment = ON_CPU | {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    assert python(textwrap.dedent(WORK) + textwrap.dedent(code), environment=environment) == "all"


def test_a_fresh_process_gives_the_same_bits():
    code = """
    import hashlib
    print(hashlib.sha256(gradient().tobytes()).hexdigest())
    """
    environment = {"MPSGRAPH_NATIVE_THREADS": "2"}
    first, second = (python(textwrap.dedent(WORK) + textwrap.dedent(code), environment=environment) for _ in range(2))
    assert first == second


def test_spawned_workers_compute(tmp_path):
    """multiprocessing's spawn: every worker imports the package anew."""
    script = tmp_path / "spawned.py"
    script.write_text(textwrap.dedent(SPAWN))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0.0, 3.0, 12.0, 27.0]"


def test_import_is_quick_and_quiet():
    """Importing takes no device and prints nothing; most of the time is NumPy's."""
    code = """
    import time, numpy
    began = time.perf_counter()
    import mpsgraph_native
    print(time.perf_counter() - began)
    """
    assert float(python(code)) < 1.0


def test_import_does_not_load_torch_or_jax():
    code = "import sys, mpsgraph_native; print([m for m in ('torch', 'jax', 'mlx', 'tensorflow') if m in sys.modules])"
    assert python(code) == "[]"


@pytest.mark.parametrize("chunk", range(8))
def test_exception_on_a_worker(chunk):
    """tillahoffmann/jax-mps c71e5f8: it reaches the caller, and the pool goes on.

    A task of fewer chunks has no later one to fail in; the first is always there.
    """
    code = f"""
    from mpsgraph_native._core import testing
    mg.set_num_threads(8)
    expected = gradient()
    testing.fail_in_worker({chunk})
    try:
        calm = np.array_equal(gradient(), expected)
    except (RuntimeError, MemoryError):
        print("raised")
    else:
        print("calm" if calm else "wrong")
    testing.fail_in_worker(-1)
    for _ in range(3):
        assert np.array_equal(gradient(), expected)
    """
    printed = python(textwrap.dedent(WORK) + textwrap.dedent(code), environment=ON_CPU)
    assert printed in (("raised",) if chunk == 0 else ("raised", "calm"))


def test_exit_with_work_in_flight():
    """Unread futures and a busy daemon thread do not keep the interpreter or crash it."""
    code = """
    import threading
    graph = mg.Graph()
    t = graph.placeholder((256, 256), "float32", name="t")
    executable = graph.compile(feeds=[t], targets=[graph.matrix_multiplication(t, t)])
    values = np.ones((256, 256), np.float32)
    futures = [executable.run_async([values]) for _ in range(20)]
    def loop():
        while True:
            gradient()
    threading.Thread(target=loop, daemon=True).start()
    print("end")
    """
    # Python frees nothing of the daemon threads that it ends; only the address sanitizer minds.
    environment = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    assert python(textwrap.dedent(WORK) + textwrap.dedent(code), environment=environment) == "end"


def test_exit_with_objects_in_cycles():
    code = """
    class Holder: pass
    holder = Holder()
    holder.self = holder
    holder.tensor = mg.empty((1000,), "float32")
    holder.graph = mg.Graph()
    holder.view = memoryview(holder.tensor)
    print("end")
    """
    assert python(textwrap.dedent(WORK) + textwrap.dedent(code)) == "end"


@pytest.mark.parametrize(("threads", "expected"), [("1", 1), ("3", 3)])
def test_threads_from_the_environment(threads, expected):
    code = "import mpsgraph_native as mg; print(mg.get_num_threads())"
    assert int(python(code, environment={"MPSGRAPH_NATIVE_THREADS": threads})) == expected


@needs_fork
def test_fork_while_other_threads_compute():
    """pytorch/pytorch#178037: locks that another thread held at the fork are free in the child."""
    code = """
    import os, signal, threading
    import numpy as np, mpsgraph_native as mg

    def work(k):
        x = np.ones((1, 2, 8 + k % 5, 8), np.float32)
        w = np.ones((2, 2, 3, 3), np.float32)
        d = mg.Convolution2DDescriptor()
        dy = mg.convolution_2d(x, w, descriptor=d)
        mg.convolution_2d_weights_gradient(dy, x, output_shape=w.shape, descriptor=d)
        if k % 7 == 0:
            mg.clear_cache()

    def forever():
        k = 0
        while True:
            work(k)
            k += 1

    for _ in range(3):
        threading.Thread(target=forever, daemon=True).start()
    for child in range(40):
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)  # a hang ends the child by a signal
            for k in range(8):
                work(k)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert status == 0, f"child {child} ended with {status}"
    print("done")
    os._exit(0)
    """
    # os._exit leaves nothing flushed, so the exit status tells.
    python(code, environment=ON_CPU)
