"""MLX on its CPU device, in its only layout, channels last.

It has no pooling indices, like jax, and no bidirectional modules: those rows have no MLX.
"""

import mlx.core as mx
import numpy as np
from mlx import nn
from rows.convolution import RESULT
from rows.row import Contender, channels_first, channels_last

mx.set_default_device(mx.cpu)
MODULES = {
    "gru": (nn.GRU, {"input_weight": "Wx", "recurrent_weight": "Wh", "bias": "b", "secondary_bias": "bhn"}),
    "lstm": (nn.LSTM, {"input_weight": "Wx", "recurrent_weight": "Wh", "bias": "bias"}),
    "single_gate_rnn": (nn.RNN, {"input_weight": "Wxh", "recurrent_weight": "Whh", "bias": "bias"}),
}


def set_threads(count):
    """It has no setting: the process may use that many processors."""


def _evaluated(function):
    def call():
        result = function()
        mx.eval(result)
        return result

    return call


def _gradient(function, primal, cotangent):
    return mx.vjp(function, [primal], [cotangent])[1][0]


def _convolution(row, arrays):
    placed = {name: mx.array(channels_last(array)) for name, array in arrays.items()}  # OIHW becomes OHWI as well

    def convolve(source, weights):
        return mx.conv2d(source, weights, stride=row.stride, padding=row.padding, groups=row.groups)

    functions = {
        "forward": lambda: convolve(placed["source"], placed["weights"]),
        "data_gradient": lambda: _gradient(
            lambda source: convolve(source, placed["weights"]), placed["source"], placed["incoming"]
        ),
        "weights_gradient": lambda: _gradient(
            lambda weights: convolve(placed["source"], weights), placed["weights"], placed["incoming"]
        ),
    }
    yield Contender(
        "mlx", _evaluated(functions[row.kind]), lambda given: {RESULT[row.kind]: channels_first(np.array(given))}
    )


def _pooling(row, arrays):
    pool = nn.MaxPool2d(row.kernel, row.stride, row.padding)
    source, incoming = (mx.array(channels_last(arrays[name])) for name in ("source", "incoming"))
    function = (lambda: _gradient(pool, source, incoming)) if row.gradient else (lambda: pool(source))
    name = "source" if row.gradient else "values"
    yield Contender("mlx", _evaluated(function), lambda given: {name: channels_first(np.array(given))})


def _recurrent(row, arrays):
    if row.directions == 2:
        return
    kind, names = MODULES[row.cell]
    module = kind(row.inputs, row.units)
    source, incoming = (
        mx.array(np.ascontiguousarray(arrays[name].transpose(1, 0, 2))) for name in ("source", "incoming")
    )
    keys = [name for name in names if name in arrays]
    parameters = [mx.array(arrays[name]) for name in keys]

    def forward(source, *parameters):
        module.update({names[key]: parameter for key, parameter in zip(keys, parameters, strict=True)})
        h = module(source)
        return h[0] if row.cell == "lstm" else h

    def forward_and_gradients():
        (h,), gradients = mx.vjp(forward, [source, *parameters], [incoming])
        return [h, *gradients]

    def results(given):
        arrays = [np.array(array) for array in given]
        time_first = dict(zip(("h", "source"), (array.transpose(1, 0, 2) for array in arrays[:2]), strict=False))
        return {**time_first, **dict(zip(keys, arrays[2:], strict=False))}

    function = forward_and_gradients if row.gradient else lambda: [forward(source, *parameters)]
    yield Contender("mlx", _evaluated(function), results)


def contenders(row, arrays):
    mx.clear_cache()  # the last row's memory
    return FAMILIES[row.family](row, arrays)


FAMILIES = {
    "convolution": _convolution,
    "depthwise_convolution": _convolution,
    "pooling": _pooling,
    "recurrent": _recurrent,
}
