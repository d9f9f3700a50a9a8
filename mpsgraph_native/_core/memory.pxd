cimport numpy as cnp

from mpsgraph_native._native.pages cimport Pages
from mpsgraph_native._native.types cimport DataType, TensorType


cdef class PageBlock:
    """Owner of one block of pages; the base object of every array that lies in it."""

    cdef Pages pages
    cdef readonly str origin

cdef PageBlock new_block(size_t size, str origin)

cdef int data_type_of(cnp.dtype descriptor, DataType* result) except -1
cdef cnp.dtype descriptor_of(DataType dtype)
cdef object new_array(const TensorType* tensor_type, str origin)
cdef tuple shape_of(const TensorType* tensor_type)
cdef bint has_shape(cnp.ndarray array, const TensorType* tensor_type) noexcept
cdef bint is_plain(cnp.ndarray array) noexcept
cdef str origin_of(cnp.ndarray array)
