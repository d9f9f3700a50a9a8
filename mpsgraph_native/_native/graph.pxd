from libcpp cimport bool
from libcpp.string cimport string
from libcpp.vector cimport vector

from mpsgraph_native._core.errors cimport raise_native_error
from mpsgraph_native._native.operation cimport Operation
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
        int add(Operation, vector[TensorRef], string) except +raise_native_error
        const vector[Node]& nodes() const
        const Node& node(int) const
        const TensorType& type(TensorRef) const
        string name(TensorRef) const

    cdef cppclass Program:
        Program()

    size_t hash_of(const Program&)
    Program extract_program(const Graph&, const vector[TensorRef]&, const vector[TensorRef]&) except +raise_native_error


cdef extern from "graph/autodiff.hpp" namespace "mpsgraph_native" nogil:
    vector[TensorRef] add_gradients(
        Graph&, TensorRef, const vector[TensorRef]&, const string&) except +raise_native_error
