# cython: freethreading_compatible=True
"""Fault hooks for tests. Nothing here is part of the public interface."""

from libc.stdint cimport int64_t

from mpsgraph_native._native.executable_cache cimport force_hash_collisions_for_testing
from mpsgraph_native._native.threads cimport fail_in_worker_for_testing


def force_hash_collisions(bint enabled):
    """Makes every signature hash to the same value: only full comparison tells executables apart."""
    force_hash_collisions_for_testing(enabled)


def fail_in_worker(int64_t chunk_index):
    """Makes the next parallel task throw in that chunk; -1 disarms the hook."""
    fail_in_worker_for_testing(chunk_index)
