"""TensorData: memory of the package's own, seen through the buffer protocol, NumPy and DLPack without copies."""

import ctypes
import gc
import mmap
import weakref

import ml_dtypes
import numpy as np
import pytest
from support import FLOAT_DTYPES, counting, dtype, names

import mpsgraph_native as mg

PYBUF_SIMPLE, PYBUF_WRITABLE, PYBUF_FORMAT, PYBUF_ND, PYBUF_STRIDES = 0, 1, 4, 8, 0x18
dtypes = pytest.mark.parametrize("name", [*FLOAT_DTYPES, "int32", "int64"])


class PyBuffer(ctypes.Structure):
    """Py_buffer, to ask for a view with flags that memoryview never uses."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]  # fmt: skip


def export(exporter, flags):
    """What the exporter fills in for these flags; raises what it raises."""
    view = PyBuffer()
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(PyBuffer), ctypes.c_int]
    release = ctypes.pythonapi.PyBuffer_Release
    release.argtypes, release.restype = [ctypes.POINTER(PyBuffer)], None
    get(exporter, ctypes.byref(view), flags)
    try:
        ndim = view.ndim
        return {
            "length": view.len,
            "readonly": bool(view.readonly),
            "format": view.format,
            "shape": tuple(view.shape[:ndim]) if view.shape else None,
            "strides": tuple(view.strides[:ndim]) if view.strides else None,
        }
    finally:
        release(ctypes.byref(view))


@dtypes
def test_empty(name):
    tensor = mg.empty((3, 4, 5), name)
    assert tuple(tensor.shape) == (3, 4, 5)
    assert tensor.dtype == dtype(name)
    assert tensor.ndim == 3
    assert tensor.size == 60
    assert tensor.nbytes == 60 * dtype(name).itemsize
    assert mg.default_device().name in str(tensor.device)
    assert np.asarray(tensor).ctypes.data % mmap.PAGESIZE == 0


def test_empty_on_a_named_device():
    assert "cpu" in str(mg.empty((2,), "float32", device="cpu").device)


@pytest.mark.parametrize("shape", [(-1,), (2, -3)], ids=str)
def test_empty_refuses_negative_extents(shape):
    with pytest.raises(ValueError, match="shape"):
        mg.empty(shape, "float32")


@pytest.mark.parametrize("name", ["complex64", "float31"])
def test_empty_refuses_other_types(name):
    with pytest.raises((TypeError, ValueError), match="dtype"):
        mg.empty((2,), name)


def test_empty_refuses_an_unknown_device():
    with pytest.raises((ValueError, mg.DeviceError), match="device"):
        mg.empty((2,), "float32", device="abacus")


@dtypes
def test_numpy_shares_the_memory(name):
    tensor = mg.empty((2, 3), name)
    array = np.asarray(tensor)
    assert array.dtype == dtype(name)
    assert array.flags.writeable
    array[...] = counting(2, 3, dtype_name=name)
    np.testing.assert_array_equal(np.asarray(tensor), counting(2, 3, dtype_name=name))
    assert np.shares_memory(array, np.asarray(tensor))


def test_numpy_copy_argument():
    tensor = mg.asarray(counting(2, 3))
    assert np.shares_memory(np.asarray(tensor, copy=False), np.asarray(tensor))
    assert not np.shares_memory(np.array(tensor, copy=True), np.asarray(tensor))
    converted = np.asarray(tensor, dtype=np.float64)
    assert converted.dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensor, dtype=np.float64, copy=False)


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int32"])
def test_memoryview_shares_the_memory(name):
    tensor = mg.empty((2, 3), name)
    view = memoryview(tensor)
    assert view.shape == (2, 3)
    assert view.c_contiguous
    assert not view.readonly
    np.asarray(view)[...] = 7
    assert (np.asarray(tensor) == 7).all()
    assert np.asarray(view).dtype == dtype(name)


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int32"])
def test_dlpack_shares_the_memory(name):
    tensor = mg.empty((2, 3), name, device="cpu")
    array = np.from_dlpack(tensor)
    assert array.dtype == dtype(name)
    assert np.shares_memory(array, np.asarray(tensor))
    cpu, index = tensor.__dlpack_device__()
    assert (int(cpu), index) == (1, 0)


def test_dlpack_copy():
    tensor = mg.asarray(counting(2, 3))
    array = np.from_dlpack(tensor, copy=True)
    assert not np.shares_memory(array, np.asarray(tensor))
    np.testing.assert_array_equal(array, counting(2, 3))


def test_dlpack_round_trip():
    tensor = mg.asarray(np.from_dlpack(mg.asarray(counting(4, 5))), copy=False)
    np.testing.assert_array_equal(np.asarray(tensor), counting(4, 5))


def test_asarray_copies_when_told():
    array = counting(2, 3)
    shared, copied = mg.asarray(array, copy=False, device="cpu"), mg.asarray(array, copy=True)
    array[0, 0] = 99
    assert np.asarray(shared)[0, 0] == 99
    assert np.asarray(copied)[0, 0] == 1
    assert np.asarray(copied).ctypes.data % mmap.PAGESIZE == 0


def test_asarray_of_tensor_data():
    tensor = mg.asarray(counting(2, 3))
    assert np.shares_memory(np.asarray(mg.asarray(tensor, copy=False)), np.asarray(tensor))
    assert not np.shares_memory(np.asarray(mg.asarray(tensor, copy=True)), np.asarray(tensor))


def test_asarray_of_read_only_memory_stays_read_only():
    array = counting(2, 3)
    array.setflags(write=False)
    tensor = mg.asarray(array, copy=False, device="cpu")
    assert not np.asarray(tensor).flags.writeable
    assert memoryview(tensor).readonly


@pytest.mark.parametrize("given", [[1.0, 2.0], "abc", 3.0, None], ids=str)
def test_asarray_refuses_what_is_no_memory(given):
    with pytest.raises(TypeError):
        mg.asarray(given)


@pytest.mark.parametrize("name", ["complex64", "object", "U3"])
def test_asarray_refuses_other_types(name):
    with pytest.raises(TypeError):
        mg.asarray(np.zeros(3, name))


def test_the_exporter_fills_what_is_asked():
    """Without PyBUF_STRIDES the strides stay unset, without PyBUF_FORMAT the format does."""
    tensor = mg.empty((2, 3), "float32")
    simple = export(tensor, PYBUF_SIMPLE)
    assert simple["length"] == 24
    assert simple["format"] is None
    assert simple["strides"] is None
    shaped = export(tensor, PYBUF_ND)
    assert shaped["shape"] == (2, 3)
    assert shaped["strides"] is None
    full = export(tensor, PYBUF_STRIDES | PYBUF_FORMAT | PYBUF_WRITABLE)
    assert full["strides"] == (12, 4)
    assert full["format"].decode().lstrip("@=<") == "f"
    assert not full["readonly"]


def test_the_exporter_does_not_hand_out_read_only_memory_for_writing():
    array = counting(2, 3)
    array.setflags(write=False)
    tensor = mg.asarray(array, copy=False, device="cpu")
    assert export(tensor, PYBUF_ND)["readonly"]
    with pytest.raises(BufferError):
        export(tensor, PYBUF_ND | PYBUF_WRITABLE)


def test_the_exporter_refuses_simple_views_of_strided_memory():
    try:
        tensor = mg.asarray(np.asfortranarray(counting(2, 3)), copy=False)
    except BufferError:
        return
    with pytest.raises(BufferError):
        export(tensor, PYBUF_SIMPLE)


def test_memory_outlives_its_tensor():
    array = np.asarray(mg.asarray(counting(100, 100), copy=True))
    gc.collect()
    others = [np.asarray(mg.empty((100, 100), "float32")) for _ in range(4)]
    for other in others:
        other[...] = -1
    np.testing.assert_array_equal(array, counting(100, 100))


def test_adopted_memory_lives_as_long_as_the_tensor():
    class Owner(np.ndarray):
        pass

    owner = counting(2, 3).view(Owner)
    alive = weakref.ref(owner)
    tensor = mg.asarray(owner, copy=False, device="cpu")
    del owner
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(np.asarray(tensor), counting(2, 3))
    del tensor
    gc.collect()
    assert alive() is None


def test_bfloat16():
    tensor = mg.empty((2, 2), "bfloat16")
    assert np.asarray(tensor).dtype == ml_dtypes.bfloat16
    assert np.dtype(mg.empty((2,), ml_dtypes.bfloat16).dtype) == ml_dtypes.bfloat16


def test_printing_says_what_it_is():
    text = repr(mg.empty((2, 3), "float32"))
    assert "(2, 3)" in text
    assert "float32" in text


def test_bfloat16_works_without_a_buffer_format():
    """bfloat16 has no struct code, so that TensorData of it is read directly."""
    source = mg.empty((2, 3), "bfloat16")
    np.asarray(source)[...] = -1.5
    out = mg.empty((2, 3), "bfloat16")
    assert mg.negative(source, out=out) is out
    np.testing.assert_array_equal(np.asarray(out).astype(np.float32), np.full((2, 3), 1.5, np.float32))
    assert mg.asarray(source, copy=False).shape == (2, 3)


def test_bfloat16_by_dlpack():
    torch = pytest.importorskip("torch")
    source = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
    result = mg.negative(source)
    assert result.dtype == dtype("bfloat16")
    np.testing.assert_array_equal(result.astype(np.float32), -source.float().numpy())
    np.testing.assert_array_equal(mg.negative(source.T).astype(np.float32), -source.T.float().numpy())


@pytest.mark.parametrize("copy", ["foo", 0, 1, 2.0])
def test_copy_is_a_flag(copy):
    with pytest.raises(mg.DTypeError, match=names("copy")):
        mg.asarray(np.ones(3, np.float32), copy=copy)


def test_refused_layout_says_why():
    tensor = mg.empty((2, 3))
    with pytest.raises(BufferError, match="exported as asked"):
        memoryview_of_fortran_order(tensor)


def memoryview_of_fortran_order(tensor):
    import ctypes

    view = (ctypes.c_byte * 256)()
    flags = 0x0040 | 0x0010 | 0x0008  # PyBUF_F_CONTIGUOUS
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
    get(tensor, ctypes.addressof(view), flags)
