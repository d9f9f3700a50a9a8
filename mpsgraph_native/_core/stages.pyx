# cython: freethreading_compatible=True
"""The stages of an array function's call one by one, to be timed. Nothing here is part of the public interface."""

from cython.operator cimport dereference

from mpsgraph_native._core.call cimport delivered, look_up, place_operands, take_inputs
from mpsgraph_native._core.device cimport Device, resolve_device
from mpsgraph_native._core.operation cimport Operation
from mpsgraph_native._core.run cimport Run
from mpsgraph_native._native.engine cimport run_executable
from mpsgraph_native._native.executable_cache cimport OperandTypes

# In the order of a call.
STAGES = ("arguments", "look-up", "places", "run", "results")


def nothing():
    """The least that a call into this package can cost."""


cdef Run _begin(int stages, Operation operation, tuple inputs, object out, Device place):
    cdef OperandTypes types
    cdef Run run = Run.__new__(Run)
    if stages > 0:
        take_inputs(run, operation, inputs, place, types)
    if stages > 1:
        look_up(run, operation, place, types)
    if stages > 2:
        place_operands(run, operation, out, place)
    if stages > 3:
        run.execute(NULL)
    if stages > 4:
        delivered(run)
    return run


def repeat(int stages, Operation operation, tuple inputs, object out, object device, Py_ssize_t times):
    """Runs the first `stages` stages of a call so many times, without the Python around them."""
    cdef Device place = resolve_device(device)
    for _ in range(times):
        _begin(stages, operation, inputs, out, place)


def repeat_engine(Operation operation, tuple inputs, object out, object device, Py_ssize_t times):
    """Runs the executable of a call so many times, without Python and without its lock."""
    cdef Run run = _begin(3, operation, inputs, out, resolve_device(device))
    with nogil:
        for _ in range(times):
            run_executable(dereference(run.executable), run.inputs.data(), run.inputs.size(), run.outputs.data(),
                           run.outputs.size(), NULL)
