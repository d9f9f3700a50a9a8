from libcpp.string cimport string


cdef extern from *:
    """
    #include <string>
    #include "runtime/version.hpp"

    namespace {
    std::string native_version() { return std::string(mpsgraph_native::package_version); }
    }  // namespace
    """
    string native_version()
