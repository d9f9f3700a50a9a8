"""Long runs that are interrupted, and runs in flight when the interpreter exits."""

import os
import signal
import textwrap

import pytest
from process_support import ON_CPU, WORK, ended, needs_fork, python

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
    _, short = lasting(1)
    print("ready", flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    (value,) = short.run([identity])
    ended = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert (value == identity).all()
    print(rung[0] < ended)
    """
    assert ended(code)[:2] == (0, "True\n")


def test_a_run_of_another_thread_is_not_interrupted():
    """Python gives signals to its main thread."""
    code = """
    _, short = lasting(1)
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.extend(short.run([identity])))
    thread.start()
    print("ready", flush=True)
    try:
        while thread.is_alive():
            time.sleep(0.01)
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()
    print((outcomes[0] == identity).all())
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
