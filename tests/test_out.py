"""Results: fresh ones are C-contiguous on page-aligned memory, `out=` is filled or refused by name and left alone."""

import mmap

import numpy as np
import pytest
from support import assert_same_bits, counting, dtype, dtypes, names, random_array, seeded

import mpsgraph_native as mg

RNG = seeded("out")
SOURCE, INCOMING, WEIGHTS = (random_array(RNG, shape) for shape in ((2, 3, 8, 8), (2, 4, 6, 6), (4, 3, 3, 3)))
GEOMETRY = mg.Convolution2DDescriptor()
POOLING = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2), return_indices_mode="GlobalFlatten2D")

CALLS = {
    "convolution_2d": lambda **k: mg.convolution_2d(SOURCE, WEIGHTS, descriptor=GEOMETRY, **k),
    "weights_gradient": lambda **k: mg.convolution_2d_weights_gradient(
        INCOMING, SOURCE, output_shape=WEIGHTS.shape, descriptor=GEOMETRY, **k
    ),
    "data_gradient": lambda **k: mg.convolution_2d_data_gradient(
        INCOMING, WEIGHTS, output_shape=SOURCE.shape, descriptor=GEOMETRY, **k
    ),
    "max_pooling": lambda **k: mg.max_pooling_4d(SOURCE, descriptor=POOLING, **k),
    "addition": lambda **k: mg.addition(SOURCE, SOURCE, **k),
    "mean": lambda **k: mg.mean(SOURCE, axes=(2, 3), **k),
    "transpose": lambda **k: mg.transpose(SOURCE, permutation=(3, 2, 1, 0), **k),
    "softmax": lambda **k: mg.softmax(SOURCE, axis=1, **k),
}
calls = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@calls
def test_fresh_results(call):
    result = call()
    assert type(result) is np.ndarray
    assert result.flags.c_contiguous
    assert result.flags.writeable
    assert result.ctypes.data % mmap.PAGESIZE == 0
    assert result.dtype == np.float32


@calls
def test_fresh_results_share_nothing(call):
    first = call()
    kept = first.copy()
    second = call()
    assert not np.shares_memory(first, second)
    second[...] = -1
    np.testing.assert_array_equal(first, kept)


def strided(good):
    wide = np.full((*good.shape[:-1], 2 * good.shape[-1]), np.nan, good.dtype)
    return wide[..., ::2]


LAYOUTS = {
    "contiguous": lambda good: np.full_like(good, np.nan, order="C"),
    "fortran": lambda good: np.full(good.shape, np.nan, good.dtype, order="F"),
    "strided": strided,
    "backwards": lambda good: np.full(good.shape, np.nan, good.dtype)[::-1, ..., ::-1],
    "offset": lambda good: np.full(good.size + 3, np.nan, good.dtype)[3:].reshape(good.shape),
    "misaligned": lambda good: np.frombuffer(bytearray(good.nbytes + 1), good.dtype, offset=1).reshape(good.shape),
}


@calls
@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_is_filled_and_returned(call, layout):
    expected = call()
    out = LAYOUTS[layout](expected)
    assert call(out=out) is out
    assert_same_bits(out, expected)


@calls
def test_gaps_of_a_strided_out_are_left_alone(call):
    expected = call()
    wide = np.full((*expected.shape[:-1], 2 * expected.shape[-1]), 7, expected.dtype)
    call(out=wide[..., ::2])
    assert (wide[..., 1::2] == 7).all()


def test_a_scalar_has_no_memory_for_a_result():
    """NumPy's indexing gives scalars where an array of no axis was meant: `out=array[()]`."""
    scalar, array = np.float32(7), np.full((), 7, np.float32)
    with pytest.raises(mg.DTypeError, match=names("out")):
        mg.square(np.full((), 3, np.float32), out=scalar)
    assert mg.square(np.full((), 3, np.float32), out=array) is array and array == 9


def test_tensor_data_as_out():
    expected = CALLS["addition"]()
    tensor = mg.empty(expected.shape, "float32")
    assert CALLS["addition"](out=tensor) is tensor
    assert_same_bits(np.asarray(tensor), expected)


def read_only(good):
    array = np.zeros_like(good)
    array.setflags(write=False)
    return array


REFUSED = {
    "shape": lambda good: np.zeros((*good.shape, 1), good.dtype),
    "size": lambda good: np.zeros((good.shape[0] + 1, *good.shape[1:]), good.dtype),
    "wider type": lambda good: np.zeros(good.shape, np.float64),
    "narrower type": lambda good: np.zeros(good.shape, np.float16),
    "integers": lambda good: np.zeros(good.shape, np.int32),
    "byte order": lambda good: np.zeros(good.shape, good.dtype.newbyteorder()),
    "read-only": read_only,
    "broadcast": lambda good: np.lib.stride_tricks.as_strided(
        np.zeros(1, good.dtype), good.shape, (0,) * good.ndim, writeable=True
    ),
}


@calls
@pytest.mark.parametrize("kind", REFUSED)
def test_out_refused(call, kind):
    out = REFUSED[kind](call())
    with pytest.raises((ValueError, TypeError), match=names("out")):
        call(out=out)
    assert not out.any()


@pytest.mark.parametrize(
    "given", [[1.0], "abc", 3.0, b"abc", (np.zeros(1), np.zeros(1))], ids=lambda value: type(value).__name__
)
def test_out_that_is_no_array(given):
    with pytest.raises((ValueError, TypeError), match=names("out")):
        CALLS["addition"](out=given)


OVERLAPS = {
    "same": lambda block: (block[:9], block[:9]),
    "shifted": lambda block: (block[:9], block[1:10]),
    "interleaved bytes": lambda block: (block[:18:2], block[4:13]),
}


@pytest.mark.parametrize("kind", OVERLAPS)
def test_out_overlapping_an_input(kind):
    block = counting(20)
    before = block.copy()
    source, out = OVERLAPS[kind](block)
    with pytest.raises(ValueError, match=names("out")):
        mg.convolution_2d_weights_gradient(
            counting(1, 1, 1, 1), source.reshape(1, 1, 3, 3), output_shape=(1, 1, 3, 3), descriptor=GEOMETRY,
            out=out.reshape(1, 1, 3, 3) if out.flags.c_contiguous else out,
        )  # fmt: skip
    np.testing.assert_array_equal(block, before)


def test_out_beside_an_input_in_one_block():
    block = counting(18)
    source, out = block[:9].reshape(1, 1, 3, 3), block[9:].reshape(1, 1, 3, 3)
    result = mg.addition(source, source, out=out)
    assert result is out
    np.testing.assert_array_equal(out, 2 * counting(1, 1, 3, 3))


def pooling_outputs():
    values, indices = mg.max_pooling_4d_return_indices(SOURCE, descriptor=POOLING)
    return (values, indices), (np.zeros_like(values), np.zeros_like(indices))


def test_out_of_two_results():
    expected, out = pooling_outputs()
    results = mg.max_pooling_4d_return_indices(SOURCE, descriptor=POOLING, out=out)
    for result, array, value in zip(results, out, expected, strict=True):
        assert result is array
        assert_same_bits(array, value)


@pytest.mark.parametrize("change", ["one", "three", "swapped", "bare"])
def test_out_of_two_results_refused(change):
    _, (values, indices) = pooling_outputs()
    given = {
        "one": (values,), "three": (values, indices, values.copy()), "swapped": (indices, values), "bare": values,
    }[change]  # fmt: skip
    with pytest.raises((ValueError, TypeError), match=names("out")):
        mg.max_pooling_4d_return_indices(SOURCE, descriptor=POOLING, out=given)
    assert not values.any()
    assert not indices.any()


@pytest.mark.parametrize("name", dtypes("float64", "float16", "bfloat16"))
def test_out_has_the_type_of_the_operands(name):
    source = counting(2, 3, dtype_name=name)
    out = np.zeros((2, 3), dtype(name))
    assert mg.addition(source, source, out=out) is out
    np.testing.assert_array_equal(out.astype(np.float64), 2.0 * counting(2, 3))


def test_a_failed_call_writes_nothing():
    out = np.zeros((4, 3, 3, 3), np.float32)
    with pytest.raises(ValueError, match=names("source", "incoming_gradient", "output_shape")):
        mg.convolution_2d_weights_gradient(
            INCOMING, SOURCE[:, :, :3], output_shape=(4, 3, 3, 3), descriptor=GEOMETRY, out=out
        )
    assert not out.any()


class GivesACopy:
    """Something that is an array by value alone."""

    def __array__(self, dtype=None, copy=None):
        return np.zeros((2, 3), np.float32)


def test_out_that_could_take_the_results_with_it():
    with pytest.raises(mg.DTypeError, match=names("out")):
        mg.negative(counting(2, 3), out=GivesACopy())


def test_out_by_the_buffer_protocol():
    memory = bytearray(24)
    view = memoryview(memory).cast("f", (2, 3))
    assert mg.negative(counting(2, 3), out=view) is view
    np.testing.assert_array_equal(np.frombuffer(memory, np.float32), -np.arange(1, 7, dtype=np.float32))
    with pytest.raises(ValueError, match=names("out")):
        mg.negative(counting(2, 3), out=memoryview(bytes(24)).cast("f", (2, 3)))
