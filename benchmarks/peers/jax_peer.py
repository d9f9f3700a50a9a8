"""jax, jit-compiled by XLA for the CPU, in the row's own layout.

It has no pooling indices: its max pooling gives values alone, and its gradient looks for the maxima in the source again.
"""

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from rows.convolution import OPERANDS, RESULT
from rows.row import Contender, channels_first, in_layout

DIMENSIONS = {"NCHW": ("NCHW", "OIHW", "NCHW"), "NHWC": ("NHWC", "HWIO", "NHWC")}


def set_threads(count):
    """XLA reads processors and flags when it starts: the process was started with both settled."""


def _ready(function, *operands):
    return lambda: jax.block_until_ready(function(*operands))


def _convolution(row, arrays):
    last = row.layout == "NHWC"
    placed = {
        "source": jnp.asarray(in_layout(arrays["source"], row.layout)),
        "weights": jnp.asarray(
            np.ascontiguousarray(arrays["weights"].transpose(2, 3, 1, 0)) if last else arrays["weights"]
        ),
        "incoming": jnp.asarray(in_layout(arrays["incoming"], row.layout)),
    }

    def convolve(source, weights):
        return lax.conv_general_dilated(
            source, weights, (row.stride, row.stride), [(row.padding, row.padding)] * 2,
            dimension_numbers=DIMENSIONS[row.layout], feature_group_count=row.groups,
        )  # fmt: skip

    def like(name):
        return jax.ShapeDtypeStruct(placed[name].shape, placed[name].dtype)

    def data_gradient(incoming, weights):
        return jax.linear_transpose(lambda source: convolve(source, weights), like("source"))(incoming)[0]

    def weights_gradient(incoming, source):
        return jax.linear_transpose(lambda weights: convolve(source, weights), like("weights"))(incoming)[0]

    function = {"forward": convolve, "data_gradient": data_gradient, "weights_gradient": weights_gradient}[row.kind]

    def results(given):
        array = np.asarray(given)
        if not last:
            return {RESULT[row.kind]: array}
        return {
            RESULT[row.kind]: array.transpose(3, 2, 0, 1) if RESULT[row.kind] == "weights" else channels_first(array)
        }

    yield Contender("jax", _ready(jax.jit(function), *(placed[name] for name in OPERANDS[row.kind])), results)


def _pooling(row, arrays):
    def spread(height_and_width, other):
        both = [height_and_width] * 2
        return (other, other, *both) if row.layout == "NCHW" else (other, *both, other)

    def pool(source):
        return lax.reduce_window(
            source, -jnp.inf, lax.max, spread(row.kernel, 1), spread(row.stride, 1), spread((row.padding,) * 2, (0, 0))
        )

    def gradient(incoming, source):
        return jax.vjp(pool, source)[1](incoming)[0]

    source, incoming = (jnp.asarray(in_layout(arrays[name], row.layout)) for name in ("source", "incoming"))

    def results(given):
        array = np.asarray(given)
        return {"source" if row.gradient else "values": array if row.layout == "NCHW" else channels_first(array)}

    call = _ready(jax.jit(gradient), incoming, source) if row.gradient else _ready(jax.jit(pool), source)
    yield Contender("jax", call, results)


def _gru(h, projected, recurrent, secondary_bias):
    product = h @ recurrent.T
    r, z = (
        jax.nn.sigmoid(a + b) for a, b in zip(jnp.split(projected, 3, 1)[:2], jnp.split(product, 3, 1)[:2], strict=True)
    )
    units = h.shape[1]
    candidate = jnp.tanh(projected[:, 2 * units :] + r * (product[:, 2 * units :] + secondary_bias))
    return (1 - z) * candidate + z * h


def _lstm(h, cell, projected, recurrent):
    i, f, g, o = jnp.split(projected + h @ recurrent.T, 4, 1)
    cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell


def _one_direction(row, parameters, backwards):
    """A scan; all products with the input weights are one product before it."""
    recurrent = parameters["recurrent_weight"]
    projected = parameters["source"] @ parameters["input_weight"].T + parameters["bias"]
    zeros = jnp.zeros((row.batch, row.units), jnp.float32)

    def step(state, x):
        h, cell = state
        if row.cell == "gru":
            h = _gru(h, x, recurrent, parameters["secondary_bias"])
        elif row.cell == "lstm":
            h, cell = _lstm(h, cell, x, recurrent)
        else:
            h = jnp.tanh(x + h @ recurrent.T)
        return (h, cell), h

    return lax.scan(step, (zeros, zeros), projected, reverse=backwards)[1]


def _recurrent(row, arrays):
    parameters = {name: jnp.asarray(array) for name, array in arrays.items() if name != "incoming"}

    def forward(parameters):
        if row.directions == 1:
            return _one_direction(row, parameters, False)
        parts = []
        for direction in (0, 1):
            halves = {
                name: array if name == "source" else array.reshape(2, -1, *array.shape[1:])[direction]
                for name, array in parameters.items()
                if name != "recurrent_weight"
            }
            halves["recurrent_weight"] = parameters["recurrent_weight"][direction]
            parts.append(_one_direction(row, halves, direction == 1))
        return jnp.concatenate(parts, 2)

    def forward_and_gradients(parameters, incoming):
        h, pull = jax.vjp(forward, parameters)
        return {"h": h, **pull(incoming)[0]}

    if row.gradient:
        call = _ready(jax.jit(forward_and_gradients), parameters, jnp.asarray(arrays["incoming"]))
    else:
        call = _ready(jax.jit(lambda parameters: {"h": forward(parameters)}), parameters)
    yield Contender("jax", call, lambda given: {name: np.asarray(array) for name, array in given.items()})


def contenders(row, arrays):
    return FAMILIES[row.family](row, arrays)


FAMILIES = {
    "convolution": _convolution,
    "depthwise_convolution": _convolution,
    "pooling": _pooling,
    "recurrent": _recurrent,
}
