import itertools

import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_same_bits, dtype, dtypes, names, seeded

import mpsgraph_native as mg

DTYPES = [*FLOAT_DTYPES, "int8", "int16", "int32", "int64", "uint8", "bool"]


def numbers(shape, name="float32"):
    """Small integers, which every dtype holds and which tell neighbours apart."""
    return (np.arange(np.prod(shape, dtype=int)) % 113).reshape(shape).astype(dtype(name))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(
    ("shape", "new"),
    [((), (1, 1)), ((6,), (2, -1)), ((2, 3, 4), (-1,)), ((2, 3, 4), (4, 6)), ((1,), ()), ((0, 3), (3, 0)), ((0, 3), (7, 0, 2)),
     ((400, 300), (-1, 2))],
    ids=str,
)  # fmt: skip
def test_reshape(shape, new, name):
    tensor = numbers(shape, name)
    expected = tensor.reshape(new)
    assert_same_bits(mg.reshape(tensor, shape=new), expected)
    assert_same_bits(mg.reshape(tensor, shape=list(new)), expected)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(
    "shape", [(3, 5), (130, 67), (2, 3, 4), (3, 1, 70), (17, 33, 5), (2, 3, 4, 5), (3, 0, 2)], ids=str
)
def test_transpose(shape, name):
    tensor = numbers(shape, name)
    for permutation in itertools.permutations(range(len(shape))):
        expected = np.ascontiguousarray(tensor.transpose(permutation))
        assert_same_bits(mg.transpose(tensor, permutation=permutation), expected)


@pytest.mark.parametrize("name", dtypes("float32", "float64", "int16", "uint8"))
@pytest.mark.parametrize(
    ("shape", "permutation"),
    [((8, 16, 65, 67), (0, 2, 3, 1)), ((8, 65, 67, 16), (0, 3, 1, 2)), ((1000, 301), (1, 0)), ((40, 50, 60), (2, 1, 0)),
     ((40, 50, 60), (1, 0, 2)), ((2, 3, 2, 3, 2, 3, 2), (6, 0, 5, 1, 4, 2, 3)), ((70_000, 2), (-1, 0))],
    ids=str,
)  # fmt: skip
def test_transpose_large(shape, permutation, name):
    tensor = numbers(shape, name)
    assert_same_bits(mg.transpose(tensor, permutation=permutation), np.ascontiguousarray(tensor.transpose(permutation)))


@pytest.mark.parametrize(("first", "second"), [(0, 1), (-1, 0), (2, -2), (1, 1)])
def test_transpose_of_two_dimensions(first, second):
    tensor = numbers((2, 3, 4))
    expected = np.ascontiguousarray(tensor.swapaxes(first, second))
    assert_same_bits(mg.transpose(tensor, dimension=first, with_dimension=second), expected)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(
    ("shape", "new"),
    [((), ()), ((), (3, 2)), ((1,), (5,)), ((3, 1), (3, 4)), ((4,), (3, 4)), ((2, 1, 3, 1), (5, 2, 4, 3, 7)), ((1, 3), (0, 3)),
     ((300, 1), (300, 301)), ((301,), (300, 301)), ((1, 70_000), (2, 70_000))],
    ids=str,
)  # fmt: skip
def test_broadcast(shape, new, name):
    tensor = numbers(shape, name)
    assert_same_bits(mg.broadcast(tensor, shape=new), np.ascontiguousarray(np.broadcast_to(tensor, new)).reshape(new))


CAST_DTYPES = [*DTYPES, "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("to", CAST_DTYPES)
@pytest.mark.parametrize("name", CAST_DTYPES)
def test_cast_of_common_values(name, to):
    for tensor in (numbers((3, 40), name), numbers(70_001, name), numbers((0, 2), name), numbers((), name)):
        assert_same_bits(mg.cast(tensor, dtype=to), tensor.astype(dtype(to)))


@pytest.mark.parametrize("to", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("name", FLOAT_DTYPES)
def test_cast_truncates_and_saturates(name, to):
    values = [1.5, -1.5, 0.99, -0.99, 2.0**7, 2.0**15, 2.0**31, 2.0**63, 2.0**64, 1e30, np.inf, np.nan, -0.0]
    with np.errstate(over="ignore"):
        tensor = np.array(values + [-value for value in values]).astype(dtype(name))
    limits = np.iinfo(to)

    def convert(value):
        if np.isnan(value):
            return 0
        return limits.max if value >= limits.max else limits.min if value <= limits.min else int(value)

    expected = np.array([convert(value) for value in tensor.astype(np.float64)], to)
    assert_same_bits(mg.cast(tensor, dtype=to), expected)


def test_cast_to_bool_and_between_integers():
    assert_same_bits(mg.cast(np.float32([0, -0.0, 0.1, np.nan, -3]), dtype="bool"), np.array([0, 0, 1, 1, 1], bool))
    wide = np.array([0, -1, 2**31, 2**32 + 5, -(2**40) - 7, 300], np.int64)
    for to in ("int8", "uint8", "int32", "uint64"):
        assert_same_bits(mg.cast(wide, dtype=to), wide.astype(to))


def test_cast_to_half_rounds_to_nearest_even():
    tensor = seeded("half").standard_normal(10_000).astype(np.float32)
    for name in ("float16", "bfloat16"):
        assert_same_bits(mg.cast(tensor, dtype=dtype(name)), tensor.astype(dtype(name)))


SLICES = [
    ((5,), (1,), (4,), None),
    ((5,), (-3,), (-1,), None),
    ((10,), (1,), (10,), (3,)),
    ((10,), (4,), (4,), None),
    ((10,), (7,), (2,), None),
    ((10,), (10,), (10,), (2,)),
    ((6, 7), (0, 0), (6, 7), None),
    ((6, 7), (1, 2), (5, 7), (2, 3)),
    ((4, 5, 6, 7), (0, 1, 0, 0), (4, 4, 6, 7), None),
    ((4, 5, 6, 7), (1, 0, 2, 0), (3, 5, 6, 7), (1, 2, 1, 1)),
    ((300, 400), (3, 5), (299, 400), None),
    ((300, 400), (3, 5), (299, 400), (2, 2)),
    ((2, 90_000), (0, 1), (1, 90_000), None),
    ((0, 3), (0, 1), (0, 2), None),
    ((), (), (), None),
]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("shape", "starts", "ends", "strides"), SLICES, ids=str)
def test_slice_and_its_gradient(shape, starts, ends, strides, name):
    tensor = numbers(shape, name)
    index = tuple(
        np.s_[start:end:stride] for start, end, stride in zip(starts, ends, strides or (1,) * len(starts), strict=True)
    )
    expected = np.array(tensor[index], order="C")
    assert_same_bits(mg.slice(tensor, starts=starts, ends=ends, strides=strides), expected)
    adjoint = np.zeros_like(tensor)
    adjoint[index] = expected
    result = mg.slice_gradient(expected, fwd_in_shape=shape, starts=starts, ends=ends, strides=strides)
    assert_same_bits(result, adjoint)


@pytest.mark.parametrize(("dimension", "start", "length"), [(0, 1, 2), (-1, -3, 2), (1, 4, 0), (1, 0, 4), (2, 5, 1)])
def test_slice_of_one_dimension(dimension, start, length):
    tensor = numbers((3, 4, 6))
    index = np.arange(length) + (start if start >= 0 else start + tensor.shape[dimension])
    expected = tensor.take(index, axis=dimension)
    assert_same_bits(mg.slice(tensor, dimension=dimension, start=start, length=length), expected)


X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "name"),
    [
        (lambda: mg.reshape(X, shape=(4, -1)), mg.ShapeError, "shape"),
        (lambda: mg.reshape(X, shape=(-1, -1)), mg.ShapeError, "shape"),
        (lambda: mg.reshape(X, shape=(7,)), mg.ShapeError, "shape"),
        (lambda: mg.reshape(X, shape=(-2, 3)), mg.ShapeError, "shape"),
        (lambda: mg.reshape(X[:0], shape=(0, -1)), mg.ShapeError, "shape"),
        (lambda: mg.transpose(X, permutation=(0,)), mg.ShapeError, "permutation"),
        (lambda: mg.transpose(X, permutation=(0, 0)), mg.ShapeError, "permutation"),
        (lambda: mg.transpose(X, permutation=(0, 2)), mg.ShapeError, "permutation"),
        (lambda: mg.transpose(X, permutation=(1, 0), dimension=0), mg.ShapeError, "permutation"),
        (lambda: mg.transpose(X, dimension=0, with_dimension=2), mg.ShapeError, "with_dimension"),
        (lambda: mg.transpose(X, dimension=0), mg.ShapeError, "with_dimension"),
        (lambda: mg.broadcast(X, shape=(2, 4)), mg.ShapeError, "shape"),
        (lambda: mg.broadcast(X, shape=(3,)), mg.ShapeError, "shape"),
        (lambda: mg.broadcast(X, shape=(2**16, 2**16, 2, 3)), mg.ShapeError, "shape"),
        (lambda: mg.cast(X, dtype="complex64"), mg.DTypeError, "dtype"),
        (lambda: mg.slice(X, starts=(0,), ends=(2, 3)), mg.ShapeError, "starts"),
        (lambda: mg.slice(X, starts=(0, 0), ends=(2, 4)), mg.ShapeError, "ends"),
        (lambda: mg.slice(X, starts=(0, -4), ends=(2, 3)), mg.ShapeError, "starts"),
        (lambda: mg.slice(X, starts=(0, 0), ends=(2, 3), strides=(1, 0)), mg.ShapeError, "strides"),
        (lambda: mg.slice(X, starts=(0, 0), ends=(2, 3), strides=(1,)), mg.ShapeError, "strides"),
        (lambda: mg.slice(X, dimension=2, start=0, length=1), mg.ShapeError, "dimension"),
        (lambda: mg.slice(X, dimension=1, start=4, length=1), mg.ShapeError, "start"),
        (lambda: mg.slice(X, dimension=1, start=1, length=3), mg.ShapeError, "length"),
        (lambda: mg.slice(X, dimension=1, start=1), mg.DTypeError, "length"),
        (lambda: mg.slice(X, dimension=1, starts=(0, 0), start=0, length=1), mg.ShapeError, "dimension"),
        (
            lambda: mg.slice_gradient(X, fwd_in_shape=(4, 4), starts=(0, 0), ends=(2, 2)),
            mg.ShapeError,
            "input_gradient",
        ),
        (lambda: mg.slice_gradient(X, fwd_in_shape=(4, -4), starts=(0, 0), ends=(2, 3)), mg.ShapeError, "fwd_in_shape"),
        (lambda: mg.slice_gradient(X, fwd_in_shape=(4, 4), starts=(0, 0), ends=(2, 5)), mg.ShapeError, "ends"),
    ],
)
def test_refused(call, error, name):
    with pytest.raises(error, match=names(name)):
        call()
