from mpsgraph_native._native.engine cimport InterruptionCheck


cdef InterruptionCheck check_of_this_thread() noexcept
