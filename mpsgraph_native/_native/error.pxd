from libcpp.string cimport string


cdef extern from "graph/error.hpp" namespace "mpsgraph_native" nogil:
    cdef enum class ErrorKind:
        Shape
        DType
        Device
        Compile
        Interrupted
        Memory
        Other

    cdef cppclass ErrorRecord:
        ErrorKind kind
        string message

    ErrorRecord current_error()
