cimport numpy as cnp

from mpsgraph_native._native.pages cimport Pages
from mpsgraph_native._native.types cimport DataType, TensorType


cdef class PageBlock:
    """Owner of one block of pages; the base object of every array that lies in it."""

    cdef Pages pages
    cdef readonly str origin

cdef class HostArray:
    """An object of ours that holds an ndarray; None once it is closed."""

    cdef cnp.ndarray array
    cdef Py_ssize_t lent  # exports that are alive
    cdef bint pinned  # its address was handed out, and nobody tells when it is used for the last time


cdef class Loan:
    """One export of a HostArray: the base object of an ndarray that was lent."""

    cdef HostArray owner

cdef PageBlock new_block(size_t size, str origin)
cdef cnp.ndarray open_array(HostArray owner)
cdef cnp.ndarray lend(HostArray owner)

cdef int data_type_of(cnp.dtype descriptor, DataType* result) except -1
cdef cnp.dtype descriptor_of(DataType dtype)
cdef object new_array(const TensorType* tensor_type, str origin)
cdef tuple shape_of(const TensorType* tensor_type)
cdef bint has_shape(cnp.ndarray array, const TensorType* tensor_type) noexcept
cdef str reason_for_copy(cnp.ndarray array)
cdef str origin_of(cnp.ndarray array)


cdef inline bint is_plain(cnp.ndarray array) noexcept:
    """Whether an engine can read the array as it lies: C-contiguous, aligned, native byte order."""
    return (cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)
            and cnp.PyArray_ISNOTSWAPPED(array))
