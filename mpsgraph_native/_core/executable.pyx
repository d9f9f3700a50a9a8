# cython: freethreading_compatible=True
"""Compiled programs."""

cimport cython
cimport numpy as cnp
from cython.operator cimport dereference
from libcpp.utility cimport move
from libcpp.vector cimport vector

from mpsgraph_native._core.interchange cimport as_ndarray
from mpsgraph_native._core.interruption cimport check_of_this_thread
from mpsgraph_native._core.memory cimport data_type_of, descriptor_of, has_shape, shape_of
from mpsgraph_native._core.run cimport Run
from mpsgraph_native._native.engine cimport Executable as NativeExecutable
from mpsgraph_native._native.engine cimport StepProfile as NativeStepProfile
from mpsgraph_native._native.engine cimport InterruptionCheck, MemoryUse, profile_executable
from mpsgraph_native._native.types cimport DataType, TensorType

from mpsgraph_native._future import submit
from mpsgraph_native._graph_operation import needed_operations, typed
from mpsgraph_native._profile import StepProfile, table
from mpsgraph_native.errors import DTypeError, ShapeError

cnp.import_array()


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
        return dereference(self.native).memory().total()

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
        cdef Run prepared = _prepare(self, inputs, results)
        if profile:
            self.last_profile = _profile(prepared)
        else:
            prepared.execute(check_of_this_thread())
        return prepared.deliver()

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
        """Feeds, operations, targets and memory in words; after a run with `profile=True` also what each step took.

        Intermediates are what operations leave for later ones, scratch is what they need while they run, each for one
        run at a time; a device that does not tell them apart counts everything as the program.
        """
        def named(tensor):
            return f"  {tensor.name}: {typed(tensor)}"

        def operation(entry):
            return f"  {entry.name}: {entry.kind}({entry.attributes}) -> {', '.join(map(typed, entry.outputs))}"

        cdef MemoryUse use = dereference(self.native).memory()
        lines = [f"Executable on {self.device}", "feeds", *map(named, self.feeds), "operations",
                 *map(operation, needed_operations(self.feeds, self.targets)), "targets", *map(named, self.targets),
                 f"memory: {use.total()} bytes: constants {use.constants}, intermediates {use.intermediates}, "
                 f"scratch {use.scratch}, program {use.program}"]
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


cdef Run _prepare(Executable executable, object inputs, object results):
    cdef Run run = Run.__new__(Run)
    cdef NativeExecutable* native = executable.native.get()
    cdef Py_ssize_t index
    cdef const TensorType* expected
    cdef DataType dtype
    cdef cnp.ndarray array
    cdef str name
    cdef list values = _in_order(executable, inputs)
    run.executable = executable.native
    for index in range(len(values)):
        name = executable.feed_names[index]
        array = as_ndarray(values[index], "run", name)
        expected = &native.feeds()[index]
        if not has_shape(array, expected):
            raise ShapeError(f"run: {name} must have shape {shape_of(expected)}, got {(<object>array).shape}")
        if not data_type_of(array.descr, &dtype) or dtype != expected.dtype:
            raise DTypeError(f"run: {name} must have dtype {descriptor_of(expected.dtype)}, got {array.dtype}")
        run.take(array)
    if results is not None:
        if not isinstance(results, (list, tuple)):
            raise DTypeError(f"run: results must be a list of arrays, got {type(results).__name__}")
        if len(results) != len(executable.targets):
            raise ShapeError(f"run: results must hold {len(executable.targets)} arrays, one per target, got {len(results)}")
    run.place_results(results, executable.result_names, executable.place.name)
    run.place_inputs()
    return run


cdef tuple _profile(Run run):
    """Runs, and gives what each step took."""
    cdef vector[NativeStepProfile] steps
    cdef InterruptionCheck check = check_of_this_thread()
    with nogil:
        steps = move(profile_executable(
            dereference(run.executable), run.inputs.data(), run.inputs.size(), run.outputs.data(), run.outputs.size(),
            check))
    return tuple(
        StepProfile(step.operation.decode(), step.algorithm.decode(), step.threads, step.bytes, step.operations,
                    step.seconds)
        for step in steps)
