"""Programs that run under an allocator of ours, and the founding operations that they call."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("allocations")
IMAGES = [
    *(f"{prefix}convolution_2d{suffix}" for prefix in ("", "depthwise_") for suffix in ("", "_data_gradient", "_weights_gradient")),
    "max_pooling_2d", "max_pooling_2d_return_indices", "max_pooling_2d_gradient", "max_pooling_2d_gradient from source",
    "avg_pooling_2d", "avg_pooling_2d_gradient",
]  # fmt: skip


def labels(*ways):
    """What the programs print about: every operation in every layout, dtype and way to call it."""
    return [
        f"{operation} {dtype} {way}"
        for operation in (
            *(f"{operation} {layout}" for operation in IMAGES for layout in ("NCHW", "NHWC")),
            *(f"{cell}{suffix}" for cell in ("gru", "lstm", "single_gate_rnn") for suffix in ("", "_gradients")),
        )
        for dtype in ("float32", "float16")
        for way in ways
    ]


def needs(compiler):
    """Marks of a module whose programs run under an allocator that `compiler` builds."""
    return [
        pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator needs glibc"),
        pytest.mark.skipif(shutil.which(compiler) is None, reason=f"the allocator needs {compiler}"),
        pytest.mark.skipif(
            "MPSGRAPH_NATIVE_TESTED_SANITIZERS" in os.environ, reason="sanitizers bring an allocator of their own"
        ),
    ]


def run_under(allocator, compiler, program, *arguments, folder):
    """What the program prints when it runs under the allocator, which is built once in `folder`."""
    library = folder / f"{Path(allocator).stem}.so"
    if not library.exists():
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", FOLDER / allocator, "-o", library], check=True)
    done = subprocess.run(
        [sys.executable, str(FOLDER / program), *map(str, arguments)], capture_output=True, text=True, timeout=300,
        check=False, env=os.environ | {"LD_PRELOAD": str(library)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
