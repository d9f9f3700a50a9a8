"""Every refused pooling call names its argument, and leaves inputs and `out` as they were."""

import numpy as np
import pytest
from support import names

import mpsgraph_native as mg

SHAPE, DTYPE = mg.ShapeError, mg.DTypeError
HUGE = 2**31 - 1

FORWARD = ("max_pooling_{}", "max_pooling_{}_return_indices", "avg_pooling_{}", "l2_norm_pooling_4d")
BY_SOURCE = ("max_pooling_{}_gradient", "avg_pooling_{}_gradient", "l2_norm_pooling_4d_gradient")
TWO_D = [name.format("2d") for name in FORWARD + BY_SOURCE if "4d" not in name]
FOUR_D = [name.format("4d") for name in FORWARD + BY_SOURCE]
OPERATIONS = TWO_D + FOUR_D
GRADIENTS = [name for name in OPERATIONS if name.endswith("gradient")]
BY_INDICES = ["max_pooling_2d_gradient", "max_pooling_4d_gradient"]


def _descriptor(operation, **fields):
    """2x2 windows with stride 2."""
    if "4d" in operation:
        return mg.Pooling4DDescriptor(
            **{
                "kernel_sizes": (1, 1, 2, 2),
                "strides": (1, 1, 2, 2),
                "return_indices_mode": "GlobalFlatten2D",
                **fields,
            }
        )
    window = {
        "kernel_width": 2,
        "kernel_height": 2,
        "stride_in_x": 2,
        "stride_in_y": 2,
        "return_indices_mode": "GlobalFlatten2D",
    }
    return mg.Pooling2DDescriptor(**{**window, **fields})


def _source():
    return np.arange(2 * 3 * 6 * 8, dtype=np.float32).reshape(2, 3, 6, 8)


def _incoming():
    return np.ones((2, 3, 3, 4), np.float32)


def _run(operation, descriptor, source=None, gradient=None, **keywords):
    source = _source() if source is None else source
    if not operation.endswith("gradient"):
        return getattr(mg, operation)(source, descriptor=descriptor, **keywords)
    gradient = _incoming() if gradient is None else gradient
    return getattr(mg, operation)(gradient, source=source, descriptor=descriptor, **keywords)


def _indices():
    """What the forward operation returns for `_source`."""
    rows, columns = np.meshgrid(np.arange(1, 6, 2), np.arange(1, 8, 2), indexing="ij")
    return np.broadcast_to(rows * 8 + columns, (2, 3, 3, 4)).astype(np.int32)


def _run_with_indices(operation, gradient=None, descriptor=None, **keywords):
    arguments = {"indices": _indices(), "output_shape": (2, 3, 6, 8), **keywords}
    gradient = _incoming() if gradient is None else gradient
    return getattr(mg, operation)(gradient, descriptor=descriptor or _descriptor(operation), **arguments)


@pytest.mark.parametrize("operation", BY_INDICES)
def test_the_unspoilt_calls_work(operation):
    expected = np.zeros((2, 3, 6, 8))
    expected[:, :, 1::2, 1::2] = 1
    np.testing.assert_array_equal(_run_with_indices(operation), expected)
    np.testing.assert_array_equal(_run(operation, _descriptor(operation)), expected)


# A bad descriptor may be refused when it is made or when it is used, as long as the field is named.
FIELDS_2D = [
    *[
        (field, value, SHAPE)
        for field in ("kernel_width", "kernel_height", "stride_in_x", "stride_in_y")
        for value in (0, -1, 2**40)
    ],
    *[
        (field, value, SHAPE)
        for field in ("dilation_rate_in_x", "dilation_rate_in_y")
        for value in (0, -1, HUGE, 2**70)
    ],
    *[
        (field, value, SHAPE)
        for field in ("padding_left", "padding_right", "padding_top", "padding_bottom")
        for value in (-1, 2, 3, HUGE, 2**40)
    ],
    ("kernel_width", 2.0, TypeError),
    ("stride_in_x", "2", TypeError),
    ("padding_left", None, TypeError),
    ("data_layout", "OIHW", SHAPE),
    ("data_layout", "CHW", SHAPE),
    ("data_layout", "NDHWC", SHAPE),
    ("data_layout", "nonsense", SHAPE),
]
FIELDS_4D = [
    ("kernel_sizes", (1, 1, 0, 2), SHAPE),
    ("kernel_sizes", (1, 1, 2, -2), SHAPE),
    ("kernel_sizes", (1, 1, HUGE, 2), SHAPE),
    ("kernel_sizes", (1, 2, 2), SHAPE),
    ("kernel_sizes", (1, 1, 1, 2, 2), SHAPE),
    ("kernel_sizes", (), SHAPE),
    ("kernel_sizes", (1, 1, 2.5, 2), TypeError),
    ("kernel_sizes", 2, TypeError),
    ("strides", (1, 1, 0, 1), SHAPE),
    ("strides", (1, -1, 1, 1), SHAPE),
    ("strides", (2, 2), SHAPE),
    ("dilation_rates", (1, 1, 0, 1), SHAPE),
    ("dilation_rates", (1, 1, HUGE, 1), SHAPE),
    ("dilation_rates", (1,) * 5, SHAPE),
    ("padding_values", (0,) * 6 + (2, 0), SHAPE),
    ("padding_values", (0,) * 6 + (0, 2), SHAPE),
    ("padding_values", (1,) + (0,) * 7, SHAPE),
    ("padding_values", (0,) * 7 + (HUGE,), SHAPE),
    ("padding_values", (0,) * 7 + (-1,), SHAPE),
    ("padding_values", (0,) * 4, SHAPE),
]
FIELDS_BOTH = [
    ("padding_style", "ExplicitOffset", SHAPE),
    ("padding_style", "SAME", SHAPE),
    ("return_indices_mode", "GlobalFlatten5D", SHAPE),
    ("return_indices_mode", "nonsense", SHAPE),
]
FIELD_CASES = [
    (operation, *row)
    for operations, rows in ((TWO_D, FIELDS_2D), (FOUR_D, FIELDS_4D), (OPERATIONS, FIELDS_BOTH))
    for operation in operations
    for row in rows
]


@pytest.mark.parametrize(
    ("operation", "field", "value", "error"),
    FIELD_CASES,
    ids=[f"{op}-{field}={value}" for op, field, value, _ in FIELD_CASES],
)
def test_descriptor_fields(operation, field, value, error):
    with pytest.raises(error, match=names(field)):
        _run(operation, _descriptor(operation, **{field: value}))


def test_kernel_is_needed():
    for call, missing in (
        (lambda: mg.Pooling4DDescriptor(), "kernel_sizes"),
        (lambda: mg.Pooling2DDescriptor(kernel_width=2), "kernel_height"),
        (lambda: mg.Pooling2DDescriptor(kernel_height=2), "kernel_width"),
    ):
        with pytest.raises(TypeError, match=names(missing)):
            call()


def test_padding_is_measured_against_the_effective_kernel():
    """Kernel 2, dilation 3 spans 4 pixels: padding 3 is fine, 4 is not."""
    for padding, fine in ((3, True), (4, False)):
        descriptor = {"dilation_rate_in_x": 3, "dilation_rate_in_y": 3, "padding_left": padding}
        if fine:
            assert _run("max_pooling_2d", _descriptor("max_pooling_2d", **descriptor)).shape == (2, 3, 2, 4)
        else:
            with pytest.raises(SHAPE, match=names("padding_left")):
                _run("max_pooling_2d", _descriptor("max_pooling_2d", **descriptor))


@pytest.mark.parametrize("operation", ["max_pooling_2d_return_indices", "max_pooling_4d_return_indices"])
def test_return_indices_needs_a_mode(operation):
    with pytest.raises(SHAPE, match=names("return_indices_mode")):
        _run(operation, _descriptor(operation, return_indices_mode="None"))


@pytest.mark.parametrize("operation", BY_INDICES)
def test_gradient_from_indices_needs_a_mode(operation):
    with pytest.raises(SHAPE, match=names("return_indices_mode")):
        _run_with_indices(operation, descriptor=_descriptor(operation, return_indices_mode="None"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_rank_of_the_source(operation):
    shapes = [(), (8,), (6, 8), (3, 6, 8)] + ([(1, 2, 3, 6, 8)] if "2d" in operation else [])
    for shape in shapes:
        with pytest.raises(SHAPE, match=names("source")):
            _run(operation, _descriptor(operation), source=np.ones(shape, np.float32))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("shape", [(2, 3, 1, 8), (2, 3, 6, 1), (2, 3, 0, 8), (2, 3, 6, 0)])
def test_kernel_beyond_the_source(operation, shape):
    with pytest.raises(SHAPE, match=names("source")):
        _run(operation, _descriptor(operation), source=np.ones(shape, np.float32))


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("operation", GRADIENTS)
def test_gradient_of_another_shape(operation, axis):
    gradient = np.concatenate([_incoming(), _incoming()[(slice(None),) * axis + (slice(0, 1),)]], axis=axis)
    expected_size = r"(?s)(?=.*2, ?3, ?3, ?4)"
    with pytest.raises(SHAPE, match=expected_size + ".*" + names("gradient")):
        _run(operation, _descriptor(operation), gradient=gradient)
    if operation in BY_INDICES:
        with pytest.raises(SHAPE, match=names("gradient", "indices", "output_shape")):
            _run_with_indices(operation, gradient=gradient)


@pytest.mark.parametrize("operation", GRADIENTS)
def test_rank_of_the_gradient(operation):
    for shape in ((), (4,), (3, 3, 4), (1, 2, 3, 3, 4)):
        with pytest.raises(SHAPE, match=names("gradient")):
            _run(operation, _descriptor(operation), gradient=np.ones(shape, np.float32))


@pytest.mark.parametrize("dtype_name", ["int32", "uint8", "bool", "complex64", "object"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_dtypes_that_are_no_float(operation, dtype_name):
    with pytest.raises(DTYPE, match=names("source")):
        _run(operation, _descriptor(operation), source=_source().astype(dtype_name))
    if operation in GRADIENTS:
        with pytest.raises(DTYPE, match=names("gradient")):
            _run(operation, _descriptor(operation), gradient=_incoming().astype(dtype_name))


@pytest.mark.parametrize("dtype_name", ["float16", "float64"])
@pytest.mark.parametrize("operation", GRADIENTS)
def test_mixed_dtypes(operation, dtype_name):
    with pytest.raises(DTYPE, match=names("gradient", "source")):
        _run(operation, _descriptor(operation), gradient=_incoming().astype(dtype_name))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_no_array(operation):
    for wrong in ("array", 1.0, _source().tolist(), object()):
        with pytest.raises(TypeError, match=names("source")):
            _run(operation, _descriptor(operation), source=wrong)
        if operation in GRADIENTS:
            with pytest.raises(TypeError, match=names("gradient")):
                _run(operation, _descriptor(operation), gradient=wrong)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_descriptor_of_another_kind(operation):
    other = (
        mg.Pooling2DDescriptor(kernel_width=1, kernel_height=1)
        if "4d" in operation
        else mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 1, 1))
    )
    for wrong in (None, other, mg.Convolution2DDescriptor(), {"kernel_width": 2}):
        with pytest.raises(TypeError, match=names("descriptor")):
            _run(operation, wrong)


@pytest.mark.parametrize("operation", BY_INDICES)
def test_gradient_takes_source_or_indices(operation):
    descriptor = _descriptor(operation)
    function = getattr(mg, operation)
    errors = (TypeError, ValueError)
    with pytest.raises(errors, match=names("source", "indices")):
        function(_incoming(), descriptor=descriptor)
    with pytest.raises(errors, match=names("source", "indices")):
        function(_incoming(), source=_source(), indices=_indices(), output_shape=(2, 3, 6, 8), descriptor=descriptor)
    with pytest.raises(errors, match=names("output_shape")):
        function(_incoming(), indices=_indices(), descriptor=descriptor)


BAD_SHAPES = [
    ((2, 3, 6), SHAPE),
    ((2, 3, 6, 8, 1), SHAPE),
    ((2, 3, 8, 8), SHAPE),
    ((2, 3, 6, 10), SHAPE),
    ((2, 4, 6, 8), SHAPE),
    ((1, 3, 6, 8), SHAPE),
    ((2, 3, 6, 0), SHAPE),
    ((2, 3, -6, 8), SHAPE),
    ((2, 3, 6, 2**31), SHAPE),
    ((2, 3, 6, 2**40), SHAPE),
    (np.array([[2, 3, 6, 8]]), SHAPE),
    (np.array([2, 3, 6, 8], np.float32), DTYPE),
    (np.array([True] * 4), DTYPE),
    ((2.0, 3.0, 6.0, 8.0), TypeError),
    ("2368", TypeError),
]


@pytest.mark.parametrize(("shape", "error"), BAD_SHAPES, ids=[repr(shape) for shape, _ in BAD_SHAPES])
@pytest.mark.parametrize("operation", BY_INDICES)
def test_output_shape(operation, shape, error):
    """Of the shapes whose forward result differs from the gradient, the message may name either."""
    follows = error is SHAPE and isinstance(shape, tuple) and len(shape) == 4 and 0 < min(shape) <= max(shape) < 2**31
    with pytest.raises(error, match=names("output_shape", *(["gradient", "indices"] if follows else []))):
        _run_with_indices(operation, output_shape=shape)


@pytest.mark.parametrize("index_dtype", ["float32", "float64", "float16", "bool", "complex64", "object"])
@pytest.mark.parametrize("operation", BY_INDICES)
def test_index_dtype(operation, index_dtype):
    with pytest.raises(DTYPE, match=names("indices")):
        _run_with_indices(operation, indices=_indices().astype(index_dtype))


@pytest.mark.parametrize("operation", BY_INDICES)
def test_indices_that_are_no_array(operation):
    with pytest.raises(TypeError, match=names("indices")):
        _run_with_indices(operation, indices=_indices().tolist())


@pytest.mark.parametrize("operation", BY_INDICES)
def test_indices_of_another_shape(operation):
    for change in (lambda i: i[:1], lambda i: i[..., :3], lambda i: i[0], lambda i: i[None]):
        with pytest.raises(SHAPE, match=names("indices", "gradient")):
            _run_with_indices(operation, indices=change(_indices()))


# Flattenings of a 2x3x6x8 destination, and of the window 1x1x2x2.
LIMITS = {
    "GlobalFlatten2D": 48,
    "GlobalFlatten3D": 144,
    "GlobalFlatten4D": 288,
    "LocalFlatten2D": 4,
    "LocalFlatten3D": 4,
    "LocalFlatten4D": 4,
}


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("mode", LIMITS)
@pytest.mark.parametrize("operation", BY_INDICES)
def test_index_out_of_range(operation, mode, index_dtype):
    descriptor = _descriptor(operation, return_indices_mode=mode)
    bad = [-1, -2, LIMITS[mode], LIMITS[mode] + 1, HUGE, -(2**31)] + (
        [2**32, 2**40, -(2**63)] if index_dtype is np.int64 else []
    )
    for value in bad:
        indices = np.zeros((2, 3, 3, 4), index_dtype)
        indices[1, 2, 0, 3] = value
        out = np.full((2, 3, 6, 8), 7, np.float32)
        with pytest.raises(SHAPE, match=names("indices")) as raised:
            _run_with_indices(operation, descriptor=descriptor, indices=indices, out=out)
        assert str(value) in str(raised.value)
        assert (out == 7).all()


def test_local_index_that_lands_on_padding():
    descriptor = mg.Pooling2DDescriptor(
        kernel_width=2, kernel_height=2, padding_left=1, padding_top=1, return_indices_mode="LocalFlatten2D"
    )
    gradient, indices = np.ones((1, 1, 3, 3), np.float32), np.full((1, 1, 3, 3), 3, np.int32)
    assert (
        mg.max_pooling_2d_gradient(gradient, indices=indices, output_shape=(1, 1, 3, 3), descriptor=descriptor).sum()
        == 9
    )
    indices[0, 0, 0, 1] = 1
    with pytest.raises(SHAPE, match=names("indices")):
        mg.max_pooling_2d_gradient(gradient, indices=indices, output_shape=(1, 1, 3, 3), descriptor=descriptor)


def _bad_outs(expected):
    read_only = np.full_like(expected, 7)
    read_only.flags.writeable = False
    yield np.full((*expected.shape[:3], expected.shape[3] + 1), 7, np.float32), SHAPE
    yield np.full(expected.shape, 7, np.float64), DTYPE
    yield (
        np.full(expected.shape, 7, np.float32).astype(np.dtype(np.float32).newbyteorder()),
        (mg.MPSGraphError, BufferError),
    )
    yield read_only, ValueError


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if "return_indices" not in name])
def test_bad_out(operation):
    descriptor = _descriptor(operation)
    for out, error in _bad_outs(_run(operation, descriptor)):
        with pytest.raises(error, match=names("out")):
            _run(operation, descriptor, out=out)
        assert (out == 7).all()


@pytest.mark.parametrize("operation", ["max_pooling_2d_return_indices", "max_pooling_4d_return_indices"])
def test_bad_out_of_two_results(operation):
    descriptor = _descriptor(operation)
    values, indices = (np.full_like(array, 7) for array in _run(operation, descriptor))
    bad = [
        values,
        (values,),
        (values, indices, indices),
        (indices, values),
        (values, indices.astype(np.int64)),
        (values, indices[:1]),
        (values, None),
    ]
    for out in bad:
        with pytest.raises((TypeError, ValueError), match=names("out")):
            _run(operation, descriptor, out=out)
    shared = np.full(values.size + 1, 7, np.float32)
    overlapping = shared[:-1].reshape(values.shape), shared[1:].view(np.int32).reshape(values.shape)
    with pytest.raises(ValueError, match=names("out")):
        _run(operation, descriptor, out=overlapping)
    assert (values == 7).all() and (indices == 7).all() and (shared == 7).all()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_inputs_stay_untouched_after_an_error(operation):
    source, gradient = _source(), np.ones((2, 3, 3, 5), np.float32)
    copies = source.copy(), gradient.copy()
    with pytest.raises(mg.MPSGraphError):
        _run(operation, _descriptor(operation, padding_style="ExplicitOffset"), source=source, gradient=gradient)
    np.testing.assert_array_equal(source, copies[0])
    np.testing.assert_array_equal(gradient, copies[1])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_unknown_device(operation):
    with pytest.raises((ValueError, RuntimeError), match=names("device")):
        _run(operation, _descriptor(operation), device="abacus")
