from mpsgraph_native._core.device cimport Device
from mpsgraph_native._core.operation cimport Operation
from mpsgraph_native._core.run cimport Run
from mpsgraph_native._native.executable_cache cimport OperandTypes

# The stages of a call, in their order.
cdef int take_inputs(Run run, Operation operation, tuple inputs, Device place, OperandTypes& types) except -1
cdef int look_up(Run run, Operation operation, Device place, const OperandTypes& types) except -1
cdef int place_operands(Run run, Operation operation, object out, Device place) except -1
cdef object delivered(Run run)
