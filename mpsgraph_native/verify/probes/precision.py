"""In which precision products and sums are kept."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.data import random_array, seeded
from mpsgraph_native.verify.probes.probe import Probe
from mpsgraph_native.verify.tolerance import ulp_errors

# 2048 + 1022 halves - 2048: exact in float32 in every order, while float16 loses halves beside 2048.
_TERMS = np.array([2048, *[0.5] * 1022, -2048], np.float16)


def _running():
    total = np.float16(0)
    for term in _TERMS:
        total = np.float16(total + term)
    return float(total)


def _pairwise():
    terms = _TERMS
    while terms.size > 1:
        terms = terms[0::2] + terms[1::2]
    return float(terms[0])


_ANSWERS = {"float32": [511], "float16, one after the other": [_running()], "float16, in pairs": [_pairwise()]}


def _question(what):
    return f"In which precision does {what} of float16 accumulate? 2048 + 1022 · 0.5 − 2048."


def _matrix_multiplication(device):
    return mg.matrix_multiplication(_TERMS[None], np.ones((_TERMS.size, 1), np.float16), device=device).ravel()


def _reduction_sum(device):
    return mg.reduction_sum(_TERMS, axes=0, device=device)


def _convolution(device):
    source = _TERMS.reshape(1, -1, 1, 1)
    return mg.convolution_2d(
        source, np.ones_like(source), descriptor=mg.Convolution2DDescriptor(), device=device
    ).ravel()


def _weights_gradient(device):
    source = _TERMS.reshape(1, 1, 32, 32)
    return mg.convolution_2d_weights_gradient(
        np.ones_like(source), source, output_shape=(1, 1, 1, 1), descriptor=mg.Convolution2DDescriptor(), device=device
    ).ravel()


def _depthwise_weights_gradient(device):
    source = _TERMS.reshape(1, 1, 32, 32)
    return mg.depthwise_convolution_2d_weights_gradient(
        np.ones_like(source), source, output_shape=(1, 1, 1, 1), descriptor=mg.DepthwiseConvolution2DDescriptor(),
        device=device,
    ).ravel()  # fmt: skip


def _data_gradient(device):
    incoming = _TERMS.reshape(1, -1, 1, 1)
    return mg.convolution_2d_data_gradient(
        incoming, np.ones((_TERMS.size, 1, 1, 1), np.float16), output_shape=(1, 1, 1, 1),
        descriptor=mg.Convolution2DDescriptor(), device=device,
    ).ravel()  # fmt: skip


def _avg_pooling(device):
    descriptor = mg.Pooling2DDescriptor(kernel_width=32, kernel_height=32)
    return mg.avg_pooling_2d(_TERMS.reshape(1, 1, 32, 32), descriptor=descriptor, device=device).ravel() * 1024.0


def _mean(device):
    return mg.mean(_TERMS, axes=0, device=device) * 1024.0


def _bias_gradient(device):
    """A sum over the batch: no recurrence, no activation."""
    descriptor = mg.SingleGateRNNDescriptor(activation="None", training=True)
    incoming = _TERMS.reshape(1, -1, 1)
    weight, bias = np.zeros((1, 1), np.float16), np.zeros(1, np.float16)
    _, z_state = mg.single_gate_rnn(0 * incoming, weight, bias=bias, descriptor=descriptor, device=device)
    return mg.single_gate_rnn_gradients(
        0 * incoming, weight, incoming, z_state, bias=bias, descriptor=descriptor, device=device
    ).bias


_FINE = np.float32(1 + 2.0**-20)


def _fine_product(device):
    """What is left of 1 + 2**-20 beside 1, in units of 2**-20."""
    product = mg.matrix_multiplication(np.full((32, 32), _FINE), np.eye(32, dtype=np.float32), device=device)
    return [(float(product[0, 0]) - 1) * 2**20]


def _fine_convolution(device):
    source, weights = np.full((1, 16, 16, 16), _FINE), np.zeros((16, 16, 3, 3), np.float32)
    weights[:, :, 1, 1] = np.eye(16)
    result = mg.convolution_2d(
        source, weights, descriptor=mg.Convolution2DDescriptor(padding_style="TF_SAME"), device=device
    )
    return [np.round((float(result[0, 0, 8, 8]) - 1) * 2**20)]


_KEPT = {"yes": [1], "no": [0]}


def _difference_of_levels(convolution_dtype):
    """Whether optimization level 1 changes a bit of a convolution."""
    problem = seeded("optimization level"), (1, 16, 16, 16)
    source = random_array(*problem, convolution_dtype)
    weights = random_array(problem[0], (16, 16, 3, 3), convolution_dtype)

    def result(level, device):
        mg.set_optimization_level(level)
        return mg.convolution_2d(source, weights, descriptor=mg.Convolution2DDescriptor(), device=device)

    def measure(device):
        before = mg.optimization_level()
        try:
            low, high = (result(level, device) for level in (0, 1))
        finally:
            mg.set_optimization_level(before)
        return [ulp_errors(high, low.astype(np.float64)).max() > 0]

    return measure


PROBES = (
    *(
        Probe(f"float16_accumulation_of_{name}", _question(name), measure, _ANSWERS)
        for name, measure in (
            ("matrix_multiplication", _matrix_multiplication),
            ("reduction_sum", _reduction_sum),
            ("mean", _mean),
            ("convolution_2d", _convolution),
            ("convolution_2d_data_gradient", _data_gradient),
            ("convolution_2d_weights_gradient", _weights_gradient),
            ("depthwise_convolution_2d_weights_gradient", _depthwise_weights_gradient),
            ("avg_pooling_2d", _avg_pooling),
            ("single_gate_rnn_gradients", _bias_gradient),
        )
    ),
    *(
        Probe(f"float32_products_of_{name}", f"Does {name} of float32 keep 1 + 2**-20 beside 1?", measure, _KEPT, False)
        for name, measure in (("matrix_multiplication", _fine_product), ("convolution_2d", _fine_convolution))
    ),
    *(
        Probe(
            f"optimization_level_1_of_{name}",
            f"Does optimization level 1 change a convolution of {name}?",
            _difference_of_levels(name),
            {"no": [0], "yes": [1]},
            promised=False,
        )
        for name in ("float32", "float16")
    ),
)
