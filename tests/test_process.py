"""The package inside a process: fork, spawn, exceptions on worker threads, import, exit."""

import os
import subprocess
import sys
import textwrap

import pytest
from mps_support import MPS, needs_stand_in
from process_support import ON_CPU, TIMEOUT, WORK, needs_fork, python

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


def test_import_is_quiet():
    assert python("import mpsgraph_native") == ""


def test_import_starts_no_thread():
    code = "import threading, mpsgraph_native; print(threading.active_count(), len(os.listdir('/proc/self/task')))"
    if os.path.isdir("/proc/self/task"):
        before = int(python("import os, numpy; print(len(os.listdir('/proc/self/task')))"))
        assert python("import os; " + code) == f"1 {before}"


@needs_stand_in
@pytest.mark.parametrize("engine", ["mps", None])
def test_import_looks_for_no_gpu(engine):
    """Only the first call that needs a device does."""
    code = """
    import ctypes, importlib.util, pathlib
    (place,) = importlib.util.find_spec("mpsgraph_native").submodule_search_locations
    (core,) = pathlib.Path(place).rglob("libmpsgraph_native_core.so")
    core = ctypes.CDLL(str(core))
    core.stand_in_set_device_present(0)
    import mpsgraph_native as mg
    core.stand_in_set_device_present(1)
    print(mg.default_device().name, mg.default_device().available)
    """
    assert python(code, environment={"MPSGRAPH_NATIVE_ENGINE": engine or ""}) == "mps True"


def test_an_unknown_engine_is_refused_at_import():
    code = """
    try:
        import mpsgraph_native
    except RuntimeError as error:
        print(type(error).__name__, error)
    """
    printed = python(code, environment={"MPSGRAPH_NATIVE_ENGINE": "abacus"})
    assert printed.startswith("DeviceError MPSGRAPH_NATIVE_ENGINE") and "abacus" in printed


@pytest.mark.skipif(MPS.available, reason="this machine has Metal")
def test_an_engine_that_is_missing_is_refused_at_the_first_use():
    code = """
    import numpy as np, mpsgraph_native as mg
    x = np.ones(3, np.float32)
    for use in (lambda: mg.square(x), mg.default_device):
        try:
            use()
        except mg.DeviceError as error:
            print("MPSGRAPH_NATIVE_ENGINE" in str(error) and mg.devices()[0].reason in str(error))
    print(mg.square(x, device="cpu").sum())
    mg.set_default_device("cpu")
    print(mg.square(x).sum())
    """
    assert python(code, environment={"MPSGRAPH_NATIVE_ENGINE": "mps"}).split() == ["True", "True", "3.0", "3.0"]


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
