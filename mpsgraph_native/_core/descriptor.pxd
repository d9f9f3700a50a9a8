cdef class DescriptorCore:
    """What every descriptor has beside its fields."""

    cdef dict operations  # built from it, by name: building one costs more than a small call
