from libcpp cimport bool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from mpsgraph_native._core.errors cimport raise_native_error
from mpsgraph_native._native.text cimport StringView
from mpsgraph_native._native.types cimport TensorType


cdef extern from "runtime/interruption.hpp" namespace "mpsgraph_native" nogil:
    ctypedef bool (*InterruptionCheck)() noexcept nogil


cdef extern from *:
    """
    #include <string>
    #include <vector>
    #include "engines.hpp"
    #include "runtime/interruption.hpp"

    namespace {
    // Cython has no spans and no string views.
    std::vector<const mpsgraph_native::Engine*> all_engines() {
      const auto engines = mpsgraph_native::engines();
      return {engines.begin(), engines.end()};
    }
    std::string engine_name(const mpsgraph_native::Engine& engine) { return std::string(engine.name()); }
    void run_executable(mpsgraph_native::Executable& executable, const void* const* inputs, std::size_t input_count,
                        void* const* outputs, std::size_t output_count, mpsgraph_native::InterruptionCheck check) {
      const mpsgraph_native::Interruptible interruptible(check);
      executable.run({inputs, input_count}, {outputs, output_count});
    }
    std::vector<mpsgraph_native::StepProfile> profile_executable(
        mpsgraph_native::Executable& executable, const void* const* inputs, std::size_t input_count,
        void* const* outputs, std::size_t output_count, mpsgraph_native::InterruptionCheck check) {
      const mpsgraph_native::Interruptible interruptible(check);
      return executable.profile({inputs, input_count}, {outputs, output_count});
    }
    }  // namespace
    """
    vector[const Engine*] all_engines() except +raise_native_error
    string engine_name(const Engine&) except +raise_native_error
    void run_executable(Executable&, const void* const*, size_t, void* const*, size_t, InterruptionCheck) \
        except +raise_native_error nogil
    vector[StepProfile] profile_executable(
        Executable&, const void* const*, size_t, void* const*, size_t, InterruptionCheck) except +raise_native_error nogil


cdef extern from "runtime/engine.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass StepProfile:
        string operation
        string algorithm
        int threads
        size_t bytes
        double operations
        double seconds

    cdef cppclass MemoryUse:
        size_t constants
        size_t intermediates
        size_t scratch
        size_t program
        size_t total() const

    cdef cppclass Executable:
        MemoryUse memory() const
        const vector[TensorType]& feeds() const
        const vector[TensorType]& targets() const

    cdef cppclass Engine:
        bool available() const
        string reason() const
        string description() const
        string reason_for_copy(const void*, size_t) const


cdef extern from "engines.hpp" namespace "mpsgraph_native" nogil:
    const Engine& engine_named(StringView) except +raise_native_error
    vector[string] cpu_instruction_sets() except +raise_native_error
    string cpu_instruction_set() except +raise_native_error
    void set_cpu_instruction_set(StringView) except +raise_native_error
