from libc.stdint cimport uint64_t
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <string>
    #include <vector>
    #include "metal/availability.hpp"
    #include "metal/known_faults.hpp"

    namespace {
    // Cython has no spans, no string views and no std::optional of an aggregate.
    struct AvailabilityRow {
      std::string operation, form, selector, substitute;
      int introduced_major, introduced_minor;
    };
    std::vector<AvailabilityRow> availability_rows() {
      std::vector<AvailabilityRow> rows;
      for (const auto& row : mpsgraph_native::metal::availability_table())
        rows.push_back({std::string(row.operation), std::string(row.form), std::string(row.selector),
                        std::string(row.substitute), row.introduced.major, row.introduced.minor});
      return rows;
    }

    struct KnownFaultRow {
      std::vector<std::string> operations;
      std::string condition, instead, source;
      int fixed_in_major, fixed_in_minor, remedy;
      std::uint64_t encounters;
    };
    std::vector<KnownFaultRow> known_fault_rows() {
      using namespace mpsgraph_native::metal;
      std::vector<KnownFaultRow> rows;
      for (const auto& row : known_faults())
        rows.push_back({{row.operations.begin(), row.operations.end()}, std::string(row.condition),
                        std::string(row.instead), std::string(row.source), row.fixed_in == never ? 0 : row.fixed_in.major,
                        row.fixed_in.minor, static_cast<int>(row.remedy), encounters_for_testing(row.fault)});
      return rows;
    }

    // Major version 0 gives the machine's own version back.
    void set_macos_version_for_testing(int major, int minor) {
      using namespace mpsgraph_native::metal;
      set_macos_version_for_testing(major ? std::optional(MacOS{major, minor}) : std::nullopt);
    }
    }  // namespace
    """
    cdef cppclass AvailabilityRow:
        string operation
        string form
        string selector
        string substitute
        int introduced_major
        int introduced_minor
    vector[AvailabilityRow] availability_rows()

    cdef cppclass KnownFaultRow:
        vector[string] operations
        string condition
        string instead
        string source
        int fixed_in_major
        int fixed_in_minor
        int remedy
        uint64_t encounters
    vector[KnownFaultRow] known_fault_rows()

    void set_macos_version_for_testing(int, int)
