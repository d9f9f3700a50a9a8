# cython: freethreading_compatible=True
"""Executables as files: programs to bytes and back."""

from libcpp.string cimport string
from libcpp.utility cimport move

from mpsgraph_native._core.device cimport resolve_device
from mpsgraph_native._core.executable cimport Executable
from mpsgraph_native._core.graph cimport Cut, GraphCore, Tensor, cut_out, executable_of, tensor_at
from mpsgraph_native._native.serialization cimport ReadProgram, deserialize, serialize
from mpsgraph_native._native.text cimport view_of

from mpsgraph_native._executable_file import read_body, spelled, write_body
from mpsgraph_native.errors import CompileError, DTypeError, ShapeError
from mpsgraph_native.graph import Graph


def save(Executable executable, path):
    """Executable.save."""
    cdef string body
    cdef Cut cut = cut_out((<Tensor>executable.targets[0]).graph, executable.feeds, executable.targets, "save")
    with nogil:
        body = move(serialize(cut.program))
    write_body(path, <bytes>body)


cdef GraphCore _graph_of(ReadProgram* read):
    cdef GraphCore graph = Graph()
    cdef size_t index
    graph.native = move(read.graph)
    for index in range(graph.native.nodes().size()):
        graph.native.node(<int>index).name.decode()
    return graph


def load(path, device):
    """Executable.load."""
    place = resolve_device(device)
    cdef bytes body = read_body(path)
    cdef ReadProgram read
    cdef size_t index
    try:
        view = view_of(body)
        with nogil:
            read = move(deserialize(view))
        graph = _graph_of(&read)
        feeds = [tensor_at(graph, read.feeds[index].node, read.feeds[index].output) for index in range(read.feeds.size())]
        targets = [
            tensor_at(graph, read.targets[index].node, read.targets[index].output)
            for index in range(read.targets.size())]
        cut = cut_out(graph, tuple(feeds), tuple(targets), "load")
        return executable_of(cut, place)
    except UnicodeDecodeError as error:
        raise CompileError(f"load: {spelled(path)}: an operation's name is no text: {error}") from error
    except (CompileError, DTypeError, ShapeError) as error:
        raise CompileError(f"load: {spelled(path)}: {error}") from error
