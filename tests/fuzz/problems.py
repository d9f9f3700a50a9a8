"""Valid problems of the founding families, small enough for the reference's loops."""

import contextlib

import numpy as np
from hypothesis import strategies as st
from support import FLOAT_DTYPES, INDEX_MODES, Convolution, assert_close, judge_convolution, pooling_descriptor

import mpsgraph_native as mg
from mpsgraph_native.verify.data import dtype
from mpsgraph_native.verify.recurrent import FAMILIES, Case
from mpsgraph_native.verify.reference import pooling as reference_pooling
from mpsgraph_native.verify.reference.geometry import arranged_shape


class Problem(dict):
    """Arguments by name, shown by their shapes: the values follow from a seed."""

    def __repr__(self):
        def shown(value):
            return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)

        return ", ".join(f"{name}={shown(value)}" for name, value in self.items())


STYLES = ("Explicit", "TF_VALID", "TF_SAME", "ONNX_SAME_LOWER")
DATA_LAYOUTS = st.sampled_from(("NCHW", "NHWC"))
dtype_names = st.sampled_from(FLOAT_DTYPES)
# Channels: mostly few; sometimes one more or less than vectors and blocks of the kernels hold.
channels = st.one_of(st.integers(1, 5), st.sampled_from((7, 8, 9, 15, 16, 17, 31, 32, 33)))


@st.composite
def windows(draw, *, room):
    """(kernel, stride, dilation, padding before, padding after, extent) of one axis.

    `room(extent)` is how far a window may reach beyond the image.
    """
    kernel, stride, dilation = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    extent = (kernel - 1) * dilation + 1
    before, after = (draw(st.integers(0, min(3, room(extent)))) for _ in range(2))
    return kernel, stride, dilation, before, after, extent


@st.composite
def images(draw, rows, columns, style):
    """A size for each axis that a window fits into."""

    def size(window):
        *_, before, after, extent = window
        least = {"Explicit": extent - before - after, "TF_VALID": extent}.get(style, 1)
        return draw(st.integers(max(1, least), max(1, least) + 6))

    return size(rows), size(columns)


def _window_fields(rows, columns, style):
    fields = {"padding_style": style}
    for letter, sides, (_, stride, dilation, before, after, _) in (
        ("y", ("top", "bottom"), rows),
        ("x", ("left", "right"), columns),
    ):
        fields |= {f"stride_in_{letter}": stride, f"dilation_rate_in_{letter}": dilation}
        fields |= {f"padding_{side}": value for side, value in zip(sides, (before, after), strict=True)}
    return fields


@st.composite
def convolutions(draw, operation):
    """The problem as `support.run_convolution` and `judge_convolution` take it."""
    window = windows(room=lambda extent: 3)
    rows, columns, style = draw(window), draw(window), draw(st.sampled_from(STYLES))
    fields = _window_fields(rows, columns, style)
    inputs, outputs = draw(channels), draw(channels)
    if operation.startswith("depthwise"):
        outputs = draw(st.integers(1, 3))
    elif draw(st.booleans()):
        groups = draw(st.integers(1, 4))
        inputs, outputs = groups * draw(st.integers(1, 5)), groups * draw(st.integers(1, 5))
        fields["groups"] = groups
    image = draw(images(rows, columns, style))
    problem = Convolution(draw(st.integers(0, 3)), inputs, outputs, image, (rows[0], columns[0]), fields)
    weights_layout = draw(st.sampled_from(("OIHW", "HWIO")))
    return Problem(
        problem.problem(operation, draw(dtype_names), draw(DATA_LAYOUTS), weights_layout, draw(st.integers(0, 99)))
    )


def check_convolution(operation, result, precision, problem):
    """Compares with the reference.

    Fast algorithms mix neighbouring pixels before they multiply: even where nothing is to be added the error goes by the
    size of what is near.
    """
    expected, magnitude, length = judge_convolution(operation, **problem)
    if precision == "fast":
        magnitude = np.max(magnitude, initial=0)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype=result.dtype)


@contextlib.contextmanager
def precision_of(value):
    before = mg.precision()
    mg.set_precision(value)
    try:
        yield
    finally:
        mg.set_precision(before)


precisions = st.sampled_from(("fast", "exact"))


@st.composite
def pooling_sources(draw, shape, dtype_name):
    """Values with ties, now and then infinities and NaN."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.integers(-3, 4, shape) * 0.5
    if draw(st.booleans()):
        values = rng.standard_normal(shape)
    if draw(st.integers(0, 3)) == 0:
        chance = rng.random(shape)
        values[chance < 0.1] = np.nan
        values[chance > 0.85] = -np.inf
        values[chance > 0.95] = np.inf
    return values.astype(dtype(dtype_name))


@st.composite
def poolings(draw):
    """source, descriptor and incoming gradient of a 2D pooling."""
    window = windows(room=lambda extent: extent - 1)
    rows, columns, style = draw(window), draw(window), draw(st.sampled_from(STYLES))
    layout = draw(DATA_LAYOUTS)
    descriptor = pooling_descriptor(
        _window_fields(rows, columns, style)
        | {"kernel_height": rows[0], "kernel_width": columns[0], "data_layout": layout},
        ceil_mode=draw(st.booleans()),
        include_zero_pad_to_average=draw(st.booleans()),
        return_indices_mode=draw(st.sampled_from(INDEX_MODES)),
    )
    shape = arranged_shape((draw(st.integers(0, 2)), draw(channels), *draw(images(rows, columns, style))), layout)
    source = draw(pooling_sources(shape, draw(dtype_names)))
    incoming = np.random.default_rng(1).standard_normal(reference_pooling.output_shape(shape, descriptor))
    return Problem(source=source, descriptor=descriptor, incoming=incoming.astype(source.dtype))


@st.composite
def recurrent_cases(draw):
    """A case of one of the recurrent families, with any of its flags, activations and optional operands."""
    family = draw(st.sampled_from(FAMILIES))
    options = {name: draw(st.booleans()) for name in family.flags}
    activations = ("Sigmoid", "Tanh", "Relu", "HardSigmoid", "None")
    options |= {name: draw(st.sampled_from(activations)) for name in family.activations}
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 9), channels))
    operands = frozenset(name for name in (*family.optional, *family.final_gradients) if draw(st.booleans()))
    return Case(family=family, shape=shape, dtype=draw(dtype_names), options=options, operands=operands)
