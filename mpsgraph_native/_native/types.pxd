from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool
from libcpp.string cimport string

from mpsgraph_native._core.errors cimport raise_native_error


cdef extern from *:
    """
    #include <span>
    """
    cdef cppclass IntegerSpan "std::span<const std::int64_t>":
        IntegerSpan(const int64_t*, size_t)


cdef extern from "graph/types.hpp" namespace "mpsgraph_native" nogil:
    cdef enum class DataType(uint32_t):
        Float16
        Float32
        Float64
        BFloat16
        Int8
        Int16
        Int32
        Int64
        UInt8
        UInt16
        UInt32
        UInt64
        Bool

    size_t byte_size(DataType)
    const int maximum_rank

    cdef cppclass Shape:
        Shape()
        Shape(IntegerSpan) except +raise_native_error
        int rank() const
        int64_t operator[](int) const
        const int64_t* begin() const
        int64_t elements() const

    cdef cppclass TensorType:
        DataType dtype
        Shape shape
        size_t bytes() const
