cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uintptr_t
from libcpp.memory cimport shared_ptr

from mpsgraph_native._native.engine cimport Executable, InterruptionCheck
from mpsgraph_native._native.small_vector cimport SmallVector
from mpsgraph_native._native.types cimport TensorType


cdef struct Extent:
    uintptr_t begin, end  # 0, 0 for an array without elements


cdef cnp.ndarray as_input(object value, str operation, str argument)


cdef class Run:
    """One run of an executable: the arrays that it reads and writes, kept alive until they are handed over."""

    cdef shared_ptr[Executable] executable
    cdef SmallVector[PyObject*] given  # inputs as they came, as ndarrays; owned
    cdef SmallVector[PyObject*] written  # ndarrays on the results' memory; owned
    cdef SmallVector[Extent] extents  # of those in `given`, then of those in `written`
    cdef SmallVector[const void*] inputs
    cdef SmallVector[void*] outputs
    cdef list copies  # what is read in place of inputs that cannot be; None when there are none
    cdef list late  # (array, where the engine writes it) of results that are copied there; None when there are none
    cdef int64_t aliased_bytes  # of results that are written where they are wanted
    cdef tuple results  # what the caller gets

    cdef int take(self, cnp.ndarray array) except -1
    cdef int place_inputs(self) except -1
    cdef int place_results(self, object destinations, tuple names, str origin) except -1
    cdef int place_result(self, object destination, const TensorType* tensor_type, str where, str origin) except -1
    cdef int refuse_overlap(self, cnp.ndarray array, size_t other, str where) except -1
    cdef int write_into(self, cnp.ndarray array) except -1
    cdef int write_late(self, cnp.ndarray array, cnp.ndarray place) except -1
    cdef int execute(self, InterruptionCheck check) except -1
    cdef tuple deliver(self)
