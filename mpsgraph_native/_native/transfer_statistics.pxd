from libc.stdint cimport uint64_t


cdef extern from "runtime/transfer_statistics.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass TransferStatistics:
        uint64_t device_aliased_bytes
        uint64_t device_copied_bytes

    TransferStatistics transfer_statistics()
