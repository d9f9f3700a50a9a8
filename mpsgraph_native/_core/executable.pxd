from libcpp.memory cimport shared_ptr

from mpsgraph_native._core.device cimport Device
from mpsgraph_native._native.engine cimport Executable as NativeExecutable


cdef class Executable:
    cdef shared_ptr[NativeExecutable] native
    cdef Device place
    cdef readonly tuple feeds
    cdef readonly tuple targets
    cdef readonly tuple last_profile
    cdef tuple feed_names, result_names  # in messages
