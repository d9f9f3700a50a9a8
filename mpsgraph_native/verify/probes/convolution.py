"""What convolutions leave open, and what they keep of small terms. One row of pixels each."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.probes.probe import Probe


def _row(values):
    return np.float32(values).reshape(1, 1, 1, -1)


def _convolution(pixels, weights, **fields):
    descriptor = mg.Convolution2DDescriptor(**fields)

    def measure(device):
        return mg.convolution_2d(_row(pixels), _row(weights), descriptor=descriptor, device=device).ravel()

    return measure


# Two channels with two results each, one pixel.
_CHANNELS = np.float32([1, 10]).reshape(1, 2, 1, 1)
_MULTIPLIED = np.float32([[1, 2], [3, 4]]).reshape(2, 2, 1, 1)
_INCOMING = np.float32([1, 2, 3, 4]).reshape(1, 4, 1, 1)
_DEPTHWISE = mg.DepthwiseConvolution2DDescriptor()


def _order(device):
    return mg.depthwise_convolution_2d(_CHANNELS, _MULTIPLIED, descriptor=_DEPTHWISE, device=device).ravel()


def _order_in_weights_gradient(device):
    return mg.depthwise_convolution_2d_weights_gradient(
        _INCOMING, _CHANNELS, output_shape=_MULTIPLIED.shape, descriptor=_DEPTHWISE, device=device
    ).ravel()


def _order_in_data_gradient(device):
    return mg.depthwise_convolution_2d_data_gradient(
        _INCOMING, _MULTIPLIED, output_shape=_CHANNELS.shape, descriptor=_DEPTHWISE, device=device
    ).ravel()


def _padding_in_weights_gradient(device):
    descriptor = mg.DepthwiseConvolution2DDescriptor(padding_left=1, padding_right=1)
    return mg.depthwise_convolution_2d_weights_gradient(
        _row([1, 1, 1]), _row([1, 2, 3]), output_shape=(1, 1, 1, 3), descriptor=descriptor, device=device
    ).ravel()


PROBES = (
    Probe(
        "convolution_flip",
        "Is the kernel flipped? Pixels [1, 2, 3], weights [1, 10, 100].",
        _convolution([1, 2, 3], [1, 10, 100]),
        {"no": [321], "yes": [123]},
    ),
    Probe(
        "tf_same_side",
        "On which side does TF_SAME put an odd padding? Pixels [1, 2], weights [1, 10].",
        _convolution([1, 2], [1, 10], padding_style="TF_SAME"),
        {"at the end": [21, 2], "at the start": [10, 21]},
    ),
    Probe(
        "onnx_same_lower_side",
        "On which side does ONNX_SAME_LOWER put an odd padding? Pixels [1, 2], weights [1, 10].",
        _convolution([1, 2], [1, 10], padding_style="ONNX_SAME_LOWER"),
        {"at the start": [10, 21], "at the end": [21, 2]},
    ),
    Probe(
        "depthwise_channel_order",
        "Which output channel is result m of input channel c? C = 2, M = 2.",
        _order,
        {"c·M + m": [1, 3, 20, 40], "m·C + c": [1, 20, 3, 40]},
    ),
    Probe(
        "depthwise_weights_gradient_channel_order",
        "The same in the weights gradient.",
        _order_in_weights_gradient,
        {"c·M + m": [1, 30, 2, 40], "m·C + c": [1, 20, 3, 40]},
    ),
    Probe(
        "depthwise_data_gradient_channel_order",
        "The same in the data gradient.",
        _order_in_data_gradient,
        {"c·M + m": [7, 22], "m·C + c": [10, 20]},
    ),
    Probe(
        "depthwise_weights_gradient_padding",
        "Does the depthwise weights gradient read the descriptor's padding? 3 taps, padding 1, pixels [1, 2, 3].",
        _padding_in_weights_gradient,
        {"yes": [3, 6, 5], "no": [6, 5, 3]},
    ),
)
