"""What a result should say about where it was measured."""

import datetime
import os
import platform
import time
from importlib import metadata
from pathlib import Path

PROCESSORS = Path("/sys/devices/system/cpu")
PACKAGES = ("mpsgraph-native", "numpy", "torch", "jax", "jaxlib", "mlx")


def _text(path):
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def cpu_model():
    for line in _text(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def last_level_cache_bytes():
    """0 where the system does not tell."""
    sizes = [_text(path) for path in PROCESSORS.glob("cpu0/cache/index*/size")]
    return max((int(size[:-1]) << 10 for size in sizes if size.endswith("K")), default=0)


def processors():
    """Those that this process may use, one of each core before the second ones."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))

    def place_in_core(number):
        siblings = _text(PROCESSORS / f"cpu{number}/topology/thread_siblings_list")
        # "0,64" or "0-1": a processor is its core's first one when the list begins with it.
        return siblings != "" and siblings.replace("-", ",").split(",")[0] != str(number)

    return sorted(os.sched_getaffinity(0), key=lambda number: (place_in_core(number), number))


def versions():
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def busy_fraction(seconds=1.0):
    """How much of the machine's processors other work takes, from idle (0) to all of it (1)."""

    def ticks():
        values = [int(value) for value in _text(Path("/proc/stat")).splitlines()[0].split()[1:9]]
        return sum(values), values[3] + values[4]  # idle, and waiting for a disk

    if not Path("/proc/stat").exists():
        return min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(1, total_after - total)


def warning(machine):
    """What a reader must know about other work on a described machine; None where it was idle."""
    if machine["busy"] < 0.2:
        return None
    return f"other work took {machine['busy']:.0%} of the machine's processors at the start"


def describe():
    """Called before anything is measured, so that the work on the machine is other people's."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "processors": len(processors()),
        "busy": round(busy_fraction(), 2),
        "last_level_cache_bytes": last_level_cache_bytes(),
        "system": platform.platform(),
        "versions": versions(),
    }
