# cython: freethreading_compatible=True
"""The native side of a descriptor."""


cdef class DescriptorCore:
    def __cinit__(self, *arguments, **fields):
        self.operations = {}
