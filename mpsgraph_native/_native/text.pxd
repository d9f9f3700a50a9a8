# Texts for native functions as views of bytes objects: Cython copies a std::string where nothing catches what the copy
# may throw, and a C++ exception that reaches Python's frames ends the process.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE


cdef extern from *:
    """
    #include <string_view>
    """
    cdef cppclass StringView "std::string_view":
        StringView()
        StringView(const char*, size_t) nogil


cdef inline StringView view_of(bytes text) noexcept:
    return StringView(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
