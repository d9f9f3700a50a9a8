"""The package inside a process: fork, spawn, exceptions on worker threads, import, exit."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import pytest
from mps_support import MPS, needs_stand_in

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


# Steps of some ten milliseconds each, many minutes of them.
LONG_RUN = """
    import signal, threading, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    graph = mg.Graph()
    t = product = graph.placeholder((700, 700), "float32", name="t")
    for _ in range(20000):
        product = graph.matrix_multiplication(product, t)
    executable = graph.compile(feeds=[t], targets=[product], device="cpu")
    values = np.zeros((700, 700), np.float32)
"""


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


INTERRUPTED = {
    "run": "executable.run([values])",
    "results": "executable.run([values], results=[np.empty_like(values)])",
    "profile": "executable.run([values], profile=True)",
    "graph": "graph.run({t: values}, [product], device='cpu')",
    "result": "executable.run_async([values]).result()",
}


@pytest.mark.parametrize("how", INTERRUPTED)
def test_an_interrupt_ends_a_long_run(how):
    code = f"""
    print("ready", flush=True)
    try:
        {INTERRUPTED[how]}
    except KeyboardInterrupt:
        print("interrupted")
    (total,) = graph.run({{t: values}}, [graph.reduction_sum(t, axes=None)], device="cpu")
    print(total.ravel())
    """
    status, output, errors = ended(code, send=signal.SIGINT)
    assert (status, output.split("\n")[:2]) == (0, ["interrupted", "[0.]"]), errors


def test_an_interrupt_that_nobody_handles():
    status, _, errors = ended("print('ready', flush=True)\nexecutable.run([values])", send=signal.SIGINT)
    assert status == -signal.SIGINT
    assert errors.strip().endswith("KeyboardInterrupt")


def test_what_another_handler_raises():
    code = """
    class Alarm(Exception):
        pass
    def ring(number, frame):
        raise Alarm("enough")
    signal.signal(signal.SIGALRM, ring)
    print("ready", flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        executable.run([values])
    except Alarm as alarm:
        print(alarm)
    """
    assert ended(code)[:2] == (0, "enough\n")


def test_a_handler_that_raises_nothing_ends_no_run():
    code = """
    rung = []
    signal.signal(signal.SIGALRM, lambda number, frame: rung.append(time.monotonic()))
    short = t
    for _ in range(60):
        short = graph.matrix_multiplication(short, t)
    short = graph.compile(feeds=[t], targets=[short], device="cpu")
    print("ready", flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    (value,) = short.run([np.eye(700, dtype=np.float32)])
    ended = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert (value == np.eye(700)).all()
    print(rung[0] < ended)
    """
    assert ended(code)[:2] == (0, "True\n")


def test_a_run_of_another_thread_is_not_interrupted():
    """Python gives signals to its main thread."""
    code = """
    short = t
    for _ in range(60):
        short = graph.matrix_multiplication(short, t)
    short = graph.compile(feeds=[t], targets=[short], device="cpu")
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.extend(short.run([np.eye(700, dtype=np.float32)])))
    thread.start()
    print("ready", flush=True)
    try:
        while thread.is_alive():
            time.sleep(0.01)
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()
    print((outcomes[0] == np.eye(700)).all())
    """
    status, output, errors = ended(code, send=signal.SIGINT)
    assert status == 0, errors
    assert output.split()[-1] == "True"


@pytest.mark.parametrize("leave", ["", "raise SystemExit(3)", "raise ValueError('over')"], ids=["end", "exit", "error"])
def test_exit_with_long_runs_in_flight(leave):
    """What waits is cancelled, what runs ends before its next step."""
    code = f"""
    futures = [executable.run_async([values]) for _ in range(5)]
    futures[1].add_done_callback(lambda future: print("cancelled", future.cancelled(), flush=True))
    while not futures[0].running():
        time.sleep(0.01)
    print("ready", flush=True)
    {leave}
    """
    status, output, errors = ended(code)
    assert (status, output) == ({"": 0, "raise SystemExit(3)": 3}.get(leave, 1), "cancelled True\n")
    assert errors == "" or "over" in errors


def test_runs_that_are_started_during_the_exit_are_refused():
    code = """
    from mpsgraph_native import _future
    _future._exit()
    try:
        executable.run_async([values])
    except RuntimeError as error:
        print("ready", flush=True)
        print(error)
    """
    status, output, _ = ended(code)
    assert status == 0 and "exits" in output


@needs_fork
def test_an_interrupt_ends_a_run_of_a_child_that_another_thread_forked():
    """That thread is the child's main thread."""
    code = """
    import os
    def fork():
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status))
            return
        signal.alarm(60)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            executable.run([values])
        except KeyboardInterrupt:
            os._exit(3)
        os._exit(0)
    print("ready", flush=True)
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    """
    environment = ON_CPU | {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    status, output, errors = ended(code, environment=environment)
    assert (status, output) == (0, "3\n"), errors


@needs_fork
def test_a_forked_child_runs_asynchronously():
    code = """
    short = graph.compile(feeds=[t], targets=[graph.square(t)], device="cpu")
    first = short.run_async([values]).result(60)
    busy = [executable.run_async([values]) for _ in range(2)]
    while not busy[0].running():
        time.sleep(0.01)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        (value,) = short.run_async([values + 2]).result(30)
        os._exit(0 if (value == 4).all() else 1)
    _, status = os.waitpid(child, 0)
    print("ready", flush=True)
    print(status)
    """
    environment = ON_CPU | {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    status, output, errors = ended("import os\n" + textwrap.dedent(code), environment=environment)
    assert (status, output) == (0, "0\n"), errors


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
