# cython: freethreading_compatible=True
"""Compiled programs."""

cimport cython
cimport numpy as cnp
from cython.operator cimport dereference
from libcpp cimport bool
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from mpsgraph_native._core.call cimport Results, as_plain
from mpsgraph_native._core.interchange cimport as_ndarray
from mpsgraph_native._core.memory cimport data_type_of, descriptor_of, shape_of
from mpsgraph_native._native.engine cimport Executable as NativeExecutable
from mpsgraph_native._native.engine cimport StepProfile as NativeStepProfile
from mpsgraph_native._native.engine cimport InterruptionCheck, profile_executable, run_executable
from mpsgraph_native._native.types cimport DataType, TensorType

import os
import threading

from mpsgraph_native._future import submit
from mpsgraph_native._profile import StepProfile, table
from mpsgraph_native.errors import DTypeError, ShapeError

cnp.import_array()

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()
    int PyErr_CheckSignals() noexcept

cdef extern from *:
    """
    #include <atomic>
    static std::atomic<bool> mpsgraph_native_exiting{false};
    """
    cppclass AtomicFlag "std::atomic<bool>":
        bool load() nogil
        void store(bool)
    AtomicFlag _exiting "mpsgraph_native_exiting"


def interrupt_runs():
    """Ends the runs of all threads but the main one at their next step: the interpreter exits."""
    _exiting.store(True)


cdef bool _is_exiting() noexcept nogil:
    return _exiting.load()


cdef bool _has_raised() noexcept with gil:
    # What a handler raises stays with this thread, which lets go of the GIL and of nothing else until it is seen.
    return PyErr_CheckSignals() != 0


cdef unsigned long _main_thread = threading.main_thread().ident


def _become_main_thread():
    global _main_thread
    _main_thread = PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_become_main_thread)


cdef InterruptionCheck _check_of_this_thread() noexcept:
    """What ends a run early: Python runs signal handlers in the main thread alone."""
    return _has_raised if PyThread_get_thread_ident() == _main_thread else _is_exiting


@cython.final
cdef class _Run:
    """One prepared run: inputs that are kept alive, outputs that wait to be written."""

    cdef shared_ptr[NativeExecutable] executable
    cdef vector[const void*] inputs
    cdef vector[void*] outputs
    cdef list held
    cdef Results results

    def __call__(self):
        cdef InterruptionCheck check = _check_of_this_thread()
        with nogil:
            run_executable(dereference(self.executable), self.inputs.data(), self.inputs.size(), self.outputs.data(),
                           self.outputs.size(), check)
        return tuple(self.results.deliver())

    cdef tuple profile(self):
        """What each step took; the results wait for `deliver`."""
        cdef vector[NativeStepProfile] steps
        cdef InterruptionCheck check = _check_of_this_thread()
        with nogil:
            steps = profile_executable(dereference(self.executable), self.inputs.data(), self.inputs.size(),
                                       self.outputs.data(), self.outputs.size(), check)
        return tuple(
            StepProfile(step.operation.decode(), step.algorithm.decode(), step.threads, step.bytes, step.operations,
                        step.seconds)
            for step in steps)


@cython.final
cdef class Executable:
    """A program compiled for one device, with its feeds and targets in a fixed order.

    `feeds` and `targets` are the Tensors that it was compiled for. Runs may overlap in several threads.
    `last_profile` holds a StepProfile for each step of the last run with `profile=True`, else None.
    """

    def __init__(self):
        raise TypeError("executables are made by Graph.compile and Executable.load")

    @property
    def device(self):
        """Name of the device that it was compiled for."""
        return self.place.name

    @property
    def nbytes(self):
        """Bytes that it occupies, the scratch memory of a run included."""
        return dereference(self.native).bytes()

    def run(self, inputs, *, results=None, profile=False):
        """Runs on arrays: a list in the order of the feeds, or a dict of Tensors, or their names, to arrays.

        Gives a tuple of arrays in the order of the targets. With `results`, one array (or None) per target: they are
        written into and handed back. Wrong shapes and dtypes raise ShapeError and DTypeError naming the feed; nothing
        is written.

        With `profile` it also measures every step: its operation, the algorithm chosen, threads, bytes of operands and
        results, floating-point operations of the formula, and seconds; see `last_profile` and `describe()`. Engines that
        run their program as a whole, as mps does, give one step.

        What a signal handler raises in the main thread, such as KeyboardInterrupt, ends a run on cpu before its next
        step; what `results` hold then is undefined.
        """
        cdef _Run prepared = _prepare(self, inputs, results)
        if not profile:
            return prepared()
        self.last_profile = prepared.profile()
        return tuple(prepared.results.deliver())

    def run_async(self, inputs, *, results=None):
        """Starts a run and gives a Future at once: `.result(timeout)`, `await`, `.cancel()` while it has not started.

        Arguments are checked now. Runs start in the order of the calls. The inputs must not be changed, nor the results
        be read, before the future is done. When the interpreter exits, runs that have not started are cancelled, and
        one that has ends before its next step.
        """
        return submit(_prepare(self, inputs, results))

    def save(self, path):
        """Writes the program to a file that Executable.load compiles again, on this or another machine or device.

        The file holds operations with attributes, constants, names, shapes and dtypes of feeds and targets in their
        order, the package's version and a checksum. It is written beside its place and moved there in one step. OSError
        where it cannot be written.
        """
        from mpsgraph_native._core.executable_file import save

        save(self, path)

    @classmethod
    def load(cls, path, device=None):
        """Reads a file that `save` wrote and compiles its program for `device`.

        `feeds` and `targets` are Tensors of a fresh Graph. CompileError names the path and what is wrong with the
        file; OSError is raised where it cannot be read, DeviceError where the device is not available.
        """
        from mpsgraph_native._core.executable_file import load

        return load(path, device)

    def describe(self):
        """Feeds, targets and memory in words; after a run with `profile=True` also what each step took."""
        def line(tensor):
            return f"  {tensor.name}: {tensor.dtype} {list(tensor.shape)}"

        lines = [f"Executable on {self.device}, {self.nbytes} bytes", "feeds", *map(line, self.feeds), "targets",
                 *map(line, self.targets)]
        if self.last_profile is not None:
            lines += ["last profile", *table(self.last_profile)]
        return "\n".join(lines)

    def __repr__(self):
        feeds = ", ".join(tensor.name for tensor in self.feeds)
        targets = ", ".join(tensor.name for tensor in self.targets)
        return f"<Executable on {self.device!r}: ({feeds}) -> ({targets})>"


cdef dict _by_tensor(Executable executable, dict inputs):
    """The inputs with names replaced by the feeds that have them."""
    cdef set feeds = set(executable.feeds)
    cdef dict named = {}
    cdef dict result = {}
    if any([isinstance(key, str) for key in inputs]):
        named = {tensor.name: tensor for tensor in feeds}
    for key, value in inputs.items():
        tensor = named.get(key) if isinstance(key, str) else key
        if tensor not in feeds:
            names = ", ".join([tensor.name for tensor in executable.feeds])
            raise ShapeError(f"run: inputs must hold feeds alone, got {key!r}; they are {names}")
        if tensor in result:
            raise ShapeError(f"run: inputs must hold each feed once, got {tensor.name} twice")
        result[tensor] = value
    return result


cdef list _in_order(Executable executable, object inputs):
    if isinstance(inputs, dict):
        inputs = _by_tensor(executable, dict(inputs))
        missing = [tensor.name for tensor in executable.feeds if tensor not in inputs]
        if missing:
            raise ShapeError(f"run: inputs must hold every feed, {', '.join(missing)} missing")
        return [inputs[tensor] for tensor in executable.feeds]
    if not isinstance(inputs, (list, tuple)):
        raise DTypeError(
            f"run: inputs must be a list in the order of the feeds or a dict, got {type(inputs).__name__}")
    if len(inputs) != len(executable.feeds):
        raise ShapeError(f"run: inputs must hold {len(executable.feeds)} arrays, one per feed, got {len(inputs)}")
    return list(inputs)


cdef _Run _prepare(Executable executable, object inputs, object results):
    cdef _Run run = _Run.__new__(_Run)
    cdef NativeExecutable* native = executable.native.get()
    cdef Py_ssize_t index
    cdef const TensorType* expected
    cdef DataType dtype
    cdef cnp.ndarray array
    run.executable = executable.native
    run.held = []
    run.results = Results.__new__(Results)
    given = []
    for index, value in enumerate(_in_order(executable, inputs)):
        name = executable.feeds[index].name
        array = as_ndarray(value, "run", name)
        given.append(array)
        expected = &native.feeds()[index]
        shape = shape_of(expected)
        if (<object>array).shape != shape:
            raise ShapeError(f"run: {name} must have shape {shape}, got {(<object>array).shape}")
        if not data_type_of(array.descr, &dtype) or dtype != expected.dtype:
            raise DTypeError(f"run: {name} must have dtype {descriptor_of(expected.dtype)}, got {array.dtype}")
        array = as_plain(array)
        run.held.append(array)
        run.inputs.push_back(cnp.PyArray_DATA(array))
    if results is not None:
        if not isinstance(results, (list, tuple)):
            raise DTypeError(f"run: results must be a list of arrays, got {type(results).__name__}")
        if len(results) != len(executable.targets):
            raise ShapeError(f"run: results must hold {len(executable.targets)} arrays, one per target, got {len(results)}")
    for index in range(len(executable.targets)):
        run.results.prepare(&native.targets()[index], None if results is None else results[index],
                            f"run: results[{index}]", given, executable.place.name)
        run.outputs.push_back(run.results.pointer(index))
    return run
