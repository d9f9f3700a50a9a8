from libcpp.string cimport string
from libcpp.vector cimport vector

from mpsgraph_native._core.errors cimport raise_native_error
from mpsgraph_native._native.graph cimport Graph, Program, TensorRef
from mpsgraph_native._native.text cimport StringView


cdef extern from "graph/serialization.hpp" namespace "mpsgraph_native" nogil:
    cdef cppclass ReadProgram:
        Graph graph
        vector[TensorRef] feeds
        vector[TensorRef] targets

    string serialize(const Program&) except +raise_native_error
    ReadProgram deserialize(StringView) except +raise_native_error
