from libcpp.vector cimport vector

from mpsgraph_native._native.graph cimport Graph as NativeGraph
from mpsgraph_native._native.graph cimport TensorRef
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

    cdef const TensorType* type(self)
