"""Helpers shared by all tests: dtypes, seeded data, error bounds, numerical differences, convolution problems."""

import dataclasses
import re

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify import tolerance
from mpsgraph_native.verify.data import dtype, random_array, seeded
from mpsgraph_native.verify.reference import convolution as reference_convolution
from mpsgraph_native.verify.reference import depthwise_convolution as reference_depthwise_convolution
from mpsgraph_native.verify.reference.geometry import arranged
from mpsgraph_native.verify.tolerance import error_bound, relative_errors


def dtypes(*names):
    """Those of the dtypes that the device under test, the default one, computes in: Metal lacks float64."""
    return [name for name in names if name != "float64" or mg.default_device().name != "mps"]


FLOAT_DTYPES = tuple(dtypes(*tolerance.FLOAT_DTYPES))
WIDEST = dtypes("float32", "float64")[-1]
# How far a short formula in WIDEST may be from central differences in float64.
WIDEST_TOLERANCE = {"float64": {"rtol": 1e-6, "atol": 1e-7}, "float32": {"rtol": 2e-4, "atol": 2e-5}}[WIDEST]


def counting(*shape, dtype_name="float32"):
    """1, 2, 3, ... in row-major order."""
    return np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype(dtype_name))


def assert_close(actual, expected, *, magnitude, length, dtype=None):
    """Compare with a float64 expectation under `error_bound`; infinities and NaN must agree exactly.

    `magnitude` is the same formula evaluated on absolute values, `length` the number of terms of the longest sum.
    """
    assert isinstance(actual, np.ndarray), f"a {type(actual).__name__}, not an ndarray"
    assert actual.shape == np.shape(expected), f"shape {actual.shape}, expected {np.shape(expected)}"
    if dtype is None:
        assert str(actual.dtype) in tolerance.FLOAT_DTYPES, f"dtype {actual.dtype} is no supported float"
    else:
        assert str(actual.dtype) == str(dtype), f"dtype {actual.dtype}, expected {dtype}"
    expected = np.asarray(expected, dtype=np.float64)
    given = actual.astype(np.float64)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(given[~finite], expected[~finite])
    excess = relative_errors(actual, expected, magnitude, length)
    if excess.size and excess.max() > 1.0:
        worst = np.unravel_index(excess.argmax(), excess.shape)
        bound = error_bound(actual.dtype, expected, np.broadcast_to(magnitude, expected.shape), length)
        raise AssertionError(
            f"{np.count_nonzero(excess > 1.0)} of {excess.size} elements out of bounds; worst at {tuple(map(int, worst))}: "
            f"got {given[worst]!r}, expected {expected[worst]!r}, error is {excess[worst]:.3g} of the bound {bound[worst]:.3g}"
        )


def assert_same_bits(actual, expected):
    """Equal dtype, shape and bytes: tells -0 from +0 and compares NaN."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert np.ascontiguousarray(actual).tobytes() == np.ascontiguousarray(expected).tobytes()


def central_differences(function, array, incoming, step):
    """sum(incoming * d function / d array) by (f(a + step) - f(a - step)) / (2 step), element by element, in float64."""
    result = np.empty(array.shape)
    for position in np.ndindex(array.shape):
        upper, lower = array.copy(), array.copy()
        upper[position] += step
        lower[position] -= step
        result[position] = np.sum(incoming * (function(upper) - function(lower))) / (2 * step)
    return result


def names(*alternatives):
    """A pattern for pytest.raises(match=...): the message has one of these words, not merely as a part of a longer name."""
    return r"(?<!\w)(" + "|".join(map(re.escape, alternatives)) + r")(?!\w)"


CONVOLUTIONS = ("convolution_2d", "convolution_2d_data_gradient", "convolution_2d_weights_gradient")
DEPTHWISE_CONVOLUTIONS = tuple(f"depthwise_{operation}" for operation in CONVOLUTIONS)
LAYOUTS = [(data, weights) for data in ("NCHW", "NHWC") for weights in ("OIHW", "HWIO")]


@dataclasses.dataclass(frozen=True)
class Convolution:
    """Sizes of a convolution. `outputs` counts channels, or the multiplier of a depthwise one; `fields` are the descriptor's own."""

    batch: int
    inputs: int
    outputs: int
    image: tuple
    kernel: tuple
    fields: dict = dataclasses.field(default_factory=dict)

    def problem(self, operation, dtype_name="float32", data_layout="NCHW", weights_layout="OIHW", seed=0):
        """Seeded arrays and the descriptor, as `run_convolution` and `judge_convolution` take them."""
        depthwise = operation.startswith("depthwise")
        kind = mg.DepthwiseConvolution2DDescriptor if depthwise else mg.Convolution2DDescriptor
        descriptor = kind(data_layout=data_layout, weights_layout=weights_layout, **self.fields)
        rng = seeded(self, seed)
        inputs = self.inputs if depthwise else self.inputs // self.fields.get("groups", 1)
        source = random_array(rng, (self.batch, self.inputs, *self.image), dtype_name)
        weights = random_array(rng, (self.outputs, inputs, *self.kernel), dtype_name)
        source, weights = arranged(source, data_layout), arranged(weights, weights_layout)
        shape = _convolution_reference(operation).output_shape(source.shape, weights.shape, descriptor)
        return {
            "source": source,
            "weights": weights,
            "incoming": random_array(rng, shape, dtype_name),
            "descriptor": descriptor,
        }


def _convolution_reference(operation):
    return reference_depthwise_convolution if operation.startswith("depthwise") else reference_convolution


def judge_convolution(operation, **problem):
    """The float64 `Expected` of a convolution operation."""
    return _convolution_reference(operation).judge(operation, **problem)


def run_convolution(operation, *, source, weights, incoming, descriptor, **keywords):
    """Call a convolution operation of the package; `output_shape` follows from the arrays unless given."""
    function = getattr(mg, operation)
    if operation.endswith("data_gradient"):
        if "output_shape" not in keywords:
            keywords["output_shape"] = source.shape
        return function(incoming, weights, descriptor=descriptor, **keywords)
    if operation.endswith("weights_gradient"):
        if "output_shape" not in keywords:
            keywords["output_shape"] = weights.shape
        return function(incoming, source, descriptor=descriptor, **keywords)
    return function(source, weights, descriptor=descriptor, **keywords)


def check_convolution(operation, **problem):
    """Run and compare with the reference."""
    expected, magnitude, length = judge_convolution(operation, **problem)
    actual = run_convolution(operation, **problem)
    assert_close(actual, expected, magnitude=magnitude, length=length, dtype=problem["incoming"].dtype)


INDEX_MODES = tuple(f"{kind}Flatten{count}D" for kind in ("Global", "Local") for count in (1, 2, 3, 4))


def _window(kernel_height, kernel_width, **fields):
    return {"kernel_height": kernel_height, "kernel_width": kernel_width, **fields}


_IMAGE_PADDING = {"padding_left": 1, "padding_right": 1, "padding_top": 1, "padding_bottom": 1}

# Source shape and descriptor fields; those with kernel_sizes are 4D descriptors.
POOLINGS = {
    "2d_plain": ((2, 3, 8, 6), _window(2, 2, stride_in_x=2, stride_in_y=2)),
    "2d_overlap": ((2, 3, 7, 9), _window(3, 2, stride_in_y=2, padding_top=2, padding_bottom=1, padding_left=1)),
    "2d_overlap_nhwc": ((2, 7, 9, 3), _window(3, 3, stride_in_y=2, data_layout="NHWC", **_IMAGE_PADDING)),
    "2d_dilated": (
        (2, 2, 9, 10),
        _window(2, 3, dilation_rate_in_y=3, dilation_rate_in_x=2, padding_left=2, padding_bottom=3),
    ),
    "2d_dilated_nhwc": (
        (1, 9, 10, 5),
        _window(3, 2, dilation_rate_in_y=2, stride_in_x=3, data_layout="NHWC", padding_top=4),
    ),
    "2d_same": ((2, 2, 7, 8), _window(3, 2, stride_in_y=2, stride_in_x=3, padding_style="TF_SAME")),
    "2d_same_even_nhwc": ((2, 6, 7, 2), _window(2, 4, padding_style="TF_SAME", data_layout="NHWC")),
    "2d_same_lower": ((2, 2, 7, 8), _window(2, 4, stride_in_y=2, padding_style="ONNX_SAME_LOWER")),
    "2d_valid": ((2, 2, 8, 9), _window(3, 2, stride_in_y=2, stride_in_x=3, padding_style="TF_VALID", padding_left=1)),
    "2d_whole_image": ((3, 4, 5, 4), _window(5, 4)),
    "2d_stride_beyond_kernel": ((2, 3, 11, 12), _window(2, 3, stride_in_y=4, stride_in_x=5)),
    "2d_one_pixel": ((2, 3, 1, 1), _window(3, 3, **_IMAGE_PADDING)),
    "2d_ceil": ((2, 2, 7, 8), _window(2, 3, stride_in_y=2, stride_in_x=2, ceil_mode=True, padding_left=1)),
    "2d_ceil_nhwc": (
        (2, 6, 6, 3),
        _window(3, 3, stride_in_y=2, stride_in_x=2, ceil_mode=True, data_layout="NHWC", **_IMAGE_PADDING),
    ),
    "2d_ceil_windows_outside": ((1, 2, 4, 6), _window(1, 1, stride_in_y=2, stride_in_x=2, ceil_mode=True)),
    "2d_ceil_ignored_by_same": (
        (1, 2, 5, 6),
        _window(2, 3, stride_in_y=2, stride_in_x=2, ceil_mode=True, padding_style="TF_SAME"),
    ),
    "2d_ceil_ignored_by_valid": (
        (1, 2, 6, 8),
        _window(3, 3, stride_in_y=2, stride_in_x=2, ceil_mode=True, padding_style="TF_VALID"),
    ),
    "2d_vector_tail_nhwc": (
        (1, 9, 8, 19),
        _window(3, 3, stride_in_y=2, stride_in_x=2, data_layout="NHWC", **_IMAGE_PADDING),
    ),
    "2d_many_planes": ((3, 7, 13, 14), _window(3, 3, stride_in_y=2, stride_in_x=2, **_IMAGE_PADDING)),
    "2d_row": ((1, 2, 1, 133), _window(1, 3, padding_left=1, padding_right=1)),
    "4d_image": (
        (2, 3, 8, 7),
        {"kernel_sizes": (1, 1, 3, 3), "strides": (1, 1, 2, 2), "padding_values": (0, 0, 0, 0, 1, 1, 1, 1)},
    ),
    "4d_channels": (
        (2, 5, 6, 5),
        {"kernel_sizes": (1, 3, 2, 2), "strides": (1, 2, 1, 2), "padding_values": (0, 0, 1, 1, 0, 1, 1, 0)},
    ),
    "4d_every_axis": (
        (4, 3, 5, 4),
        {"kernel_sizes": (2, 2, 3, 2), "strides": (1, 1, 2, 1), "padding_values": (1, 0, 0, 1, 1, 2, 0, 1)},
    ),
    "4d_batch_only": (
        (5, 2, 3, 4),
        {"kernel_sizes": (3, 1, 1, 1), "strides": (2, 1, 1, 1), "padding_values": (1, 1, 0, 0, 0, 0, 0, 0)},
    ),
    "4d_dilated": (
        (3, 3, 6, 8),
        {"kernel_sizes": (2, 2, 2, 3), "strides": (1, 1, 2, 1), "dilation_rates": (2, 1, 3, 2)},
    ),
    "4d_same": ((3, 4, 5, 6), {"kernel_sizes": (1, 2, 3, 2), "strides": (1, 2, 2, 3), "padding_style": "TF_SAME"}),
    "4d_same_lower": (
        (2, 4, 5, 6),
        {"kernel_sizes": (1, 1, 2, 4), "strides": (1, 1, 1, 2), "padding_style": "ONNX_SAME_LOWER"},
    ),
    "4d_valid": ((2, 4, 5, 6), {"kernel_sizes": (1, 1, 2, 3), "strides": (1, 1, 2, 2), "padding_style": "TF_VALID"}),
    "4d_ceil": (
        (2, 3, 6, 7),
        {"kernel_sizes": (1, 1, 3, 2), "strides": (1, 1, 2, 3), "padding_values": (0,) * 6 + (1, 0), "ceil_mode": True},
    ),
    "4d_strides_alone": ((3, 5, 4, 7), {"kernel_sizes": (1, 1, 1, 2), "strides": (2, 3, 2, 1)}),
    "4d_rank_5": (
        (2, 3, 4, 5, 6),
        {"kernel_sizes": (1, 2, 3, 2), "strides": (1, 2, 2, 1), "padding_values": (0, 0, 1, 0, 1, 1, 0, 1)},
    ),
    "4d_rank_6": ((2, 2, 1, 2, 5, 4), {"kernel_sizes": (1, 1, 2, 3), "strides": (1, 1, 2, 1)}),
}


def pooling_descriptor(fields, **more):
    """The 2D or 4D descriptor of a row of POOLINGS."""
    return (mg.Pooling4DDescriptor if "kernel_sizes" in fields else mg.Pooling2DDescriptor)(**fields, **more)


def pooling_operation(name, descriptor):
    """The package's function, for example ("max", "_gradient"): max_pooling_2d_gradient or max_pooling_4d_gradient."""
    prefix, suffix = name
    return getattr(mg, f"{prefix}_pooling_{'4d' if hasattr(descriptor, 'kernel_sizes') else '2d'}{suffix}")


def pooling_source(shape, kind, dtype_name="float32"):
    """Seeded source data: "normal", "ties" (few values), or "special" (ties, infinities and NaN)."""
    rng = seeded(shape, kind)
    if kind == "normal":
        return random_array(rng, shape, dtype_name)
    values = rng.integers(-2, 3, shape).astype(np.float64)
    if kind == "special":
        chance = rng.random(shape)
        values[chance < 0.15] = np.nan
        values[chance > 0.9] = -np.inf
        values[chance > 0.95] = np.inf
    return values.astype(dtype(dtype_name))
