from libc.stdint cimport int64_t


cdef extern from "runtime/threads.hpp" namespace "mpsgraph_native" nogil:
    int thread_count()
    void set_thread_count(int)
    void fail_in_worker_for_testing(int64_t)
