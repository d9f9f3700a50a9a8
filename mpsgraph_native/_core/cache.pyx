# cython: freethreading_compatible=True
"""The executable cache, in memory and on disk."""

from libcpp.string cimport string
from libcpp.vector cimport vector

from mpsgraph_native._native.device_settings cimport (
    DeviceSettings,
    Precision,
    device_settings,
    set_device_settings,
    set_warning_callback,
)
from mpsgraph_native._native.executable_cache cimport (
    CacheInformation,
    cache_information,
)
from mpsgraph_native._native.executable_cache cimport clear_cache as native_clear_cache
from mpsgraph_native._native.executable_cache cimport set_cache_limits
from mpsgraph_native._native.package_store cimport StoredEntry, clear_stored_entries, stored_entries

import contextlib
import logging
import operator
import os
from typing import NamedTuple

from mpsgraph_native.errors import DTypeError, ShapeError


class CacheInfo(NamedTuple):
    """State of the executable cache; counters run since the start or the last clear_cache()."""

    entries: int
    bytes: int
    hits: int
    misses: int
    evictions: int
    compile_seconds: float
    limit_entries: int
    limit_bytes: int


def cache_info():
    """Entries, bytes, hits, misses, evictions and compile time of the executable cache, and its limits."""
    cdef CacheInformation information = cache_information()
    return CacheInfo(
        information.entries, information.bytes, information.hits, information.misses, information.evictions,
        information.compile_seconds, information.limit_entries, information.limit_bytes)


def clear_cache():
    """Drops every cached executable and zeroes the counters. Running calls and Executables are not disturbed."""
    with nogil:
        native_clear_cache()


def _limit(value, name):
    if isinstance(value, bool):
        raise DTypeError(f"{name} must be an integer, got {value!r}")
    try:
        value = operator.index(value)
    except TypeError:
        raise DTypeError(f"{name} must be an integer, got {value!r}") from None
    if value < 0:
        raise ShapeError(f"{name} must be at least 0, got {value}")
    return min(value, 2**62)


def set_cache_limit(*, entries=None, bytes=None):
    """Bounds the executable cache; least recently used entries are evicted. None leaves a limit as it is."""
    cdef CacheInformation information = cache_information()
    cdef size_t limit_entries = information.limit_entries if entries is None else _limit(entries, "entries")
    cdef size_t limit_bytes = information.limit_bytes if bytes is None else _limit(bytes, "bytes")
    with nogil:
        set_cache_limits(limit_entries, limit_bytes)


@contextlib.contextmanager
def cache_limit(*, entries=None, bytes=None):
    """Within a `with` block, set_cache_limit(entries=, bytes=); at its end the limits that are given are as before.

    The limits are the process's: they hold for other threads too.
    """
    before = cache_info()
    set_cache_limit(entries=entries, bytes=bytes)
    try:
        yield
    finally:
        set_cache_limit(
            entries=None if entries is None else before.limit_entries, bytes=None if bytes is None else before.limit_bytes)


cdef void _log_warning(const char* message) noexcept with gil:
    # The native side calls without its locks, so that taking the GIL cannot deadlock.
    logging.getLogger("mpsgraph_native").warning("%s", message.decode("utf-8", "replace"))


set_warning_callback(_log_warning)
device_settings()  # reads the environment now, and refuses what has no meaning


def compiled_storage():
    """Where the mps engine keeps compiled executables between processes; None when it keeps none."""
    cdef DeviceSettings settings = device_settings()
    if not settings.package_cache or settings.package_cache_directory.empty():
        return None
    return os.fsdecode(settings.package_cache_directory)


def compiled_storage_limit():
    """How many bytes the executables in compiled_storage() may take together."""
    return device_settings().package_cache_limit_bytes


def set_compiled_storage(directory, *, limit_bytes=None):
    """Sets where the mps engine keeps executables that it compiles from now on; None: nowhere.

    `limit_bytes` bounds what they take together: when one is added beyond it, the least recently used ones are removed
    until an eighth is free. None leaves the limit as it is.
    """
    cdef DeviceSettings settings = device_settings()
    if limit_bytes is not None:
        settings.package_cache_limit_bytes = _limit(limit_bytes, "limit_bytes")
    settings.package_cache = directory is not None
    if directory is not None:
        settings.package_cache_directory = os.fsencode(directory)
    set_device_settings(settings)


class StoredExecutable(NamedTuple):
    """An executable that the mps engine keeps on disk."""

    key: str
    bytes: int
    last_used: float  # seconds since 1970
    made_for: tuple | None  # package, macOS, GPU and optimization level, in words; None where the entry is damaged
    operations: tuple | None  # kinds, in order


# What a signature of the mps engine begins with, before the program.
cdef enum:
    SIGNATURE_HEAD = 4


def stored_executables():
    """Every StoredExecutable in compiled_storage(), the most recently used first; OSError where it cannot be read."""
    directory = compiled_storage()
    if directory is None:
        return []
    cdef string native = os.fsencode(directory)
    cdef vector[StoredEntry] found
    try:
        with nogil:
            found = stored_entries(native)
    except RuntimeError as error:
        raise OSError(f"{directory}: {error}") from None
    result = []
    for entry in found:
        made_for = operations = None
        if entry.readable:
            lines = entry.signature.decode("utf-8", "replace").split("\n")
            made_for = tuple(lines[:SIGNATURE_HEAD])
            operations = tuple([line.partition("(")[0] for line in lines[SIGNATURE_HEAD:] if "(" in line])
        result.append(StoredExecutable(entry.key.decode(), entry.bytes, entry.last_used, made_for, operations))
    return result


def clear_stored_executables():
    """Removes every one; gives how many. OSError where one cannot be removed. Those in use are not disturbed."""
    directory = compiled_storage()
    if directory is None:
        return 0
    cdef string native = os.fsencode(directory)
    cdef size_t removed
    try:
        with nogil:
            removed = clear_stored_entries(native)
    except RuntimeError as error:
        raise OSError(f"{directory}: {error}") from None
    return removed


def precision():
    """What the cpu engine may choose among: "fast" or "exact"."""
    return "exact" if device_settings().precision == Precision.Exact else "fast"


def set_precision(value):
    """Sets it, "fast" or "exact", for what is compiled from now on; drops what array functions and graphs have compiled.

    "fast", the default, lets the cpu engine run 3 x 3 convolutions and their gradients by Winograd's minimal filtering, two
    to three times as fast, with about twice the rounding error of a plain sum, and relative to the largest values within
    five pixels rather than three. "exact" computes the sums of the formula and nothing else. Precisions of the types are the
    same in both; the mps engine computes as MPSGraph does.
    """
    cdef DeviceSettings settings = device_settings()
    if not isinstance(value, str) or value not in ("fast", "exact"):
        raise ShapeError(f'value must be "fast" or "exact", got {value!r}')
    settings.precision = Precision.Exact if value == "exact" else Precision.Fast
    set_device_settings(settings)
    clear_cache()


def optimization_level():
    """MPSGraph's optimization level of the mps engine."""
    return device_settings().optimization_level


def set_optimization_level(level):
    """Sets it, 0 or 1, for what is compiled from now on; drops what array functions and graphs have compiled.

    0 keeps to the core optimizations, so that results can be compared with the cpu engine's. 1 may place work on other
    units of the chip and change the last bits.
    """
    cdef DeviceSettings settings = device_settings()
    if isinstance(level, bool) or level not in (0, 1):
        raise ShapeError(f"level must be 0 or 1, got {level!r}")
    settings.optimization_level = level
    set_device_settings(settings)
    clear_cache()


_from_environment = os.environ.get("MPSGRAPH_NATIVE_CACHE_LIMIT_BYTES")
if _from_environment:
    try:
        set_cache_limit(bytes=int(_from_environment))
    except ValueError:
        raise ShapeError(
            f"MPSGRAPH_NATIVE_CACHE_LIMIT_BYTES must be a number of bytes, got {_from_environment!r}") from None
