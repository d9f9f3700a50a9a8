"""The mps engine and processes: a forked child is told to use spawn, a spawned one computes.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import os
import subprocess
import sys
import textwrap

import pytest
from mps_support import needs_mps

pytestmark = needs_mps

PREPARE = """
    import os, signal, sys
    import numpy as np, mpsgraph_native as mg
    x = np.ones(4, np.float32)
    graph = mg.Graph()
    p = graph.placeholder((4,), "float32", name="p")
    executable = graph.compile(feeds=[p], targets=[graph.square(p)], device="mps")
"""
IN_THE_CHILD = """
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a hang ends the child by a signal
        try:
            {child}
            os._exit(0)
        finally:
            os._exit(1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def fork(child, parent="executable.run([x])"):
    lines = "\n            ".join(textwrap.dedent(child).strip().splitlines())
    code = textwrap.dedent(PREPARE) + parent + "\n" + textwrap.dedent(IN_THE_CHILD.format(child=lines))
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


@needs_fork
@pytest.mark.parametrize(
    "use",
    [
        "executable.run([x])",
        "executable.run_async([x]).result(30)",
        "mg.addition(x, x, device='mps')",
        "graph.run(feeds={p: x}, targets=[graph.exponent(p)], device='mps')",
        "graph.compile(feeds=[p], targets=[graph.tanh(p)], device='mps')",
    ],
)
def test_a_forked_child_is_told_to_use_spawn(use):
    """pytorch/pytorch#178037: use after fork hangs or crashes."""
    fork(f"""
        try:
            {use}
        except mg.DeviceError as error:
            assert "use spawn" in str(error), error
        else:
            raise AssertionError("it ran")
        """)


@needs_fork
def test_a_forked_child_computes_on_the_cpu_and_frees_what_it_inherits():
    fork("""
        t = mg.asarray(x)
        assert (mg.addition(t, t, device="cpu") == 2).all()
        del executable
        mg.clear_cache()
        mg.trim_memory()
        """)


@needs_fork
def test_the_parent_computes_on():
    code = """
        before = executable.run([x])
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        assert (executable.run([2 * x])[0] == 4).all()
    """
    subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(PREPARE) + textwrap.dedent(code)], timeout=120, check=True
    )


@needs_fork
def test_a_process_that_did_not_look_for_the_gpu_may_fork():
    """Only what Metal has touched is lost in the child."""
    code = """
        import os, sys
        import numpy as np, mpsgraph_native as mg
        child = os.fork()
        if child == 0:
            x = np.ones(4, np.float32)
            os._exit(0 if (mg.addition(x, x, device="mps") == 2).all() else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    # With the device named, import asks no engine whether it is available.
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)],
        env=os.environ | {"MPSGRAPH_NATIVE_ENGINE": "cpu"}, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0


def test_a_spawned_child_computes(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        textwrap.dedent("""
            import multiprocessing
            import numpy as np
            import mpsgraph_native as mg

            def work(count):
                squares = mg.square(np.full(count, 2, np.float32), device="mps")
                return float(mg.reduction_sum(squares, axes=None, device="mps").ravel()[0])

            if __name__ == "__main__":
                work(1)
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    print(pool.map(work, range(1, 5)))
        """)
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[4.0, 8.0, 12.0, 16.0]"
