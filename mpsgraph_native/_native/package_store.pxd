from libc.stdint cimport uint64_t
from libcpp cimport bool
from libcpp.string cimport string
from libcpp.vector cimport vector

from mpsgraph_native._core.errors cimport raise_native_error


cdef extern from *:
    """
    #include <string>
    #include <vector>
    #include "metal/package_store.hpp"

    namespace {
    // Cython has no std::optional and no std::filesystem.
    struct StoredEntry {
      std::string key, signature;
      std::uint64_t bytes;
      double last_used;
      bool readable;
    };
    std::vector<StoredEntry> stored_entries(const std::string& directory) {
      std::vector<StoredEntry> found;
      for (const auto& entry : mpsgraph_native::metal::PackageStore(directory, 0).entries())
        found.push_back({entry.key, entry.signature.value_or(""), entry.bytes, entry.last_used,
                         entry.signature.has_value()});
      return found;
    }
    std::size_t clear_stored_entries(const std::string& directory) {
      return mpsgraph_native::metal::PackageStore(directory, 0).clear();
    }
    }  // namespace
    """
    cdef cppclass StoredEntry:
        string key
        string signature
        uint64_t bytes
        double last_used
        bool readable

    vector[StoredEntry] stored_entries(const string&) except +raise_native_error nogil
    size_t clear_stored_entries(const string&) except +raise_native_error nogil
