"""What convolution calls promise besides their values, the same for the grouped and the depthwise family."""

import ml_dtypes
import numpy as np
import pytest
from support import (
    CONVOLUTIONS,
    DEPTHWISE_CONVOLUTIONS,
    LAYOUTS,
    Convolution,
    assert_close,
    assert_same_bits,
    central_differences,
    check_convolution,
    dtypes,
    judge_convolution,
    random_array,
    run_convolution,
    seeded,
)

import mpsgraph_native as mg
from mpsgraph_native.verify.reference.geometry import arranged

OPERATIONS = CONVOLUTIONS + DEPTHWISE_CONVOLUTIONS
GRADIENTS = tuple(operation for operation in OPERATIONS if operation.endswith("gradient"))
SMALL = Convolution(
    2,
    3,
    2,
    (6, 7),
    (3, 2),
    {"stride_in_y": 2, "dilation_rate_in_x": 2, "padding_left": 1, "padding_right": 2, "padding_top": 1},
)
ARRAYS = ("source", "weights", "incoming")


@pytest.mark.parametrize("kind", [tuple, list, lambda shape: np.array(shape, np.int32), lambda shape: np.array(shape, np.int64)],
                         ids=["tuple", "list", "int32", "int64"])  # fmt: skip
@pytest.mark.parametrize("operation", GRADIENTS)
def test_output_shape_forms(operation, kind):
    problem = SMALL.problem(operation)
    shape = problem["source" if operation.endswith("data_gradient") else "weights"].shape
    assert_same_bits(
        run_convolution(operation, **problem, output_shape=kind(shape)), run_convolution(operation, **problem)
    )


@pytest.mark.parametrize("operation", GRADIENTS)
def test_output_shape_tells_equal_outputs_apart(operation):
    """With stride 3, sources of 7, 8 and 9 columns give the same output: the gradient has the shape asked for."""
    for columns in (7, 8, 9):
        convolution = Convolution(1, 2, 2, (5, columns), (2, 1), {"stride_in_x": 3})
        problem = convolution.problem(operation)
        assert problem["incoming"].shape[-1] == 3
        check_convolution(operation, **problem)


@pytest.mark.parametrize("dtype_name", dtypes("float32", "float16", "bfloat16", "float64"))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_out_receives_the_result(operation, dtype_name):
    problem = SMALL.problem(operation, dtype_name)
    expected = run_convolution(operation, **problem)
    out = np.full_like(expected, 7)
    assert run_convolution(operation, **problem, out=out) is out
    assert_same_bits(out, expected)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_out_may_be_strided(operation):
    problem = SMALL.problem(operation)
    expected = run_convolution(operation, **problem)
    frame = np.full(tuple(2 * size + 1 for size in expected.shape), 7, np.float32)
    steps = tuple(slice(1, None, 2) if axis % 2 else slice(-1, 0, -2) for axis in range(4))
    run_convolution(operation, **problem, out=frame[steps])
    assert_same_bits(frame[steps], expected)
    frame[steps] = 7
    assert (frame == 7).all()


@pytest.mark.parametrize("name", ["wide", "small"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_same_call_same_bits(operation, name):
    convolution = SMALL if name == "small" else Convolution(5, 40, 2, (24, 25), (3, 3), {"padding_style": "TF_SAME"})
    problem = convolution.problem(operation)
    assert_same_bits(run_convolution(operation, **problem), run_convolution(operation, **problem))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_read_only_inputs_stay_untouched(operation):
    problem = SMALL.problem(operation)
    copies = {name: problem[name].copy() for name in ARRAYS}
    for name in ARRAYS:
        problem[name].flags.writeable = False
    check_convolution(operation, **problem)
    for name in ARRAYS:
        assert_same_bits(problem[name], copies[name])


@pytest.mark.parametrize(
    "view",
    [
        lambda a: np.asfortranarray(a),
        lambda a: a[:, :, ::-1, ::-1].copy()[:, :, ::-1, ::-1],
        lambda a: np.repeat(np.repeat(a, 2, axis=1), 3, axis=3)[:, ::2, :, ::3],
        lambda a: a.astype(a.dtype.newbyteorder()),
        lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
    ],
    ids=["fortran", "negative", "sliced", "byte-swapped", "misaligned"],
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_memory_of_inputs_does_not_matter(operation, view):
    problem = SMALL.problem(operation)
    expected, magnitude, length = judge_convolution(operation, **problem)
    viewed = {**problem, **{name: view(problem[name]) for name in ARRAYS}}
    actual = run_convolution(operation, **viewed)
    assert_close(actual, expected, magnitude=magnitude, length=length, dtype="float32")
    assert actual.flags.c_contiguous


@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_empty_batch(operation, data_layout, weights_layout):
    convolution = Convolution(0, 3, 4, (8, 8), (3, 3))
    problem = convolution.problem(operation, "float32", data_layout, weights_layout)
    expected = judge_convolution(operation, **problem).value
    result = run_convolution(operation, **problem)
    assert_same_bits(result, expected.astype(np.float32))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_empty_batch_fills_out(operation):
    problem = Convolution(0, 3, 4, (8, 8), (3, 3)).problem(operation)
    out = np.full(judge_convolution(operation, **problem).value.shape, 7, np.float32)
    run_convolution(operation, **problem, out=out)
    assert not out.any()


@pytest.mark.parametrize("operation", CONVOLUTIONS)
def test_no_input_channels(operation):
    """A sum over no channel: the forward result is zero, the gradients are empty."""
    problem = Convolution(2, 0, 4, (8, 8), (3, 3)).problem(operation)
    expected = judge_convolution(operation, **problem).value
    assert_same_bits(run_convolution(operation, **problem), expected.astype(np.float32))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_padding_is_a_number_not_memory(operation):
    """Infinities and NaN reach exactly the elements whose sums contain them."""
    problem = Convolution(1, 2, 3, (5, 6), (3, 3), {"padding_style": "TF_SAME"}).problem(operation)
    operand = "source" if not operation.endswith("data_gradient") else "incoming"
    problem[operand][0, 1, 0, 0] = np.inf
    problem[operand][0, 0, 4, 5] = np.nan
    with np.errstate(invalid="ignore"):
        expected = judge_convolution(operation, **problem).value
    result = run_convolution(operation, **problem)
    np.testing.assert_array_equal(np.isfinite(result), np.isfinite(expected))
    np.testing.assert_array_equal(result[~np.isfinite(expected)], expected[~np.isfinite(expected)])


@pytest.mark.parametrize(("data_layout", "weights_layout"), LAYOUTS)
@pytest.mark.parametrize("family", ["", "depthwise_"])
@pytest.mark.float64
def test_gradients_against_central_differences(family, data_layout, weights_layout):
    """The forward is linear in each operand, so a large step costs no accuracy."""
    forward = f"{family}convolution_2d"
    problem = SMALL.problem(forward, "float64", data_layout, weights_layout)
    function = getattr(mg, forward)
    for operation, operand in ((f"{forward}_data_gradient", "source"), (f"{forward}_weights_gradient", "weights")):
        operands = {name: problem[name] for name in ("source", "weights")}

        def result(value, operand=operand, operands=operands):
            return function(*{**operands, operand: value}.values(), descriptor=problem["descriptor"])

        expected = central_differences(result, problem[operand], problem["incoming"], 1.0)
        np.testing.assert_allclose(run_convolution(operation, **problem), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_half_types_accumulate_in_float32(operation):
    """4096 ones of float16 and bfloat16: a running sum of their own type stops at 2048 and 256."""
    image, kernel = ((64, 64), (1, 1)) if operation.endswith("weights_gradient") else ((1, 1), (1, 1))
    channels = (1, 1) if operation.endswith("weights_gradient") or "depthwise" in operation else (4096, 1)
    if operation.endswith("data_gradient"):
        channels = (1, 4096)
    elif operation == "depthwise_convolution_2d":
        image = kernel = (64, 64)
    for dtype_name in ("float16", "bfloat16"):
        problem = Convolution(1, *channels, image, kernel).problem(operation, dtype_name)
        problem.update({name: np.ones_like(problem[name]) for name in ARRAYS})
        np.testing.assert_array_equal(run_convolution(operation, **problem).astype(np.float64), 4096.0)


@pytest.mark.parametrize("descriptor", [mg.Convolution2DDescriptor, mg.DepthwiseConvolution2DDescriptor])
def test_descriptor_defaults(descriptor):
    d = descriptor()
    for axis in "xy":
        assert getattr(d, f"stride_in_{axis}") == getattr(d, f"dilation_rate_in_{axis}") == 1
    assert d.padding_left == d.padding_right == d.padding_top == d.padding_bottom == 0
    assert (d.padding_style.name, d.data_layout.name, d.weights_layout.name) == ("Explicit", "NCHW", "OIHW")
    assert getattr(d, "groups", 1) == 1
    assert d == descriptor(stride_in_x=1) and hash(d) == hash(descriptor(stride_in_x=1))
    assert d != descriptor(stride_in_x=2)
    assert "stride_in_x=2" in repr(descriptor(stride_in_x=2))
    with pytest.raises(AttributeError):
        d.stride_in_x = 2


def test_layouts_agree_with_each_other():
    """The same numbers, whichever layout they arrive in."""
    rng = seeded("layouts")
    source, weights = random_array(rng, (2, 3, 5, 6)), random_array(rng, (4, 3, 3, 3))
    expected = mg.convolution_2d(source, weights, descriptor=mg.Convolution2DDescriptor())
    for data_layout, weights_layout in LAYOUTS:
        d = mg.Convolution2DDescriptor(data_layout=data_layout, weights_layout=mg.TensorNamedDataLayout[weights_layout])
        result = mg.convolution_2d(arranged(source, data_layout), arranged(weights, weights_layout), descriptor=d)
        np.testing.assert_allclose(result, arranged(expected, data_layout), rtol=1e-5, atol=1e-5)


def test_bfloat16_results_are_ml_dtypes_arrays():
    ones = np.ones((1, 1, 2, 2), ml_dtypes.bfloat16)
    assert mg.convolution_2d(ones, ones, descriptor=mg.Convolution2DDescriptor()).dtype == ml_dtypes.bfloat16
