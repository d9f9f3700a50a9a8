import numpy as np
import pytest
from support import FLOAT_DTYPES, assert_close, assert_same_bits, dtype, dtypes, names, random_array, seeded

import mpsgraph_native as mg
from mpsgraph_native.verify.reference.elementwise import BINARY, COMPARISONS, overflowing

UNARY = {
    "absolute": np.abs,
    "exponent": np.exp,
    "identity": np.positive,
    "logarithm": np.log,
    "negative": np.negative,
    "reciprocal": np.reciprocal,
    "square": np.square,
    "square_root": np.sqrt,
    "tanh": np.tanh,
}
SHAPES = [(), (1,), (0,), (3, 0, 2), (7,), (31, 5), (2, 3, 4, 5), (130_003,)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 88.7, -103.5, 2.5, 1e-3]
BROADCASTS = [
    ((), (4,)),
    ((5,), ()),
    ((3, 1), (1, 4)),
    ((2, 1, 5), (3, 1)),
    ((6, 1, 2, 1), (3, 1, 7)),
    ((64, 3), (3,)),
    ((1, 257), (300, 1)),
    ((300, 257), (300, 1)),
    ((2, 40_000), (1, 40_000)),
    ((40_000, 2), (1, 2)),
    ((0, 3), (1, 3)),
    ((1, 3), (0, 1)),
    ((2, 3, 1, 1), (2, 3, 65, 67)),
]


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize("function", UNARY)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_unary(function, shape, name):
    tensor = random_array(seeded(function, shape), shape, name)
    if function in ("logarithm", "square_root"):
        tensor = np.asarray(np.abs(tensor))
    with np.errstate(all="ignore"):
        expected = overflowing(UNARY[function](tensor.astype(np.float64)), dtype(name))
    assert_close(getattr(mg, function)(tensor), expected, magnitude=np.abs(expected), length=1, dtype=dtype(name))


@pytest.mark.parametrize("name", dtypes("float32", "float64"))
@pytest.mark.parametrize("function", UNARY)
def test_unary_special_values(function, name):
    tensor = np.array(SPECIAL, dtype=name)
    with np.errstate(all="ignore"):
        expected = UNARY[function](tensor)
    result = getattr(mg, function)(tensor)
    np.testing.assert_allclose(
        result, expected, rtol=4 * np.finfo(name).eps, atol=2 * np.finfo(name).smallest_subnormal
    )
    ordered = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[ordered]), np.signbit(expected[ordered]))


@pytest.mark.parametrize("name", dtypes("float32", "float64"))
@pytest.mark.parametrize("function", ["exponent", "logarithm", "tanh"])
def test_elementary_functions_over_the_whole_range(function, name):
    limits = np.finfo(name)
    magnitudes = np.geomspace(limits.smallest_subnormal, limits.max, 20_001, dtype=np.longdouble).astype(name)
    near_one = np.linspace(0.5, 2, 20_001, dtype=name)
    tensor = np.concatenate([magnitudes, near_one] + ([] if function == "logarithm" else [-magnitudes, -near_one]))
    with np.errstate(all="ignore"):
        expected = UNARY[function](tensor.astype(np.longdouble)).astype(name)
    np.testing.assert_array_max_ulp(getattr(mg, function)(tensor), expected, maxulp=4)


@pytest.mark.parametrize("name", ["int32", "int64"])
@pytest.mark.parametrize("function", ["absolute", "identity", "negative", "square"])
def test_unary_integers(function, name):
    limits = np.iinfo(name)
    tensor = np.array([0, 1, -1, 7, -12345, limits.max, limits.min, *range(40)], dtype=name)
    assert_same_bits(getattr(mg, function)(tensor), UNARY[function](tensor))


@pytest.mark.parametrize("name", ["bool", "uint8", "int16"])
def test_identity_takes_every_dtype(name):
    tensor = np.array([[1, 0, 1], [0, 1, 1]], dtype=name)
    assert_same_bits(mg.identity(tensor), tensor)


@pytest.mark.parametrize("name", FLOAT_DTYPES)
@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("shapes", BROADCASTS, ids=str)
def test_binary(function, shapes, name):
    rng = seeded(function, shapes)
    primary, secondary = (random_array(rng, shape, name) for shape in shapes)
    a, b = primary.astype(np.float64), secondary.astype(np.float64)
    with np.errstate(all="ignore"):
        expected = overflowing(BINARY[function](a, b), dtype(name))
        magnitude = BINARY[function](np.abs(a), np.abs(b)) if function != "subtraction" else np.abs(a) + np.abs(b)
    assert_close(getattr(mg, function)(primary, secondary), expected, magnitude=magnitude, length=1, dtype=dtype(name))


@pytest.mark.parametrize("name", dtypes("float32", "float64", "float16"))
@pytest.mark.parametrize("function", BINARY)
def test_binary_special_values(function, name):
    values = np.array([0, 1, -2, np.inf, -np.inf, np.nan], dtype=name)
    with np.errstate(all="ignore"):
        expected = BINARY[function](values[:, None], values)
    np.testing.assert_array_equal(getattr(mg, function)(values[:, None], values), expected)


@pytest.mark.parametrize("name", ["int32", "int64"])
@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("count", [3, 70_001])
def test_binary_integers(function, count, name):
    limits = np.iinfo(name)
    edges = np.array([0, 1, -1, 3, -7, limits.max, limits.min], dtype=name)
    rng = seeded(function, count)
    primary = np.concatenate([np.repeat(edges, edges.size), rng.integers(limits.min, limits.max, count, name)])
    secondary = np.concatenate([np.tile(edges, edges.size), rng.integers(-50, 50, count, name)])
    with np.errstate(all="ignore"):
        if function == "division":  # truncates, and gives 0 for a divisor 0
            divisor = np.where(secondary == 0, 1, secondary)
            magnitude = np.abs(primary.astype(object)) // np.abs(divisor.astype(object))
            exact = np.where((primary < 0) == (divisor < 0), magnitude, -magnitude)
            wrapped = (exact - int(limits.min)) % 2**limits.bits + int(limits.min)
            expected = np.where(secondary == 0, 0, wrapped).astype(name)
        else:
            expected = BINARY[function](primary, secondary)
    assert_same_bits(getattr(mg, function)(primary, secondary), expected)
    scalar = secondary[8:9]
    if function != "division":
        assert_same_bits(getattr(mg, function)(primary, scalar), BINARY[function](primary, scalar))
        assert_same_bits(getattr(mg, function)(scalar, primary), BINARY[function](scalar, primary))


@pytest.mark.parametrize("name", [*FLOAT_DTYPES, "int32", "int64"])
@pytest.mark.parametrize("function", COMPARISONS)
@pytest.mark.parametrize("shapes", BROADCASTS, ids=str)
def test_comparison(function, shapes, name):
    rng = seeded(function, shapes)
    primary, secondary = (rng.integers(-2, 3, shape).astype(dtype(name)) for shape in shapes)
    if name not in ("int32", "int64"):
        primary[rng.random(primary.shape) < 0.1] = np.nan
    expected = COMPARISONS[function](primary.astype(np.float64), secondary.astype(np.float64))
    assert_same_bits(getattr(mg, function)(primary, secondary), np.asarray(expected))


@pytest.mark.parametrize("name", [*FLOAT_DTYPES, "int32", "int64", "bool", "int16"])
@pytest.mark.parametrize(
    "shapes",
    [((), (), ()), ((5, 1), (1, 4), ()), ((300, 300), (300, 300), (300, 300)), ((300, 300), (1, 300), (300, 1)), ((3,), (2, 1), (2, 3)),
     ((70_000,), (), ()), ((), (70_000,), (1,)), ((7, 1), (1, 33), (7, 33)), ((1, 1), (9, 70), (70,)), ((0, 3), (3,), ())],
    ids=str,
)  # fmt: skip
def test_select(shapes, name):
    rng = seeded(shapes)
    predicate = np.asarray(rng.random(shapes[0]) < 0.5)
    true_value, false_value = (np.asarray(rng.integers(0, 9, shape)).astype(dtype(name)) for shape in shapes[1:])
    assert_same_bits(mg.select(predicate, true_value, false_value), np.where(predicate, true_value, false_value))


def test_select_ignores_the_other_value():
    result = mg.select(np.array([True, False]), np.float32([1, np.nan]), np.float32([np.nan, 2]))
    np.testing.assert_array_equal(result, [1, 2])


F32, F64 = np.ones((2, 3), np.float32), np.ones((2, 3))
REFUSED = [
    ("addition", (F32, F64), mg.DTypeError, "secondary"),
    ("equal", (F32, np.ones((2, 3), np.int32)), mg.DTypeError, "secondary"),
    ("addition", (np.ones(3, bool), np.ones(3, bool)), mg.DTypeError, "primary"),
    ("maximum", (F32, np.ones((2, 4), np.float32)), mg.ShapeError, "secondary"),
    ("less_than", (F32, np.ones((3, 1), np.float32)), mg.ShapeError, "secondary"),
    ("exponent", (np.ones(3, np.int32),), mg.DTypeError, "tensor"),
    ("absolute", (np.ones(3, np.uint8),), mg.DTypeError, "tensor"),
    ("select", (F32, F32, F32), mg.DTypeError, "predicate"),
    ("select", (F32 > 0, F32, F64), mg.DTypeError, "false_value"),
    ("select", (F32 > 0, np.ones(2, np.float32), F32), mg.ShapeError, "true_value"),
    ("select", (F32 > 0, F32, np.ones(2, np.float32)), mg.ShapeError, "false_value"),
    ("multiplication", (np.ones((50_000, 1), np.float32), np.ones(50_000, np.float32)), mg.ShapeError, "secondary"),
    ("negative", (None,), mg.ShapeError, "tensor"),
]


@pytest.mark.parametrize(("function", "arguments", "error", "name"), REFUSED)
def test_refused(function, arguments, error, name):
    with pytest.raises(error, match=rf"{function}: {names(name)}"):
        getattr(mg, function)(*arguments)
