from mpsgraph_native._native.engine cimport Engine


cdef class Device:
    """One engine of this build: `name`, whether it is `available`, the `reason` why not, a `description`."""

    cdef const Engine* engine
    cdef readonly str name

cdef Device resolve_device(object device)
