"""Executable.save and Executable.load: the same program again, and files that may hold anything."""

import hashlib
import os
import random
import stat
import struct
from pathlib import Path

import numpy as np
import pytest
from every_operation import each_operation, with_gradients
from support import assert_same_bits, counting, names, random_array, seeded

import mpsgraph_native as mg
from mpsgraph_native import _executable_file as layout

DEVICE = mg.default_device().name


def small(name="sum"):
    """x · 2 + y, with the name of the result to choose."""
    graph = mg.Graph()
    x = graph.placeholder((2, 3), "float32", name="x")
    y = graph.placeholder((3,), "float32", name="y")
    target = graph.addition(graph.multiplication(x, graph.constant(2.0, shape=(2, 3))), y, name=name)
    return graph.compile(feeds=[y, x], targets=[target, x])


ARRAYS = [counting(3), 10 * counting(2, 3)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "saved.mpsgraph"


def sealed(body, *, version=b"0.1.0", file_format=1):
    """A file with this program and a checksum that fits."""
    head = struct.pack("<8sI32sQ", b"\x89MPSGN\r\n", file_format, version, len(body))
    return head + hashlib.sha256(head + body).digest() + body


def put(path, content):
    path.unlink(missing_ok=True)  # some file systems take long to empty a file
    path.write_bytes(content)


def refused(path, content, *expected):
    put(path, content)
    with pytest.raises(mg.CompileError, match=names(*expected) if expected else None) as caught:
        mg.Executable.load(path)
    assert str(path) in str(caught.value)


@each_operation
def test_every_operation(case, path):
    graph, feeds, results, gradients = with_gradients(case, DEVICE)
    executable = graph.compile(feeds=list(feeds), targets=[*results, *gradients])
    executable.save(path)
    loaded = mg.Executable.load(path)
    assert [(t.name, t.shape, t.dtype) for t in loaded.feeds] == [(t.name, t.shape, t.dtype) for t in executable.feeds]
    assert [(t.name, t.shape, t.dtype) for t in loaded.targets] == [
        (t.name, t.shape, t.dtype) for t in executable.targets
    ]
    arrays = list(feeds.values())
    for actual, expected in zip(loaded.run(arrays), executable.run(arrays), strict=True):
        assert_same_bits(actual, expected)
    content = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == content


def test_the_same_program_is_in_the_cache(path):
    executable = small()
    executable.save(path)
    before = mg.cache_info()
    mg.Executable.load(path)
    after = mg.cache_info()
    assert (after.hits, after.misses) == (before.hits + 1, before.misses)


def test_feeds_are_tensors_of_a_fresh_graph(path):
    executable = small()
    executable.save(path)
    loaded = mg.Executable.load(path)
    assert [tensor.name for tensor in loaded.feeds] == ["y", "x"]
    assert [tensor.name for tensor in loaded.targets] == ["sum", "x"]
    (graph,) = {tensor.graph for tensor in (*loaded.feeds, *loaded.targets)}
    assert isinstance(graph, mg.Graph) and graph is not executable.feeds[0].graph
    assert {operation.kind for operation in graph.operations} == {
        "placeholder", "constant", "multiplication", "addition",
    }  # fmt: skip
    y, x = loaded.feeds
    expected = 2 * ARRAYS[1] + ARRAYS[0]
    further = graph.negative(loaded.targets[0])
    assert_same_bits(graph.run({x: ARRAYS[1], y: ARRAYS[0]}, [further])[0], -expected)
    for inputs in (ARRAYS, {y: ARRAYS[0], x: ARRAYS[1]}, {"x": ARRAYS[1], "y": ARRAYS[0]}):
        assert_same_bits(loaded.run(inputs)[0], expected)
    assert_same_bits(loaded.run_async({"x": ARRAYS[1], y: ARRAYS[0]}).result(60)[0], expected)


@pytest.mark.parametrize("dtype_name", ["float32", "float16", "bfloat16", "int8", "int64", "uint16", "bool"])
def test_constants_of_every_kind(path, dtype_name):
    graph = mg.Graph()
    value = np.array([0, 1, 1, 0]) if dtype_name == "bool" else counting(4)
    target = graph.identity(graph.constant(value, dtype=dtype_name))
    graph.compile(feeds=[], targets=[target]).save(path)
    loaded = mg.Executable.load(path)
    assert_same_bits(loaded.run([])[0], graph.run({}, [target])[0])


def test_constants_with_nan_and_negative_zero(path):
    graph = mg.Graph()
    value = np.array([np.nan, -0.0, np.inf, 5e-45], np.float32)
    graph.compile(feeds=[], targets=[graph.constant(value)]).save(path)
    assert_same_bits(mg.Executable.load(path).run([])[0], value)


def test_large_constants(path):
    graph = mg.Graph()
    value = random_array(seeded("large"), (1 << 18,))
    graph.compile(feeds=[], targets=[graph.constant(value)]).save(path)
    assert_same_bits(mg.Executable.load(path).run([])[0], value)


def test_fed_tensors_that_are_no_placeholders(path):
    """Both results of one operation are fed: their names tell them apart."""
    graph = mg.Graph()
    x = graph.placeholder((1, 1, 4, 4), name="x")
    window = mg.Pooling2DDescriptor(kernel_height=2, kernel_width=2, return_indices_mode="GlobalFlatten2D")
    pooled, indices = graph.max_pooling_2d_return_indices(x, descriptor=window, name="pool")
    target = graph.max_pooling_2d_gradient(pooled, indices=indices, output_shape=(1, 1, 4, 4), descriptor=window)
    executable = graph.compile(feeds=[pooled, indices], targets=[target])
    executable.save(path)
    loaded = mg.Executable.load(path)
    assert [tensor.name for tensor in loaded.feeds] == ["pool:0", "pool:1"]
    arrays = mg.max_pooling_2d_return_indices(counting(1, 1, 4, 4), descriptor=window)
    for inputs in (list(arrays), dict(zip(["pool:0", "pool:1"], arrays, strict=True))):
        assert_same_bits(loaded.run(inputs)[0], executable.run(list(arrays))[0])


def test_names_of_any_text(path):
    small('größe "\\\n\0').save(path)
    assert mg.Executable.load(path).targets[0].name == 'größe "\\\n\0'


def test_any_device_of_this_machine(path):
    small().save(path)
    for device in mg.devices():
        if device.available:
            loaded = mg.Executable.load(path, device=device.name)
            assert loaded.device == device.name
            assert_same_bits(loaded.run(ARRAYS)[0], 2 * ARRAYS[1] + ARRAYS[0])
        else:
            with pytest.raises(mg.DeviceError, match=names(device.name)):
                mg.Executable.load(path, device=device.name)


def test_a_graph_that_is_gone(path):
    executable = small()
    executable.save(path)
    content = path.read_bytes()
    loaded = mg.Executable.load(path)
    del executable
    mg.clear_cache()
    assert_same_bits(loaded.run(ARRAYS)[0], 2 * ARRAYS[1] + ARRAYS[0])
    loaded.save(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("kind", [str, os.fsencode, lambda path: path], ids=["str", "bytes", "Path"])
def test_paths_of_every_kind(path, kind):
    small().save(kind(path))
    assert mg.Executable.load(kind(path)).device == DEVICE


@pytest.mark.parametrize("value", [3, None, ["a"], "a\0b", b"a\0b"], ids=str)
def test_paths_refused(value):
    for call in (small().save, mg.Executable.load):
        with pytest.raises(mg.MPSGraphError, match=names("path")):
            call(value)


def test_saving_replaces_in_one_step(path):
    small("first").save(path)
    os.chmod(path, 0o600)
    small("second").save(path)
    assert mg.Executable.load(path).targets[0].name == "second"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert list(path.parent.iterdir()) == [path]


def test_a_save_that_fails_leaves_what_was_there(path, monkeypatch):
    small("first").save(path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        small("second").save(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_places_that_cannot_be_written(tmp_path):
    for place in (tmp_path / "missing" / "file", tmp_path):
        with pytest.raises(OSError) as caught:
            small().save(place)
        assert caught.value.filename == str(place)
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        mg.Executable.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        mg.Executable.load(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, Path("/dev/zero")):
        with pytest.raises(mg.CompileError, match="regular file"):
            mg.Executable.load(place)


def test_cut_off_at_every_byte(path):
    small().save(path)
    content = path.read_bytes()
    assert layout._header_size < len(content) < 2000
    for length in range(len(content)):
        refused(path, content[:length])
    refused(path, content + b"x", "bytes")


def test_every_bit_flipped(path):
    small().save(path)
    content = path.read_bytes()
    for position in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[position] ^= 1 << bit
            refused(path, bytes(changed))


def test_what_is_wrong_is_said(path):
    small().save(path)
    content = path.read_bytes()
    body = content[layout._header_size :]
    refused(path, b"", "empty")
    refused(path, b"PK\x03\x04" + content[4:], "no executable")
    refused(path, sealed(body, file_format=2, version=b"9.8.7"), "format 2")
    refused(path, sealed(body, file_format=2, version=b"9.8.7"), "9.8.7")
    refused(path, content[:-1], "cut off")
    refused(path, content[:-1] + b"?", "checksum")
    refused(path, sealed(body + b"\0"), "follow")
    refused(path, sealed(body[:-1]), "ends early")
    refused(path, sealed(b""), "ends early")
    path.write_bytes(sealed(body))
    assert_same_bits(mg.Executable.load(path).run(ARRAYS)[0], 2 * ARRAYS[1] + ARRAYS[0])


def body_of(executable, path):
    executable.save(path)
    return path.read_bytes()[layout._header_size :]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"\x08\0\0\0addition", b"\x08\0\0\0additiom", "additiom"),
        (b"\x05\0\0\0shape", b"\x05\0\0\0shapf", "shapf"),
        (b"\x05\0\0\0dtype\x01\x20\0\0\x10", b"\x05\0\0\0dtype\x01\x21\0\0\x10", "dtype"),
        (b"\x05\0\0\0dtype\x01", b"\x05\0\0\0dtype\x07", "kind"),
        (b"\x05\0\0\0dtype\x01\x20\0\0\x10", b"\x05\0\0\0dtype\x01\x10\0\0\x10", "shapes or dtypes"),
        (b"\x03\0\0\0sum", b"\x03\0\0\0s\xffm", "text"),
    ],
    ids=["operation", "attribute", "dtype", "tag", "result", "name"],
)
def test_programs_that_mean_nothing(path, old, new, expected):
    body = body_of(small(), path)
    assert old in body
    refused(path, sealed(body.replace(old, new, 1)), expected)


def test_tensors_that_are_not_there(path):
    graph = mg.Graph()
    x = graph.placeholder((3,), name="x")
    body = body_of(graph.compile(feeds=[x], targets=[graph.square(x)]), path)
    feeds_and_targets = struct.pack("<Iii", 1, 0, 0) + struct.pack("<Iii", 1, 1, 0)
    assert body.endswith(feeds_and_targets)
    begin = body[: -len(feeds_and_targets)]
    for feed, target in [((2, 0), (1, 0)), ((-1, 0), (1, 0)), ((0, 1), (1, 0)), ((0, 0), (1, -1)), ((0, 0), (7, 0))]:
        refused(path, sealed(begin + struct.pack("<Iii", 1, *feed) + struct.pack("<Iii", 1, *target)), "tensor")
    refused(path, sealed(begin + struct.pack("<I", 0) + struct.pack("<Iii", 1, 1, 0)), "feeds")
    refused(path, sealed(begin + struct.pack("<Iiiii", 2, 0, 0, 0, 0) + struct.pack("<Iii", 1, 1, 0)), "twice")
    refused(path, sealed(begin + struct.pack("<Iii", 1, 0, 0) + struct.pack("<I", 0)), "targets")


def loads_or_refuses(path, body):
    put(path, sealed(bytes(body)))
    try:
        mg.Executable.load(path)
    except mg.CompileError as error:
        assert str(path) in str(error)


def open_files():
    return len(os.listdir("/dev/fd"))


def test_huge_counts_and_every_other_byte(path):
    """With a checksum that fits: each is refused or is another program, and nothing stays behind."""
    body = body_of(small(), path)
    before = open_files()
    for position in range(len(body)):
        for new in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0", b"\xff", b"\x80"):
            changed = bytearray(body)
            changed[position : position + len(new)] = new
            loads_or_refuses(path, changed)
        loads_or_refuses(path, body[:position])
    assert open_files() == before
    assert list(path.parent.iterdir()) == [path]
    mg.clear_cache()


@each_operation
def test_changed_programs(case, path):
    graph, feeds, results, gradients = with_gradients(case, DEVICE)
    body = body_of(graph.compile(feeds=list(feeds), targets=[*results, *gradients]), path)
    chance = random.Random(case.operation)
    numbers = [struct.pack("<q", value) for value in (-(2**63), -1, 0, 1, 2**31 - 1, 2**31, 2**62, 2**63 - 1)]
    for _ in range(40):
        changed = bytearray(body)
        position = chance.randrange(len(body))
        new = chance.choice([bytes([chance.randrange(256)]), *numbers])
        changed[position : position + len(new)] = new
        loads_or_refuses(path, changed)
    mg.clear_cache()
