# cython: freethreading_compatible=True
"""Pages, ndarrays that lie in them, and loans of such arrays."""

cimport cython
cimport numpy as cnp
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t

from mpsgraph_native._native.pages cimport (
    PageStatistics,
    acquire_pages,
    page_statistics,
    release_pages,
    trim_pages,
)
from mpsgraph_native._native.types cimport DataType, TensorType

import numpy as np

from mpsgraph_native.errors import DTypeError

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(
        cnp.PyTypeObject* subtype, cnp.dtype descriptor, int nd, const cnp.npy_intp* dims, const cnp.npy_intp* strides,
        void* data, int flags, object base)
    cnp.PyTypeObject PyArray_Type
    int NPY_ARRAY_CARRAY
    int NPY_ARRAY_WRITEABLE


@cython.final
@cython.no_gc
cdef class PageBlock:
    def __init__(self):
        raise TypeError("PageBlock is made by the package alone")

    def __dealloc__(self):
        # Without the GIL: another thread may hold the recycler's lock, and returning pages may take a system call.
        if self.pages.data is not NULL:
            with nogil:
                release_pages(self.pages)


cdef class HostArray:
    pass


@cython.final
@cython.no_gc_clear
cdef class Loan:
    def __init__(self):
        raise TypeError("Loan is made by the package alone")

    def __dealloc__(self):
        if self.owner is not None:
            with cython.critical_section(self.owner):
                self.owner.lent -= 1


cdef cnp.ndarray open_array(HostArray owner):
    """The owner's array; ValueError once it is closed."""
    cdef cnp.ndarray array
    with cython.critical_section(owner):
        array = owner.array
    if array is None:
        raise ValueError("this TensorData is closed")
    return array


cdef cnp.ndarray lend(HostArray owner):
    """An ndarray on the owner's memory, which stays open while the ndarray or a view of it lives."""
    cdef cnp.ndarray array
    cdef cnp.ndarray result
    cdef cnp.dtype descriptor
    cdef Loan loan = Loan.__new__(Loan)
    with cython.critical_section(owner):
        owner.lent += 1
        loan.owner = owner
    array = open_array(owner)  # counted by now, so that nobody closes it any more
    descriptor = array.dtype
    Py_INCREF(descriptor)  # PyArray_NewFromDescr steals one reference
    result = PyArray_NewFromDescr(
        &PyArray_Type, descriptor, cnp.PyArray_NDIM(array), <const cnp.npy_intp*>cnp.PyArray_DIMS(array),
        <const cnp.npy_intp*>cnp.PyArray_STRIDES(array), cnp.PyArray_DATA(array),
        NPY_ARRAY_WRITEABLE if cnp.PyArray_ISWRITEABLE(array) else 0, None)
    cnp.set_array_base(result, loan)  # no ndarray, so that views of the result keep it and not the owner's array
    return result


cdef PageBlock new_block(size_t size, str origin):
    cdef PageBlock block = PageBlock.__new__(PageBlock)
    block.origin = origin
    block.pages = acquire_pages(size)
    return block


cdef dict _names = {
    "float16": <int64_t>DataType.Float16,
    "float32": <int64_t>DataType.Float32,
    "float64": <int64_t>DataType.Float64,
    "bfloat16": <int64_t>DataType.BFloat16,
    "int8": <int64_t>DataType.Int8,
    "int16": <int64_t>DataType.Int16,
    "int32": <int64_t>DataType.Int32,
    "int64": <int64_t>DataType.Int64,
    "uint8": <int64_t>DataType.UInt8,
    "uint16": <int64_t>DataType.UInt16,
    "uint32": <int64_t>DataType.UInt32,
    "uint64": <int64_t>DataType.UInt64,
    "bool": <int64_t>DataType.Bool,
}

# Descriptors by type code; bfloat16 joins when ml_dtypes is first needed.
cdef dict _descriptors = {code: np.dtype(name) for name, code in _names.items() if name != "bfloat16"}

# Types by NumPy's own number of them, 0 where there is none; those of other packages get their numbers at run time.
cdef enum:
    NUMBERS = 24  # NPY_HALF is the last
cdef DataType[NUMBERS] _by_number
cdef int _bfloat16_number = -1
for _letter in "?bBhHiIlLqQefd":
    _by_number[np.dtype(_letter).num] = <DataType><int64_t>_names[np.dtype(_letter).name]


cdef int data_type_of(cnp.dtype descriptor, DataType* result) except -1:
    """The native type of a NumPy dtype; 0 and no exception when there is none."""
    global _bfloat16_number
    cdef int number = descriptor.type_num
    if 0 <= number < NUMBERS:
        result[0] = _by_number[number]
        return <int64_t>result[0] != 0
    # A name is made anew each time that it is asked for.
    if number != _bfloat16_number:
        if descriptor.name != "bfloat16":
            return 0
        _bfloat16_number = number
    result[0] = DataType.BFloat16
    return 1


cdef cnp.dtype _float32 = np.dtype(np.float32)


cdef cnp.dtype descriptor_of(DataType dtype):
    if dtype == DataType.Float32:
        return _float32
    code = <int64_t>dtype
    descriptor = _descriptors.get(code)
    if descriptor is None:
        try:
            import ml_dtypes
        except ImportError:
            raise DTypeError("bfloat16 arrays need the ml_dtypes package") from None
        descriptor = _descriptors[code] = np.dtype(ml_dtypes.bfloat16)
    return descriptor


def dtype_code(dtype, str argument):
    """MPSDataType's value for a dtype or its name."""
    name = None
    if isinstance(dtype, str) and dtype in _names:
        name = dtype
    elif dtype is not None:  # which NumPy takes for float64
        try:
            name = np.dtype(dtype).name
        except (TypeError, ValueError, SyntaxError):
            pass
    if name not in _names:
        raise DTypeError(f"{argument} must be one of {', '.join(_names)}, got {name or dtype!r}")
    return _names[name]


def dtype_of_code(int64_t code):
    return descriptor_of(<DataType>code)


cdef tuple shape_of(const TensorType* tensor_type):
    return tuple([tensor_type.shape[axis] for axis in range(tensor_type.shape.rank())])


cdef bint has_shape(cnp.ndarray array, const TensorType* tensor_type) noexcept:
    cdef int axis
    if cnp.PyArray_NDIM(array) != tensor_type.shape.rank():
        return False
    for axis in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_DIM(array, axis) != tensor_type.shape[axis]:
            return False
    return True


cdef object new_array(const TensorType* tensor_type, str origin):
    """A C-contiguous array with undefined contents, on pages of its own."""
    cdef PageBlock block = new_block(tensor_type.bytes(), origin)
    cdef cnp.dtype descriptor = descriptor_of(tensor_type.dtype)
    Py_INCREF(descriptor)  # PyArray_NewFromDescr steals one reference
    array = PyArray_NewFromDescr(
        &PyArray_Type, descriptor, tensor_type.shape.rank(), <const cnp.npy_intp*>tensor_type.shape.begin(), NULL,
        block.pages.data, NPY_ARRAY_CARRAY, None)
    cnp.set_array_base(array, block)
    return array


cdef str reason_for_copy(cnp.ndarray array):
    """Why an engine cannot use the array where it lies; None when it can."""
    if is_plain(array):
        return None
    if not cnp.PyArray_ISNOTSWAPPED(array):
        return f"its byte order is not the machine's ({array.dtype.str})"
    if not cnp.PyArray_ISALIGNED(array):
        return "its alignment is below that of its elements"
    if any(stride < 0 for stride in (<object>array).strides):
        return "it has a negative stride"
    return f"it is not C-contiguous (strides {(<object>array).strides})"


cdef str origin_of(cnp.ndarray array):
    """The device whose engine wrote this array, if it is a result of ours or a view of one; else None."""
    base = array
    while True:
        if isinstance(base, cnp.ndarray):
            base = cnp.get_array_base(<cnp.ndarray>base)
        elif isinstance(base, Loan):
            base = (<Loan>base).owner.array
        else:
            break
    return (<PageBlock>base).origin if isinstance(base, PageBlock) else None


def memory_statistics():
    """Bytes of page-aligned memory: held by results and running calls, and kept for reuse."""
    cdef PageStatistics statistics = page_statistics()
    return {
        "live_bytes": statistics.live_bytes,
        "recycled_bytes": statistics.recycled_bytes,
        "acquisitions": statistics.acquisitions,
        "mappings": statistics.mappings,
    }


def trim_memory():
    """Returns the pages that are kept for reuse to the system."""
    with nogil:
        trim_pages()
