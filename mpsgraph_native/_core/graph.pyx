# cython: freethreading_compatible=True
"""Graphs of operations and their symbolic tensors."""

cimport cython
cimport numpy as cnp
from cython.operator cimport dereference
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.utility cimport move
from libcpp.vector cimport vector

from mpsgraph_native._core.device cimport Device, resolve_device
from mpsgraph_native._core.executable cimport Executable
from mpsgraph_native._core.memory cimport data_type_of, descriptor_of, shape_of
from mpsgraph_native._core.operation cimport Operation
from mpsgraph_native._core.run cimport as_input
from mpsgraph_native._native.executable_cache cimport cached_executable
from mpsgraph_native._native.graph cimport Node, TensorRef, add_gradients_of, add_node, extract_program, hash_of
from mpsgraph_native._native.operation cimport (
    argument_name,
    constant_data,
    constant_operation,
    describe,
    describe_attributes,
    operation_name,
    placeholder_operation,
)
from mpsgraph_native._native.text cimport view_of
from mpsgraph_native._native.types cimport DataType, IntegerSpan, Shape, TensorType

import operator
import threading

import numpy as np

from mpsgraph_native._core.memory import dtype_code
from mpsgraph_native._graph_operation import GraphOperation
from mpsgraph_native.errors import DTypeError, MPSGraphError, ShapeError

cnp.import_array()


cdef TensorType _tensor_type(object shape, object dtype, str where) except *:
    cdef TensorType result
    cdef vector[int64_t] dims
    try:
        for dim in shape:
            if isinstance(dim, (bool, np.bool_)):
                raise TypeError
            dims.push_back(operator.index(dim))
    except TypeError:
        raise DTypeError(f"{where}: shape must be a sequence of integers, got {shape!r}") from None
    except OverflowError:
        raise ShapeError(f"{where}: shape must have dimensions of at most 2**31 - 1, got {shape}") from None
    if dims.size() > 16:
        raise ShapeError(f"{where}: shape must have at most 16 dimensions, got {dims.size()}")
    result.dtype = <DataType><int64_t>dtype_code(dtype, f"{where}: dtype")
    result.shape = Shape(IntegerSpan(dims.data(), dims.size()))
    return result


@cython.final
cdef class Tensor:
    """A symbolic tensor: one result of one operation of its `graph`.

    It has a shape, a dtype and a name, and gets a value when the graph runs.
    """

    def __init__(self):
        raise TypeError("tensors are made by the methods of a Graph")

    @property
    def shape(self):
        """Dimensions, slowest first."""
        return shape_of(&self.type)

    @property
    def ndim(self):
        """Number of dimensions."""
        return self.type.shape.rank()

    @property
    def size(self):
        """Number of elements."""
        return self.type.shape.elements()

    @property
    def dtype(self):
        """Element type, as a numpy.dtype."""
        return descriptor_of(self.type.dtype)

    @property
    def name(self):
        """The operation's name; with ":" and the result's number if it has several. No other tensor of the graph has it."""
        with self.graph.lock:
            return self.graph.native.name(self.reference).decode()

    @property
    def operation(self):
        """The operation that gives this tensor, with its attributes, in words."""
        with self.graph.lock:
            return describe(self.graph.native.node(self.reference.node).operation).decode()

    def constant_value(self, str where):
        """The value of a constant. ShapeError, beginning with `where`, for any other tensor."""
        cdef const void* data
        cdef cnp.ndarray value
        with self.graph.lock:
            data = constant_data(self.graph.native.node(self.reference.node).operation)
            if data is NULL:
                raise ShapeError(f"{where} must be a shape or a constant of the graph, got the tensor {self.name}")
            value = np.empty(self.shape, self.dtype)
            memcpy(cnp.PyArray_DATA(value), data, cnp.PyArray_NBYTES(value))
        return value

    def __eq__(self, other):
        if not isinstance(other, Tensor):
            return NotImplemented
        cdef Tensor another = other
        return (self.graph is another.graph and self.reference.node == another.reference.node
                and self.reference.output == another.reference.output)

    def __hash__(self):
        return hash((id(self.graph), self.reference.node, self.reference.output))

    def __repr__(self):
        return f"<Tensor {self.name!r} shape={self.shape} dtype={self.dtype}>"


cdef Tensor tensor_at(GraphCore graph, int node, int output):
    cdef Tensor tensor = Tensor.__new__(Tensor)
    tensor.graph = graph
    tensor.reference.node = node
    tensor.reference.output = output
    with graph.lock:
        tensor.type = graph.native.type(tensor.reference)
    return tensor


cdef class GraphCore:
    """What every graph has, without the operations, which `Graph` adds as methods."""

    def __cinit__(self):
        self.programs = {}
        # One graph may be built and run from several threads; its nodes are a plain vector.
        self.lock = threading.RLock()

    cdef TensorRef reference(self, object tensor, str where) except *:
        if not isinstance(tensor, Tensor):
            raise DTypeError(f"{where} must be a Tensor of this graph, got {type(tensor).__name__}")
        if (<Tensor>tensor).graph is not self:
            raise ShapeError(f"{where} must be a Tensor of this graph, got {tensor!r} of another")
        return (<Tensor>tensor).reference

    cdef vector[TensorRef] references(self, tuple tensors, str where) except *:
        cdef vector[TensorRef] result
        for tensor in tensors:
            result.push_back(self.reference(tensor, where))
        return move(result)  # a copy's std::bad_alloc would pass Python's frames

    def add_operation(self, Operation operation, tuple inputs, name=None):
        """Adds one operation; gives its result bare, or a tuple of its results.

        Where another operation has the name, the first of name_1, name_2, ... that is free stands for it.
        """
        cdef vector[TensorRef] operands
        cdef TensorRef absent
        cdef bytes native_name
        cdef int node
        for index, tensor in enumerate(inputs):
            operands.push_back(
                absent if tensor is None
                else self.reference(tensor, f"{operation.name}: {operation.arguments[index]}"))
        with self.lock:
            native_name = _name(name, operation.name, self.native.nodes().size())
            node = add_node(self.native, operation.native, operands, view_of(native_name))
            results = [
                tensor_at(self, node, output) for output in range(<int>self.native.node(node).outputs.size())]
        return results[0] if len(results) == 1 else tuple(results)

    def placeholder(self, shape, dtype="float32", *, name=None):
        """A tensor that the caller feeds (MPSGraph placeholderWithShape:dataType:name:)."""
        cdef TensorType tensor_type = _tensor_type(shape, dtype, "placeholder")
        cdef vector[TensorRef] nothing
        cdef bytes native_name
        with self.lock:
            native_name = _name(name, "placeholder", self.native.nodes().size())
            return tensor_at(self, add_node(self.native, placeholder_operation(tensor_type), nothing, view_of(native_name)), 0)

    def constant(self, value, *, shape=None, dtype=None, name=None):
        """A tensor with a fixed value (MPSGraph constantWithData:shape:dataType:, constantWithScalar:...).

        `value` is an array, or a scalar that fills `shape`. `dtype` is the array's own by default, float32 for a
        Python number. The value is copied now.
        """
        try:
            array_value = _constant_array(value, shape, dtype)
        except MPSGraphError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(f"constant: value must fill shape {shape!r} as {dtype!r}: {error}") from error
        cdef cnp.ndarray array = array_value
        cdef TensorType tensor_type
        if not data_type_of(array.dtype, &tensor_type.dtype):
            raise DTypeError(f"constant: value must have a dtype of this package, got {array.dtype}")
        tensor_type = _tensor_type((<object>array).shape, array.dtype.name, "constant")
        cdef vector[TensorRef] nothing
        cdef bytes native_name
        with self.lock:
            native_name = _name(name, "constant", self.native.nodes().size())
            return tensor_at(
                self,
                add_node(
                    self.native, constant_operation(tensor_type, cnp.PyArray_DATA(array)), nothing, view_of(native_name)), 0)

    @property
    def operations(self):
        """Every GraphOperation in the order in which they were added, which is an order in which they can be computed."""
        cdef int node
        with self.lock:
            return tuple([_described(self, node) for node in range(<int>self.native.nodes().size())])

    def gradients(self, primary, tensors, *, name=None):
        """Tensors that hold d primary / d tensor for each of `tensors` (MPSGraph gradientForPrimaryTensor:withTensors:).

        `primary` is a floating tensor with one element, or else its elements' sum is differentiated. Adds the gradient
        operations to the graph, called `name` and a number; a tensor that `primary` does not depend on gets zeros.
        CompileError names an operation that has no gradient.
        """
        cdef TensorRef of = self.reference(primary, "gradients: primary")
        cdef vector[TensorRef] wanted = move(
            self.references(_sequence(tensors, "gradients: tensors"), "gradients: tensors"))
        cdef vector[TensorRef] found
        cdef bytes prefix = _name(name or "gradient", "gradients", 0)
        with self.lock:
            found = move(add_gradients_of(self.native, of, wanted, view_of(prefix)))
        return [tensor_at(self, found[index].node, found[index].output) for index in range(found.size())]

    def compile(self, *, feeds, targets, device=None):
        """Compiles what `targets` need for `device`, as an Executable with these feeds in this order.

        Compiled programs are cached by their whole content. CompileError names a placeholder that is needed and not
        fed; DeviceError names an unknown or unavailable `device`.
        """
        cut = cut_out(self, _sequence(feeds, "compile: feeds"), _sequence(targets, "compile: targets"), "compile")
        return executable_of(cut, resolve_device(device))

    def run(self, feeds, targets, *, results=None, device=None):
        """Runs what `targets` need on the arrays in `feeds` ({Tensor: array}); compiles on first use.

        Gives a tuple of arrays in the order of `targets`, or fills `results` as Executable.run does.
        """
        if not isinstance(feeds, dict):
            raise DTypeError(f"run: feeds must be a dict of Tensor to array, got {type(feeds).__name__}")
        # Nodes never change once added, so that a program cut out once stays right.
        cdef tuple fed = tuple(feeds)
        cdef tuple wanted = _sequence(targets, "run: targets")
        cut = self.programs.get((fed, wanted))
        if cut is None:
            cut = self.programs[fed, wanted] = cut_out(self, fed, wanted, "run")
        return executable_of(cut, resolve_device(device)).run(list(feeds.values()), results=results)

    def __repr__(self):
        with self.lock:
            return f"<Graph of {self.native.nodes().size()} operations>"


cdef object _described(GraphCore graph, int node):
    cdef const Node* native = &graph.native.node(node)
    cdef vector[TensorRef] references = native.inputs
    cdef int output
    inputs = [
        tensor_at(graph, reference.node, reference.output) if reference.present() else None for reference in references]
    return GraphOperation(
        native.name.decode(), operation_name(native.operation).decode(), describe_attributes(native.operation).decode(),
        tuple([argument_name(native.operation, index).decode() for index in range(native.inputs.size())]), tuple(inputs),
        tuple([tensor_at(graph, node, output) for output in range(<int>native.outputs.size())]))


cdef tuple _sequence(object tensors, str where):
    if isinstance(tensors, Tensor):
        raise DTypeError(f"{where} must be a sequence of Tensors, got one Tensor")
    try:
        return tuple(tensors)
    except TypeError:
        raise DTypeError(f"{where} must be a sequence of Tensors, got {type(tensors).__name__}") from None


cdef bytes _name(object name, str kind, size_t number):
    """The name of a new operation: the one given, or its kind and number."""
    if name is None:
        name = f"{kind}_{number}"
    elif not isinstance(name, str):
        raise DTypeError(f"{kind}: name must be a string, got {name!r}")
    # A lone surrogate has no UTF-8 form.
    return (<str>name).encode("utf-8", "backslashreplace")


cdef object _constant_array(object value, object shape, object dtype):
    """A C-contiguous array with the value of a constant."""
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return np.full(() if shape is None else shape, value, "float32" if dtype is None else dtype_of(dtype))
    value = as_input(value, "constant", "value")
    if dtype is not None:
        value = value.astype(dtype_of(dtype), copy=False)
    if shape is not None:
        value = np.broadcast_to(value.reshape(()), shape) if value.size == 1 else value.reshape(shape)
    return np.array(value, order="C", copy=None)


@cython.final
cdef class Cut:
    pass


cdef Cut cut_out(GraphCore graph, tuple feeds, tuple targets, str where):
    cdef vector[TensorRef] feed_references = move(graph.references(feeds, f"{where}: feeds"))
    cdef vector[TensorRef] target_references = move(graph.references(targets, f"{where}: targets"))
    if target_references.empty():
        raise ShapeError(f"{where}: targets must hold at least one Tensor")
    cdef Cut cut = Cut.__new__(Cut)
    with graph.lock:
        cut.program = move(extract_program(graph.native, feed_references, target_references))
    cut.hash = hash_of(cut.program)
    cut.feeds = feeds
    cut.targets = targets
    # A name is made anew each time that a tensor is asked for it.
    cut.feed_names = tuple([tensor.name for tensor in feeds])
    cut.result_names = tuple([f"run: results[{index}]" for index in range(len(targets))])
    return cut


cdef Executable executable_of(Cut cut, Device place):
    cdef Executable executable = Executable.__new__(Executable)
    with nogil:
        executable.native = cached_executable(dereference(place.engine), cut.program, cut.hash)
    executable.place = place
    executable.feeds = cut.feeds
    executable.targets = cut.targets
    executable.feed_names = cut.feed_names
    executable.result_names = cut.result_names
    return executable


def dtype_of(dtype):
    """The numpy.dtype for a dtype or its name, bfloat16 included."""
    return descriptor_of(<DataType><int64_t>dtype_code(dtype, "dtype"))
