from mpsgraph_native._core.errors cimport raise_native_error


cdef extern from "runtime/pages.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass Pages:
        void* data
        size_t capacity

    cdef cppclass PageStatistics:
        size_t live_bytes
        size_t recycled_bytes
        size_t acquisitions
        size_t mappings

    Pages acquire_pages(size_t) except +raise_native_error
    void release_pages(Pages)
    PageStatistics page_statistics()
    void trim_pages()
