# cython: freethreading_compatible=True
"""Fault hooks for tests. Nothing here is part of the public interface."""

from libc.stdint cimport int64_t

from mpsgraph_native._native.device_faults cimport fail_command_buffers_for_testing, hide_devices_for_testing
from mpsgraph_native._native.executable_cache cimport force_hash_collisions_for_testing
from mpsgraph_native._native.threads cimport fail_in_worker_for_testing
from mpsgraph_native._native.version cimport native_version as native_version_string


def force_hash_collisions(bint enabled):
    """Makes every signature hash to the same value: only full comparison tells executables apart."""
    force_hash_collisions_for_testing(enabled)


def fail_in_worker(int64_t chunk_index):
    """Makes the next parallel task throw in that chunk; -1 disarms the hook."""
    fail_in_worker_for_testing(chunk_index)


def fail_command_buffers(int count):
    """Makes the next `count` command buffers of a device report an error."""
    fail_command_buffers_for_testing(count)


def hide_devices(bint hidden):
    """Makes the system report no device."""
    hide_devices_for_testing(hidden)


def native_version():
    """The version that the native core was built as."""
    return native_version_string().decode()
