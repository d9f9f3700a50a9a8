from libc.stdint cimport int64_t
from libcpp cimport bool
from libcpp.string cimport string

from mpsgraph_native._core.errors cimport raise_native_error
from mpsgraph_native._native.text cimport StringView
from mpsgraph_native._native.types cimport TensorType


cdef extern from "graph/operation.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass AttributeMap:
        AttributeMap()

    cdef cppclass Operation:
        Operation()

    size_t hash_of(const Operation&)
    Operation make_operation(StringView, const AttributeMap&) except +raise_native_error
    string describe(const Operation&) except +raise_native_error
    string describe_attributes(const Operation&) except +raise_native_error


cdef extern from *:
    """
    #include <string>
    #include <string_view>
    #include <vector>
    #include "graph/operation.hpp"

    namespace {
    // What Cython cannot spell: views in results, spans and assignment to a std::variant.
    std::string operation_name(const mpsgraph_native::Operation& operation) {
      return std::string(mpsgraph_native::name_of(operation));
    }
    std::string argument_name(const mpsgraph_native::Operation& operation, std::size_t index) {
      return std::string(mpsgraph_native::arguments_of(operation)[index].name);
    }
    std::size_t argument_count(const mpsgraph_native::Operation& operation) {
      return mpsgraph_native::arguments_of(operation).size();
    }
    template <class T>
    void add_attribute(mpsgraph_native::AttributeMap& attributes, std::string_view name, const T& value) {
      attributes.emplace_back(std::string(name), mpsgraph_native::AttributeValue(value));
    }
    mpsgraph_native::Operation constant_operation(mpsgraph_native::TensorType type, const void* data) {
      const auto* bytes = static_cast<const std::byte*>(data);
      return mpsgraph_native::Constant{
          type, std::make_shared<const std::vector<std::byte>>(bytes, bytes + type.bytes())};
    }
    mpsgraph_native::Operation placeholder_operation(mpsgraph_native::TensorType type) {
      return mpsgraph_native::Placeholder{type};
    }
    const void* constant_data(const mpsgraph_native::Operation& operation) {
      const auto* constant = std::get_if<mpsgraph_native::Constant>(&operation);
      return constant ? constant->data->data() : nullptr;
    }
    }  // namespace
    """
    string operation_name(const Operation&) except +raise_native_error
    string argument_name(const Operation&, size_t) except +raise_native_error
    size_t argument_count(const Operation&)
    void add_attribute[T](AttributeMap&, StringView, const T&) except +raise_native_error
    Operation constant_operation(TensorType, const void*) except +raise_native_error
    Operation placeholder_operation(TensorType)
    const void* constant_data(const Operation&)
