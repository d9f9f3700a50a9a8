# cython: freethreading_compatible=True
"""Fault hooks for tests. Nothing here is part of the public interface."""

from libc.stdint cimport int64_t

from mpsgraph_native._native.device_faults cimport (
    fail_command_buffers_for_testing,
    hide_devices_for_testing,
)
from mpsgraph_native._native.executable_cache cimport force_hash_collisions_for_testing
from mpsgraph_native._native.metal_tables cimport (
    AvailabilityRow,
    KnownFaultRow,
    availability_rows,
    known_fault_rows,
    set_macos_version_for_testing,
)
from mpsgraph_native._native.threads cimport fail_in_worker_for_testing
from mpsgraph_native._native.version cimport native_version as native_version_string

from typing import NamedTuple


class Availability(NamedTuple):
    """A row of the mps engine's table of operations; `introduced` is a macOS version (major, minor)."""

    operation: str
    form: str
    selector: str
    introduced: tuple
    substitute: str


class KnownFault(NamedTuple):
    """A row of the mps engine's table of MPSGraph's faults; `fixed_in` is None while no macOS without it is known.

    `encounters` counts how often it was refused or led a lowering another way since the start.
    """

    operations: tuple
    condition: str
    fixed_in: tuple | None
    remedy: str
    instead: str
    source: str
    encounters: int


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


def set_macos_version(int major, int minor):
    """Makes the mps engine decide as on that macOS; (0, 0): as on this machine's."""
    set_macos_version_for_testing(major, minor)


def availability():
    """What every operation is lowered to on the mps engine."""
    cdef AvailabilityRow row
    return [
        Availability(
            row.operation.decode(), row.form.decode(), row.selector.decode(),
            (row.introduced_major, row.introduced_minor), row.substitute.decode())
        for row in availability_rows()
    ]


def known_faults():
    """The faults of MPSGraph that the mps engine refuses or goes around, in the order of their enumeration."""
    cdef KnownFaultRow row
    remedies = ("refuse shape", "refuse device", "circumvent", "avoid")
    return [
        KnownFault(
            tuple([operation.decode() for operation in row.operations]), row.condition.decode(),
            (row.fixed_in_major, row.fixed_in_minor) if row.fixed_in_major else None, remedies[row.remedy],
            row.instead.decode(), row.source.decode(), row.encounters)
        for row in known_fault_rows()
    ]


def native_version():
    """The version that the native core was built as."""
    return native_version_string().decode()
