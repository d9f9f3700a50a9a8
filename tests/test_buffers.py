"""How memory comes in: every route gives the right values, and what cannot be read is refused by name."""

import re
import threading

import ml_dtypes
import numpy as np
import pytest
from cases.buffers import NATIVE_FORMATS, ROUTES, MetalDLPack, big_endian
from support import assert_same_bits, counting, names, random_array, seeded

import mpsgraph_native as mg

routes = pytest.mark.parametrize("route", ROUTES, ids=str)
NEGATIVE_STRIDE = np.float32([[45, 35], [75, 65]])


def operands():
    rng = seeded("buffers")
    return random_array(rng, (2, 3, 6, 6)), random_array(rng, (2, 4, 4, 4))


def weights_gradient(incoming, source, **keywords):
    shape = (4, 3, 3, 3)
    descriptor = mg.Convolution2DDescriptor()
    return mg.convolution_2d_weights_gradient(incoming, source, output_shape=shape, descriptor=descriptor, **keywords)


def small_weights_gradient(source, incoming=None, **keywords):
    """x [1,1,3,3], dy [1,1,2,2] = 1..4, kernel 2×2."""
    incoming = counting(1, 1, 2, 2) if incoming is None else incoming
    return mg.convolution_2d_weights_gradient(
        incoming, source, output_shape=(1, 1, 2, 2), descriptor=mg.Convolution2DDescriptor(), **keywords
    )


@routes
def test_every_route_gives_the_same(route):
    source, incoming = operands()
    expected = weights_gradient(incoming, source)
    assert_same_bits(weights_gradient(incoming, route.make(source)), expected)
    assert_same_bits(weights_gradient(route.make(incoming), source), expected)


@routes
def test_every_route_is_read_elementwise(route):
    """2·x needs no summation: it is exact."""
    source, _ = operands()
    assert_same_bits(mg.addition(route.make(source), source), source + source)


@routes
def test_copy_false_says_why(route):
    source, _ = operands()
    given = route.make(source)
    try:
        tensor = mg.asarray(given, copy=False, device="cpu")  # which takes memory from any address
    except BufferError as refusal:
        assert route.refusal is not None, refusal
        assert re.search(route.refusal, str(refusal), re.IGNORECASE), refusal
    else:
        assert route.refusal is None or route.optional
        np.testing.assert_array_equal(np.asarray(tensor), source)


@routes
@pytest.mark.parametrize("copy", [None, True])
def test_asarray_keeps_the_values(route, copy):
    source, _ = operands()
    tensor = mg.asarray(route.make(source), copy=copy)
    assert tuple(tensor.shape) == source.shape
    np.testing.assert_array_equal(np.asarray(tensor), source)


def test_tensor_data_is_an_input():
    source, incoming = operands()
    expected = weights_gradient(incoming, source)
    assert_same_bits(weights_gradient(mg.asarray(incoming), mg.asarray(source)), expected)


def test_negative_strides():
    """pytorch/pytorch#188023, scikit-learn/scikit-learn#34307: with the sign ignored this is 37 47 67 77."""
    source = counting(1, 1, 3, 3)[..., ::-1]
    np.testing.assert_array_equal(small_weights_gradient(source)[0, 0], NEGATIVE_STRIDE)
    with pytest.raises(BufferError, match="negative stride"):
        mg.asarray(source, copy=False)


def test_byte_order():
    """dmlc/xgboost#12433, PECOS-packages/PECOS#463, mpi4py/mpi4py#179, dmlc/dlpack#97."""
    source = counting(1, 1, 3, 3)
    expected = small_weights_gradient(source)
    assert_same_bits(small_weights_gradient(source.astype(">f4")), expected)
    for code in NATIVE_FORMATS:
        native = source.astype(code)
        assert_same_bits(small_weights_gradient(native), expected)
        assert np.shares_memory(np.asarray(mg.asarray(native, copy=False, device="cpu")), native)


@pytest.mark.parametrize("code", ["@f", "=f", "<f", "f"])
def test_format_strings_of_the_native_order(code):
    """The same memory under each spelling of the format: ctypes arrays say '<f', memoryview.cast says 'f'."""
    import ctypes
    import sys

    if code == "<f" and sys.byteorder == "little":
        given = (ctypes.c_float * 9)(*range(1, 10))
        assert memoryview(given).format == "<f"
    else:
        view = memoryview(counting(9).tobytes())
        try:
            given = view.cast(code)
        except ValueError:
            pytest.skip("this Python cannot spell the format")
    np.testing.assert_array_equal(np.asarray(mg.asarray(given)), counting(9))


def test_read_only_memory_is_an_input():
    """cython/cython#1605, glotzerlab/freud#244, numpy/numpy#20742."""
    source = counting(1, 1, 3, 3)
    expected = small_weights_gradient(source)
    source.setflags(write=False)
    assert_same_bits(small_weights_gradient(source), expected)
    assert_same_bits(small_weights_gradient(np.frombuffer(source.tobytes(), "f4").reshape(1, 1, 3, 3)), expected)
    assert_same_bits(small_weights_gradient(memoryview(source)), expected)


def test_transposed_view():
    """jax-ml/jax#17784: the strides count, not the order of the memory."""
    source = random_array(seeded("transposed"), (6, 6, 3, 2)).transpose(3, 2, 1, 0)
    _, incoming = operands()
    assert_same_bits(weights_gradient(incoming, source), weights_gradient(incoming, np.ascontiguousarray(source)))


def test_broadcast_strides():
    source = counting(2, 1, 3, 3)
    incoming = np.broadcast_to(np.float32(1), (2, 1, 2, 2))
    expected = small_weights_gradient(source, np.ascontiguousarray(incoming))
    assert_same_bits(small_weights_gradient(source, incoming), expected)
    np.testing.assert_array_equal(expected[0, 0], [[60, 68], [84, 92]])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4), (3, 0)], ids=str)
def test_zero_size(shape):
    """NVIDIA/cuda-python#1396, apache/arrow#38472: no pointer is followed and the shape stays."""
    empty = np.empty(shape, np.float32)
    tensor = mg.asarray(empty)
    assert tuple(tensor.shape) == shape
    assert tensor.size == 0
    assert tensor.nbytes == 0
    assert np.asarray(tensor).shape == shape
    assert np.from_dlpack(tensor).shape == shape
    assert memoryview(tensor).shape == shape
    assert tuple(mg.asarray(np.from_dlpack(tensor)).shape) == shape
    assert mg.addition(empty, empty).shape == shape
    assert np.asarray(mg.empty(shape, "float32")).shape == shape


def test_zero_size_with_odd_strides():
    empty = np.zeros((4, 3), np.float32)[4:, ::-1]
    assert mg.addition(empty, empty).shape == (0, 3)


def test_scalars_have_rank_zero():
    value = np.array(2.5, np.float32)
    result = mg.addition(value, value)
    assert isinstance(result, np.ndarray)
    assert result.shape == ()
    assert result == 5
    assert np.asarray(mg.asarray(value)).shape == ()


@pytest.mark.parametrize(
    "given", [[1.0], [[[[1.0, 2.0]]]], (1.0, 2.0), "abc", object(), {1: 2}], ids=lambda value: type(value).__name__
)
def test_things_that_are_no_arrays(given):
    with pytest.raises(TypeError, match=names("source")):
        small_weights_gradient(given)
    with pytest.raises(TypeError, match=names("incoming_gradient")):
        small_weights_gradient(counting(1, 1, 3, 3), given)


def test_none_is_no_array():
    with pytest.raises((TypeError, ValueError), match=names("source")):
        small_weights_gradient(None)


@pytest.mark.parametrize("name", ["complex64", "complex128", "bool", "object", "U1", "datetime64[s]", "int32", "V4"])
def test_types_that_a_float_operation_refuses(name):
    with pytest.raises(TypeError, match=names("source")):
        small_weights_gradient(np.zeros((1, 1, 3, 3), name))


def test_structured_and_object_arrays_are_refused():
    given = np.zeros((1, 1, 3, 3), [("a", "f4")])
    with pytest.raises(TypeError, match=names("source")):
        small_weights_gradient(given)


def test_float64_runs_on_the_cpu():
    """The device sets the types: the portable engine computes float64 as such."""
    source = counting(1, 1, 3, 3, dtype_name="float64")
    result = small_weights_gradient(source, counting(1, 1, 2, 2, dtype_name="float64"), device="cpu")
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result[0, 0], [[37, 47], [67, 77]])


def test_metal_dlpack_is_not_read_as_memory():
    given = MetalDLPack((1, 1, 3, 3))
    with pytest.raises(BufferError):
        small_weights_gradient(given, device="cpu")
    assert not given.exported


def test_an_exporters_exception_passes_through():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError("exporter")

    with pytest.raises(ZeroDivisionError, match="exporter"):
        small_weights_gradient(Broken())


def test_the_input_is_kept_alive_no_longer_than_the_call():
    import gc
    import weakref

    class Owner(np.ndarray):
        pass

    source = counting(1, 1, 3, 3).view(Owner)
    alive = weakref.ref(source)
    small_weights_gradient(source)
    del source
    gc.collect()
    assert alive() is None


def test_subclasses_come_out_as_plain_arrays():
    class Sub(np.ndarray):
        pass

    assert type(mg.addition(counting(3).view(Sub), counting(3))) is np.ndarray


def test_bfloat16_is_ml_dtypes():
    """ml-explore/mlx#383, ml-explore/mlx#323: bfloat16 has no format code of its own."""
    values = counting(2, 3, dtype_name="bfloat16")
    tensor = mg.asarray(values)
    assert np.asarray(tensor).dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(np.asarray(tensor), values)
    assert mg.addition(values, values).dtype == ml_dtypes.bfloat16
    try:
        view = memoryview(tensor)
    except (BufferError, TypeError) as refusal:
        assert "ml_dtypes" in str(refusal)
    else:
        assert view.nbytes == values.nbytes


def test_conversions_from_two_threads_and_frees_in_a_third():
    """ml-explore/mlx#4497: nothing waits for the device while it holds the interpreter."""
    source = counting(64, 64)
    dropped, failures = [], []

    def convert():
        try:
            for _ in range(1000):
                tensor = mg.asarray(big_endian(source))
                assert np.asarray(tensor)[0, 1] == 2
                dropped.append(tensor)
        except Exception as failure:
            failures.append(failure)

    workers = [threading.Thread(target=convert) for _ in range(2)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        while dropped:
            dropped.pop()
    for worker in workers:
        worker.join(60)
    assert not failures


@pytest.mark.parametrize("shape", [(2**31,), (2**20, 2**20), (3, 2**30)], ids=str)
def test_a_refused_input_is_not_copied_first(shape):
    """Broadcast views of one element: a copy would need gigabytes."""
    source = np.broadcast_to(np.float32(1), shape)
    before = mg.transfer_statistics()["copied_bytes"]
    with pytest.raises(mg.ShapeError, match=names("tensor", "source")):
        if len(shape) == 2 and shape[0] == 3:
            mg.max_pooling_2d(source, descriptor=mg.Pooling2DDescriptor(kernel_width=2, kernel_height=2))
        else:
            mg.relu(source)
    assert mg.transfer_statistics()["copied_bytes"] == before


def test_rank_beyond_the_limit():
    with pytest.raises(mg.ShapeError, match=names("tensor")):
        mg.relu(np.zeros((1,) * 17, np.float32))
