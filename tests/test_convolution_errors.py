"""Every refused convolution call names its argument, and leaves inputs and `out` as they were."""

import numpy as np
import pytest
from support import CONVOLUTIONS, DEPTHWISE_CONVOLUTIONS, Convolution, names, run_convolution

import mpsgraph_native as mg

OPERATIONS = CONVOLUTIONS + DEPTHWISE_CONVOLUTIONS
GRADIENTS = tuple(operation for operation in OPERATIONS if operation.endswith("gradient"))
HUGE = 2**31 - 1

SHAPE, DTYPE = mg.ShapeError, mg.DTypeError

# The array arguments of each operation in their order, as keys of a problem.
OPERANDS = {
    "2d": ("source", "weights"),
    "data_gradient": ("incoming", "weights"),
    "weights_gradient": ("incoming", "source"),
}
ARGUMENT = {"source": "source", "weights": "weights", "incoming": "incoming_gradient"}


def _operands(operation):
    return next(keys for ending, keys in OPERANDS.items() if operation.endswith(ending))


def _problem(operation):
    """source 2x4x6x6, weights of 3x3 kernels, padding 1."""
    return Convolution(2, 4, 2, (6, 6), (3, 3), dict.fromkeys(("padding_left", "padding_right"), 1)).problem(operation)


def _descriptor(operation, **fields):
    kind = mg.DepthwiseConvolution2DDescriptor if operation.startswith("depthwise") else mg.Convolution2DDescriptor
    return kind(**{"padding_left": 1, "padding_right": 1, **fields})


def test_exceptions_have_one_root():
    assert issubclass(SHAPE, ValueError) and issubclass(SHAPE, mg.MPSGraphError)
    assert issubclass(DTYPE, TypeError) and issubclass(DTYPE, mg.MPSGraphError)


# A bad descriptor may be refused when it is made or when it is used, as long as the field is named.
FIELDS = [
    *[
        (field, value, SHAPE)
        for field in ("stride_in_x", "stride_in_y", "dilation_rate_in_x", "dilation_rate_in_y")
        for value in (0, -1, 2**40)
    ],
    *[
        (field, value, SHAPE)
        for field in ("padding_left", "padding_right", "padding_top", "padding_bottom")
        for value in (-1, HUGE, 2**40, 2**70)
    ],
    ("dilation_rate_in_x", HUGE, SHAPE),
    ("dilation_rate_in_y", HUGE, SHAPE),
    ("stride_in_x", 1.5, TypeError),
    ("padding_top", "1", TypeError),
    ("data_layout", "OIHW", SHAPE),
    ("data_layout", "NCDHW", SHAPE),
    ("data_layout", "CHW", SHAPE),
    ("data_layout", "nonsense", SHAPE),
    ("weights_layout", "NCHW", SHAPE),
    ("weights_layout", "DHWIO", SHAPE),
    ("weights_layout", "nonsense", SHAPE),
    ("padding_style", "ExplicitOffset", SHAPE),
    ("padding_style", "SAME", SHAPE),
]


@pytest.mark.parametrize(("field", "value", "error"), FIELDS, ids=[f"{field}={value}" for field, value, _ in FIELDS])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_descriptor_fields(operation, field, value, error):
    problem = _problem(operation)
    with pytest.raises(error, match=names(field)):
        problem["descriptor"] = _descriptor(operation, **{field: value})
        run_convolution(operation, **problem)


@pytest.mark.parametrize("groups", [0, -1, 3, 5, 8, 2**40])
@pytest.mark.parametrize("operation", CONVOLUTIONS)
def test_groups_that_do_not_divide(operation, groups):
    problem = _problem(operation)
    with pytest.raises(SHAPE, match=names("groups")):
        problem["descriptor"] = _descriptor(operation, groups=groups)
        run_convolution(operation, **problem)


@pytest.mark.parametrize("operation", CONVOLUTIONS)
def test_groups_must_divide_the_output_channels(operation):
    problem = _problem(operation)
    problem["weights"] = np.ones((3, 2, 3, 3), np.float32)
    problem["incoming"] = np.ones((2, 3, 4, 6), np.float32)
    problem["descriptor"] = _descriptor(operation, groups=2)
    with pytest.raises(SHAPE, match=names("groups")):
        run_convolution(operation, **problem)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("change", [lambda a: a[0], lambda a: a[None], lambda a: a.ravel(), lambda a: a[0, 0, 0, 0]],
                         ids=["rank3", "rank5", "rank1", "rank0"])  # fmt: skip
@pytest.mark.parametrize("operation", OPERATIONS)
def test_rank(operation, position, change):
    problem = _problem(operation)
    key = _operands(operation)[position]
    arrays = {**problem, key: change(problem[key])}
    with pytest.raises(SHAPE, match=names(ARGUMENT[key])):
        run_convolution(operation, **arrays, **_shape_keyword(operation, problem))


def _shape_keyword(operation, problem):
    """The output_shape of the unspoilt problem, for gradients."""
    if operation not in GRADIENTS:
        return {}
    return {"output_shape": problem["source" if operation.endswith("data_gradient") else "weights"].shape}


# A forward source is free in its batch and image: only its channels must fit.
@pytest.mark.parametrize(
    ("operation", "axis"), [(name, axis) for name in OPERATIONS for axis in (range(4) if name in GRADIENTS else [1])]
)
def test_operands_that_do_not_fit(operation, axis):
    """One size of the first operand is one too large: some argument that takes part is named."""
    problem = _problem(operation)
    key = _operands(operation)[0]
    arrays = {
        **problem,
        key: np.concatenate([problem[key], problem[key][(slice(None),) * axis + (slice(0, 1),)]], axis=axis),
    }
    involved = [ARGUMENT[name] for name in _operands(operation)] + ["output_shape"]
    with pytest.raises(SHAPE, match=names(*involved)):
        run_convolution(operation, **arrays, **_shape_keyword(operation, problem))


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("step", [-1, 1, 2**31, 2**40, -100])
@pytest.mark.parametrize("operation", GRADIENTS)
def test_output_shape_that_does_not_follow(operation, axis, step):
    problem = _problem(operation)
    shape = list(_shape_keyword(operation, problem)["output_shape"])
    shape[axis] += step
    involved = ["output_shape", *(ARGUMENT[name] for name in _operands(operation))]
    with pytest.raises(SHAPE, match=names(*(involved if abs(step) == 1 else ["output_shape"]))):
        run_convolution(operation, **problem, output_shape=shape)


BAD_SHAPES = [
    (lambda shape: shape[:3], SHAPE, "short"),
    (lambda shape: (*shape, 1), SHAPE, "long"),
    (lambda shape: (), SHAPE, "empty"),
    (lambda shape: np.array([shape, shape]), SHAPE, "matrix"),
    (lambda shape: np.array(shape, np.float32), DTYPE, "float32"),
    (lambda shape: tuple(map(float, shape)), TypeError, "floats"),
    (lambda shape: np.array(shape, bool), DTYPE, "bool"),
    (lambda shape: None, SHAPE, "None"),
    (lambda shape: "2222", TypeError, "string"),
]


@pytest.mark.parametrize(("change", "error"), [row[:2] for row in BAD_SHAPES], ids=[row[2] for row in BAD_SHAPES])
@pytest.mark.parametrize("operation", GRADIENTS)
def test_output_shape_of_a_wrong_kind(operation, change, error):
    problem = _problem(operation)
    with pytest.raises(error, match=names("output_shape")):
        run_convolution(operation, **problem, output_shape=change(_shape_keyword(operation, problem)["output_shape"]))


@pytest.mark.parametrize("operation", GRADIENTS)
def test_output_shape_is_needed(operation):
    problem = _problem(operation)
    operands = [problem[key] for key in _operands(operation)]
    with pytest.raises(TypeError, match=names("output_shape")):
        getattr(mg, operation)(*operands, descriptor=problem["descriptor"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_descriptor_is_needed(operation):
    problem = _problem(operation)
    for wrong in (None, "Explicit", mg.Pooling2DDescriptor(kernel_width=1, kernel_height=1)):
        problem["descriptor"] = wrong
        with pytest.raises(TypeError, match=names("descriptor")):
            run_convolution(operation, **problem)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("dtype_name", ["int32", "bool", "complex64", "U4", "object"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_dtypes_that_are_no_float(operation, position, dtype_name):
    problem = _problem(operation)
    key = _operands(operation)[position]
    problem[key] = np.ones(problem[key].shape).astype(dtype_name)
    with pytest.raises(DTYPE, match=names(ARGUMENT[key])):
        run_convolution(operation, **problem)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("dtype_name", ["float16", "float64"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_mixed_dtypes(operation, position, dtype_name):
    problem = _problem(operation)
    keys = _operands(operation)
    problem[keys[position]] = problem[keys[position]].astype(dtype_name)
    with pytest.raises(DTYPE, match=names(*(ARGUMENT[key] for key in keys))):
        run_convolution(operation, **problem)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize(
    ("wrong", "error"), [(None, SHAPE), (1.0, DTYPE), ("array", DTYPE), ([[[[1.0]]]], DTYPE), (object(), DTYPE)],
    ids=["None", "float", "str", "list", "object"],
)  # fmt: skip
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operands_that_are_no_arrays(operation, position, wrong, error):
    problem = _problem(operation)
    keys = _operands(operation)
    operands = [problem[key] for key in keys]
    operands[position] = wrong
    with pytest.raises(error, match=names(ARGUMENT[keys[position]])):
        getattr(mg, operation)(*operands, descriptor=problem["descriptor"], **_shape_keyword(operation, problem))


@pytest.mark.parametrize(
    "fields", [{}, {"padding_style": "TF_VALID"}, {"dilation_rate_in_y": 4}], ids=["explicit", "valid", "dilated"]
)
@pytest.mark.parametrize("operation", ["convolution_2d", "depthwise_convolution_2d"])
def test_kernel_beyond_the_padded_source(operation, fields):
    problem = _problem(operation)
    problem["source"] = problem["source"][:, :, : 6 if "dilation_rate_in_y" in fields else 2]
    problem["descriptor"] = _descriptor(operation, **fields)
    with pytest.raises(SHAPE, match=names("source", "weights")):
        run_convolution(operation, **problem)


@pytest.mark.parametrize("shape", [(2, 4, 0, 6), (2, 4, 6, 0)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_pixels(operation, shape):
    problem = _problem(operation)
    problem["source"] = np.ones(shape, np.float32)
    problem["descriptor"] = _descriptor(operation, padding_left=3, padding_right=3, padding_top=3, padding_bottom=3)
    with pytest.raises(
        SHAPE, match=names("output_shape" if operation.endswith("data_gradient") else "source", "incoming_gradient")
    ):
        run_convolution(operation, **problem)


def _bad_outs(expected, operand):
    """(out, exception, id); whatever `out` holds must survive."""
    read_only = np.full_like(expected, 7)
    read_only.flags.writeable = False
    yield np.full((*expected.shape[:3], expected.shape[3] + 1), 7, np.float32), SHAPE
    yield np.full(expected.size, 7, np.float32), SHAPE
    yield np.full(expected.shape, 7, np.float64), DTYPE
    yield (
        np.full(expected.shape, 7, np.float32).astype(np.dtype(np.float32).newbyteorder()),
        (mg.MPSGraphError, BufferError),
    )
    yield read_only, ValueError
    yield (np.full_like(expected, 7), np.full_like(expected, 7)), (TypeError, ValueError)
    yield np.broadcast_to(np.float32(7), expected.shape), ValueError
    yield "out", TypeError


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_bad_out(operation, number):
    problem = _problem(operation)
    expected = run_convolution(operation, **problem)
    out, error = list(_bad_outs(expected, problem["source"]))[number]
    with pytest.raises(error, match=names("out")):
        run_convolution(operation, **problem, out=out)
    for array in out if isinstance(out, tuple) else [out]:
        assert isinstance(array, str) or (array == 7).all()


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_out_that_overlaps_an_input(operation, position):
    problem = _problem(operation)
    expected = run_convolution(operation, **problem)
    key = _operands(operation)[position]
    memory = np.zeros(max(expected.size, problem[key].size) + 1, np.float32)
    shared = memory[: problem[key].size].reshape(problem[key].shape)
    shared[:] = problem[key]
    out = memory[1 : 1 + expected.size].reshape(expected.shape)
    before = memory.copy()
    with pytest.raises(ValueError, match=names("out")):
        run_convolution(operation, **{**problem, key: shared}, out=out)
    np.testing.assert_array_equal(memory, before)


@pytest.mark.parametrize("operation", GRADIENTS)
def test_out_is_not_written_before_an_error(operation):
    problem = _problem(operation)
    out = np.full(_shape_keyword(operation, problem)["output_shape"], 7, np.float32)
    copies = {name: problem[name].copy() for name in ("source", "weights", "incoming")}
    problem["descriptor"] = _descriptor(operation, stride_in_x=2)
    with pytest.raises(SHAPE):
        run_convolution(operation, **problem, out=out)
    assert (out == 7).all()
    for name, copy in copies.items():
        np.testing.assert_array_equal(problem[name], copy)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_unknown_device(operation):
    with pytest.raises((ValueError, RuntimeError), match=names("device")):
        run_convolution(operation, **_problem(operation), device="abacus")


@pytest.mark.parametrize("operation", GRADIENTS)
def test_keyword_only(operation):
    problem = _problem(operation)
    operands = [problem[key] for key in _operands(operation)]
    with pytest.raises(TypeError):
        getattr(mg, operation)(
            *operands, *_shape_keyword(operation, problem).values(), descriptor=problem["descriptor"]
        )


def test_numbers_of_another_type():
    for wrong in ((1, 1), None, mg.PaddingStyle["Explicit"].name):
        with pytest.raises(TypeError, match=names("stride_in_x")):
            mg.Convolution2DDescriptor(stride_in_x=wrong)
