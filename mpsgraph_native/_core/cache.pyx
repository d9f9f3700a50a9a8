# cython: freethreading_compatible=True
"""The executable cache."""

from mpsgraph_native._native.executable_cache cimport (
    CacheInformation,
    cache_information,
)
from mpsgraph_native._native.executable_cache cimport clear_cache as native_clear_cache
from mpsgraph_native._native.executable_cache cimport set_cache_limits

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


_from_environment = os.environ.get("MPSGRAPH_NATIVE_CACHE_LIMIT_BYTES")
if _from_environment:
    try:
        set_cache_limit(bytes=int(_from_environment))
    except ValueError:
        raise ShapeError(
            f"MPSGRAPH_NATIVE_CACHE_LIMIT_BYTES must be a number of bytes, got {_from_environment!r}") from None
