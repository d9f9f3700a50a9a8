"""What `mpsgraph-native info` tells."""

import json
import os
import platform
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy

import mpsgraph_native as mg

__all__ = ["collect", "main"]

_settings = {
    "MPSGRAPH_NATIVE_ENGINE": "the default device; set_default_device()",
    "MPSGRAPH_NATIVE_THREADS": "threads of the cpu engine; set_num_threads()",
    "MPSGRAPH_NATIVE_ISA": "instruction set of the cpu engine; set_instruction_set()",
    "MPSGRAPH_NATIVE_PRECISION": "fast or exact algorithms of the cpu engine; set_precision()",
    "MPSGRAPH_NATIVE_CACHE_LIMIT_BYTES": "bound of the executable cache; set_cache_limit()",
    "MPSGRAPH_NATIVE_CACHE": "0: mps keeps no compiled executables on disk; set_compiled_storage()",
    "MPSGRAPH_NATIVE_CACHE_DIR": "where it keeps them; set_compiled_storage()",
    "MPSGRAPH_NATIVE_CACHE_DIR_LIMIT_BYTES": "bound of what is kept there; set_compiled_storage()",
    "MPSGRAPH_NATIVE_OPTIMIZATION": "MPSGraph's optimization level, 0 or 1; set_optimization_level()",
}


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


_import = """
import time, numpy
began = time.perf_counter()
import mpsgraph_native
print(time.perf_counter() - began)
"""


def _import_seconds() -> float | None:
    """What importing the package takes in a fresh process that has NumPy; None where none can be started."""
    try:
        done = subprocess.run([sys.executable, "-P", "-c", _import], capture_output=True, timeout=60, check=True)
        return float(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def collect() -> dict[str, Any]:
    """Everything as plain values, ready for JSON."""
    available, in_use = mg.instruction_sets()
    return {
        "versions": {
            "mpsgraph_native": mg.__version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "ml_dtypes": _version_of("ml_dtypes"),
            "platform": platform.platform(),
        },
        "engines": [
            {
                "name": device.name,
                "available": device.available,
                "reason": device.reason,
                "description": device.description,
                "default": device.name == mg.default_device().name,
            }
            for device in mg.devices()
        ],
        "import_seconds": _import_seconds(),
        "threads": mg.get_num_threads(),
        "instruction_sets": {"available": available, "in_use": in_use},
        "cache": mg.cache_info()._asdict(),
        "memory": mg.memory_statistics(),
        "environment": {name: os.environ.get(name) for name in _settings},
    }


def _lines(information: dict[str, Any]) -> Iterator[str]:
    yield "versions"
    for name, value in information["versions"].items():
        yield f"  {name:<16} {value or 'not installed'}"
    yield "engines"
    for engine in information["engines"]:
        state = engine["description"] if engine["available"] else f"not available: {engine['reason']}"
        yield f"  {engine['name']:<16} {state}{' (default)' if engine['default'] else ''}"
    seconds = information["import_seconds"]
    yield f"import             {'not measured' if seconds is None else f'{seconds * 1e3:.0f} ms beside NumPy'}"
    yield f"threads            {information['threads']}"
    sets = information["instruction_sets"]
    yield f"instruction sets   {', '.join(sets['available'])}; in use: {sets['in_use']}"
    cache = information["cache"]
    yield (
        f"executable cache   {cache['entries']} entries, {cache['bytes']} bytes; at most {cache['limit_entries']} entries, "
        f"{cache['limit_bytes']} bytes"
    )
    yield "environment"
    for name, meaning in _settings.items():
        yield f"  {name:<34} {information['environment'][name] or 'not set'}  ({meaning})"


def main(arguments: Namespace) -> int:
    information = collect()
    if arguments.json:
        json.dump(information, sys.stdout, indent=2)
        print()
    else:
        print("\n".join(_lines(information)))
    return 0
