import os
import subprocess
import sys

import pytest

import mpsgraph_native as mg


def pytest_collection_modifyitems(config, items):
    """Leaves out what the device under test, the default one, cannot compute, and what is about no device."""
    if mg.default_device().name != "mps":
        return

    def concerns(item):
        return not (item.get_closest_marker("float64") or item.get_closest_marker("types"))

    left_out = [item for item in items if not concerns(item)]
    items[:] = [item for item in items if concerns(item)]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def command(tmp_path):
    """Runs python -m mpsgraph_native in another directory."""

    def run(*arguments, environment=None):
        return subprocess.run(
            [sys.executable, "-m", "mpsgraph_native", *arguments], capture_output=True, text=True, timeout=300,
            check=False, cwd=tmp_path, env=os.environ | (environment or {}),
        )  # fmt: skip

    return run
