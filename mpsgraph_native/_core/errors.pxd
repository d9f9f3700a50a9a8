cdef int raise_native_error() except -1
