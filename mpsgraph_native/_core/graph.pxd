from libcpp.vector cimport vector

from mpsgraph_native._core.device cimport Device
from mpsgraph_native._core.executable cimport Executable
from mpsgraph_native._native.graph cimport Graph as NativeGraph
from mpsgraph_native._native.graph cimport Program, TensorRef
from mpsgraph_native._native.types cimport TensorType


cdef class GraphCore:
    cdef NativeGraph native
    cdef dict programs
    cdef object lock

    cdef TensorRef reference(self, object tensor, str where) except *
    cdef vector[TensorRef] references(self, tuple tensors, str where) except *


cdef class Tensor:
    cdef readonly GraphCore graph
    cdef TensorRef reference
    cdef TensorType type  # the graph's own moves while it grows


cdef class Cut:
    """A program cut out of a graph, with the tensors that its feeds and targets were, and its hash."""

    cdef Program program
    cdef size_t hash
    cdef tuple feeds
    cdef tuple targets
    cdef tuple feed_names, result_names  # in messages


cdef Tensor tensor_at(GraphCore graph, int node, int output)
cdef Cut cut_out(GraphCore graph, tuple feeds, tuple targets, str where)
cdef Executable executable_of(Cut cut, Device place)
