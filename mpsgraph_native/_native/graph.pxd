from libcpp cimport bool
from libcpp.string cimport string
from libcpp.vector cimport vector

from mpsgraph_native._core.errors cimport raise_native_error
from mpsgraph_native._native.operation cimport Operation
from mpsgraph_native._native.text cimport StringView
from mpsgraph_native._native.types cimport TensorType


cdef extern from "graph/graph.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass TensorRef:
        int node
        int output
        bool present() const

    cdef cppclass Node:
        Operation operation
        vector[TensorRef] inputs
        vector[TensorType] outputs
        string name

    cdef cppclass Graph:
        Graph()
        const vector[Node]& nodes() const
        const Node& node(int) const
        const TensorType& type(TensorRef) const
        string name(TensorRef) except +raise_native_error

    cdef cppclass Program:
        Program()

    size_t hash_of(const Program&)
    Program extract_program(const Graph&, const vector[TensorRef]&, const vector[TensorRef]&) except +raise_native_error


cdef extern from *:
    """
    #include <string>
    #include <string_view>
    #include <vector>
    #include "graph/autodiff.hpp"
    #include "graph/graph.hpp"

    namespace {
    int add_node(mpsgraph_native::Graph& graph, const mpsgraph_native::Operation& operation,
                 const std::vector<mpsgraph_native::TensorRef>& inputs, std::string_view name) {
      return graph.add(operation, inputs, std::string(name));
    }
    std::vector<mpsgraph_native::TensorRef> add_gradients_of(mpsgraph_native::Graph& graph, mpsgraph_native::TensorRef of,
                                                             const std::vector<mpsgraph_native::TensorRef>& tensors,
                                                             std::string_view prefix) {
      return mpsgraph_native::add_gradients(graph, of, tensors, std::string(prefix));
    }
    }  // namespace
    """
    int add_node(Graph&, const Operation&, const vector[TensorRef]&, StringView) except +raise_native_error
    vector[TensorRef] add_gradients_of(
        Graph&, TensorRef, const vector[TensorRef]&, StringView) except +raise_native_error
