"""What TensorData hands out: counted exports, views, capsules and pickles, and the end of its memory by close()."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
from support import FLOAT_DTYPES, counting, dtype, names

import mpsgraph_native as mg

NAMES = [*FLOAT_DTYPES, "int8", "uint16", "int32", "int64", "bool"]
dtypes = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def tensor():
    made = mg.empty((4, 6))
    made[...] = counting(4, 6)
    return made


EXPORTS = {
    "array": np.asarray,
    "bytes": memoryview,
    "capsule": lambda tensor: tensor.__dlpack__(),
    "versioned capsule": lambda tensor: tensor.__dlpack__(max_version=(1, 0)),
    "consumed capsule": np.from_dlpack,
    "view": lambda tensor: tensor[1:],
    "view of a view": lambda tensor: tensor[1:][:, 2],
    "view of an array": lambda tensor: np.asarray(tensor)[::2],
    "view of a capsule's array": lambda tensor: np.from_dlpack(tensor)[0, 1:],
}
each_export = pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)


@each_export
def test_an_export_keeps_the_memory_open(tensor, export):
    assert tensor.exports == 0
    held = export(tensor)
    assert tensor.exports >= 1
    with pytest.raises(BufferError, match=r"close: \d+ exports? "):
        tensor.close()
    assert not tensor.closed and tensor.shape == (4, 6)
    del held
    gc.collect()
    assert tensor.exports == 0
    tensor.close()
    assert tensor.closed
    tensor.close()


@each_export
def test_an_export_outlives_the_tensor(tensor, export):
    held = export(tensor)
    del tensor
    gc.collect()
    others = [mg.empty((4, 6)) for _ in range(8)]
    for other in others:
        other[...] = -1
    if type(held).__name__ != "PyCapsule":
        array = np.asarray(held)
        assert array.size and (array > 0).all()


@dtypes
def test_exports_of_every_type_are_counted(name):
    tensor = mg.empty((2, 3), name)
    array = np.asarray(tensor)
    assert tensor.exports == 1 and array.dtype == dtype(name)
    part = array.T[1:]
    del array
    assert tensor.exports == 1
    del part
    assert tensor.exports == 0


def test_each_export_counts_once(tensor):
    held = [np.asarray(tensor) for _ in range(5)]
    assert tensor.exports == 5
    del held[2:]
    assert tensor.exports == 2


def test_a_refused_export_counts_nothing():
    bfloat = mg.empty((2, 3), "bfloat16")
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(bfloat)
    frozen = counting(3)
    frozen.setflags(write=False)
    shared = mg.asarray(frozen, device="cpu")
    with pytest.raises(BufferError, match="read-only"):
        shared.__dlpack__()
    assert bfloat.exports == shared.exports == 0


def test_a_closed_tensor_says_so(tensor):
    with tensor as same:
        assert same is tensor
    for use in (
        lambda: tensor.shape, lambda: tensor.dtype, lambda: tensor.nbytes, lambda: tensor[0], lambda: len(tensor),
        lambda: np.asarray(tensor), lambda: memoryview(tensor), lambda: tensor.__dlpack__(), lambda: pickle.dumps(tensor),
        lambda: tensor.__enter__(), lambda: tensor.__setitem__(0, 1), lambda: tensor.__array_interface__,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(ValueError, match=r"tanh: tensor is closed"):
        mg.tanh(tensor)
    with pytest.raises(ValueError, match=r"tanh: out is closed"):
        mg.tanh(counting(4, 6), out=tensor)
    assert "closed" in repr(tensor)


def test_close_gives_the_pages_back():
    size = 1 << 22
    tensor = mg.empty(size, "int8")
    before = mg.memory_statistics()["live_bytes"]
    tensor.close()
    assert before - mg.memory_statistics()["live_bytes"] >= size


def test_with_refuses_to_end_while_exported(tensor):
    with pytest.raises(BufferError, match="1 exports"), tensor:
        held = np.asarray(tensor)
    del held
    tensor.close()


def test_an_address_that_was_handed_out_cannot_be_closed(tensor):
    description = tensor.__array_interface__
    assert description["data"][0] == np.asarray(tensor).ctypes.data
    assert description["shape"] == (4, 6) and description["typestr"] == np.dtype(np.float32).str
    gc.collect()
    with pytest.raises(BufferError, match="__array_interface__"):
        tensor.close()


def test_bfloat16_has_no_array_interface():
    assert not hasattr(mg.empty(3, "bfloat16"), "__array_interface__")


@pytest.mark.parametrize(
    "index", [0, -1, np.int64(2), slice(1, 3), (1, 2), (..., 1), (slice(None, None, -2), 3), (None, 1), ()], ids=repr
)
def test_views_are_numpys(tensor, index):
    part = tensor[index]
    expected = np.asarray(tensor)[index]
    assert isinstance(part, mg.TensorData) and part.device == tensor.device
    assert part.shape == np.shape(expected)
    np.testing.assert_array_equal(np.asarray(part), expected)
    part[...] = -1
    np.testing.assert_array_equal(np.asarray(tensor)[index], np.full(np.shape(expected), -1))


def test_rows_can_be_iterated(tensor):
    np.testing.assert_array_equal([np.asarray(row) for row in tensor], np.asarray(tensor))


@pytest.mark.parametrize("index", [[0, 1], np.array([0, 1]), True, (0, np.True_), "a", 1.5], ids=repr)
def test_other_indices_are_refused(tensor, index):
    with pytest.raises(mg.DTypeError, match=names("index")):
        tensor[index]
    with pytest.raises(mg.DTypeError, match=names("index")):
        tensor[index] = 1


def test_an_index_beyond_the_end(tensor):
    with pytest.raises(IndexError):
        tensor[4]


def test_views_are_operands_and_results(tensor):
    source = counting(4, 6)
    np.testing.assert_array_equal(mg.negative(tensor[1:, ::2]), -source[1:, ::2])
    out = mg.empty((4, 6))
    out[...] = 0
    part = out[::2]
    assert mg.negative(source[:2], out=part) is part
    np.testing.assert_array_equal(np.asarray(out)[::2], -source[:2])
    np.testing.assert_array_equal(np.asarray(out)[1::2], np.zeros((2, 6)))


def test_a_read_only_tensor_is_not_written():
    frozen = counting(3)
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        mg.asarray(frozen, device="cpu")[0] = 1


def test_assignment_from_another_tensor(tensor):
    other = mg.empty((2, 6))
    other[...] = tensor[:2]
    np.testing.assert_array_equal(np.asarray(other), counting(4, 6)[:2])
    assert tensor.exports == other.exports == 0


@dtypes
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(name, protocol):
    tensor = mg.empty((2, 3), name)
    tensor[...] = counting(2, 3, dtype_name=name)
    loaded = pickle.loads(pickle.dumps(tensor, protocol))
    assert loaded.device == tensor.device and loaded.dtype == tensor.dtype
    np.testing.assert_array_equal(np.asarray(loaded), np.asarray(tensor))
    assert not np.shares_memory(np.asarray(loaded), np.asarray(tensor))
    assert tensor.exports == 0


def test_pickles_out_of_band_share_the_memory(tensor):
    buffers = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    assert len(data) < 1000 and len(buffers) == 1
    assert np.shares_memory(np.asarray(pickle.loads(data, buffers=buffers)), np.asarray(tensor))


def test_a_pickle_from_a_device_that_is_not_here(tensor, monkeypatch):
    from mpsgraph_native._core import tensor_data

    data = pickle.dumps(tensor)
    monkeypatch.setattr(tensor_data, "devices", list)
    assert pickle.loads(data).device == mg.default_device().name


def test_copies(tensor):
    deep, shallow = copy.deepcopy(tensor), copy.copy(tensor)
    assert not np.shares_memory(np.asarray(deep), np.asarray(tensor))
    assert np.shares_memory(np.asarray(shallow), np.asarray(tensor))


# ---- DLPack


class Capsule:
    """A producer of a capsule that is already made."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "bfloat16"])
@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 2), (7, 0)])
def test_numpy_reads_both_forms(name, max_version):
    tensor = mg.empty((2, 3, 4), name)
    tensor[...] = counting(2, 3, 4, dtype_name=name)
    for part in (tensor, tensor[:, ::2, ::-1], tensor[0, 0, 0]):
        capsule = part.__dlpack__(max_version=max_version)
        versioned = max_version is not None and max_version[0] >= 1
        assert ('"dltensor_versioned"' if versioned else '"dltensor"') in repr(capsule)
        array = np.from_dlpack(Capsule(capsule))
        assert array.dtype == dtype(name)
        assert array.flags.writeable == versioned  # numpy trusts no other
        np.testing.assert_array_equal(array, np.asarray(part))
        assert np.shares_memory(array, np.asarray(tensor))


def test_read_only_memory_needs_the_versioned_form():
    frozen = counting(2, 3)
    frozen.setflags(write=False)
    tensor = mg.asarray(frozen, device="cpu")
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__(max_version=(0, 8))
    assert not np.from_dlpack(tensor).flags.writeable
    array = np.from_dlpack(tensor, copy=True)
    assert array.flags.writeable and not np.shares_memory(array, frozen)
    assert np.from_dlpack(Capsule(tensor.__dlpack__(max_version=(1, 0), copy=True))).flags.writeable


@pytest.mark.parametrize(
    ("argument", "value"), [("stream", 1), ("stream", -1), ("dl_device", (2, 0)), ("dl_device", (1, 1))], ids=repr
)
def test_the_consumer_asks_for_what_is_not_there(tensor, argument, value):
    with pytest.raises(BufferError, match=names(argument)):
        tensor.__dlpack__(**{argument: value})
    assert tensor.exports == 0


def test_the_host_may_be_named(tensor):
    assert np.from_dlpack(tensor, device="cpu").shape == (4, 6)


@pytest.mark.parametrize("form", [None, (1, 0)])
def test_capsules_that_nobody_reads_leak_nothing(tensor, form):
    for _ in range(1000):
        tensor.__dlpack__(max_version=form)
    assert tensor.exports == 0


def test_threads_export_and_give_back_at_once(tensor):
    failures = []

    def work():
        try:
            for _ in range(500):
                assert np.asarray(tensor)[1:].sum() == counting(4, 6)[1:].sum()
                memoryview(tensor).release()
                tensor.__dlpack__(max_version=(1, 0))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert tensor.exports == 0
    tensor.close()


# ---- what was copied, and why


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda array: array[:, ::-1], "negative stride"),
        (lambda array: array[:, ::2], "not C-contiguous"),
        (lambda array: array.astype(array.dtype.newbyteorder()), "byte order"),
        (
            lambda array: np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6),
            "alignment",
        ),
    ],
    ids=["negative stride", "stride", "byte order", "alignment"],
)
def test_a_copy_is_told_with_its_reason(make, reason):
    given = make(counting(4, 6))
    mg.negative(given)
    copied = mg.last_copies()[-1]
    assert (copied.shape, copied.nbytes) == (given.shape, given.nbytes)
    assert reason in copied.reason


def test_the_last_copies_are_bounded(tensor):
    for _ in range(100):
        mg.negative(tensor[::-1])
    before = mg.last_copies()
    assert len(before) == 64
    mg.negative(tensor)
    assert mg.last_copies() == before
