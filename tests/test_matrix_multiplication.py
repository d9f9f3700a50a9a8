"""matrix_multiplication against float64 products."""

import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, assert_same_bits, names, random_array, seeded

import mpsgraph_native as mg

# Shapes of both operands: blocks of every size and their remainders, batches, and products that are all depth.
SHAPES = [
    ((1, 1), (1, 1)),
    ((3, 5), (5, 7)),
    ((70, 130), (130, 65)),
    ((33, 1000), (1000, 17)),
    ((257, 3), (3, 300)),
    ((1, 4097), (4097, 1)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 6)),
    ((3, 4), (6, 4, 2)),
    ((7, 1, 9), (1, 9, 1)),
]
# No rows, no columns, no depth, no batch.
EMPTY = [((0, 3), (3, 2)), ((2, 3), (3, 0)), ((2, 0), (0, 3)), ((0, 2, 3), (0, 3, 4)), ((0, 2, 3), (3, 4))]


def operands(shapes, dtype_name="float32"):
    rng = seeded(shapes)
    return [random_array(rng, shape, dtype_name) for shape in shapes]


def check(primary, secondary, result):
    wide = primary.astype(np.float64), secondary.astype(np.float64)
    assert_close(
        result, np.matmul(*wide), magnitude=np.matmul(*map(np.abs, wide)), length=max(primary.shape[-1], 1),
        dtype=primary.dtype,
    )  # fmt: skip


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products(shapes, dtype_name):
    primary, secondary = operands(shapes, dtype_name)
    check(primary, secondary, mg.matrix_multiplication(primary, secondary))


@pytest.mark.parametrize("shapes", EMPTY, ids=str)
def test_empty_operands(shapes):
    """A sum of nothing is zero."""
    primary, secondary = operands(shapes)
    check(primary, secondary, mg.matrix_multiplication(primary, secondary))


@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)], ids=str)
def test_transposed_views(transposed):
    primary, secondary = operands(((20, 31), (31, 45)))
    views = [
        np.ascontiguousarray(array.T).T if turn else array
        for array, turn in zip((primary, secondary), transposed, strict=True)
    ]
    assert_same_bits(mg.matrix_multiplication(*views), mg.matrix_multiplication(primary, secondary))


def test_long_sums_of_small_integers_are_exact():
    """A running float32 sum of ones would stop at 2**24."""
    ones = np.ones((1, 2**24 + 4096), np.float32)
    assert mg.matrix_multiplication(ones, ones.T) == 2**24 + 4096


def test_threads_change_at_most_the_last_bits():
    primary, secondary = operands(((300, 500), (500, 200)))
    before = mg.get_num_threads()
    try:
        for threads in (1, 2, 3):
            mg.set_num_threads(threads)
            result = mg.matrix_multiplication(primary, secondary)
            check(primary, secondary, result)
            assert_same_bits(mg.matrix_multiplication(primary, secondary), result)
    finally:
        mg.set_num_threads(before)


@pytest.mark.parametrize(
    ("shapes", "argument"),
    [
        (((3,), (3, 2)), "primary"),
        (((2, 3), (3,)), "secondary"),
        (((2, 3), (4, 2)), "secondary"),
        (((2, 2, 3), (3, 3, 2)), "secondary"),
    ],
    ids=str,
)
def test_shapes_that_do_not_fit(shapes, argument):
    with pytest.raises(mg.ShapeError, match=names(argument)):
        mg.matrix_multiplication(*operands(shapes))


def test_dtypes_that_do_not_fit():
    primary, secondary = operands(((2, 3), (3, 2)))
    with pytest.raises(mg.DTypeError, match=names("secondary")):
        mg.matrix_multiplication(primary, secondary.astype(np.float64))
    with pytest.raises(mg.DTypeError, match=names("primary")):
        mg.matrix_multiplication(primary.astype(np.int32), secondary.astype(np.int32))
