"""Depthwise 2D convolution and its gradients; weights are [M, C, kH, kW] (OIHW) or [kH, kW, C, M] (HWIO), M the channel multiplier.

y[n, c M + m, p] = sum over j of x[n, c, q] w[m, c, j]     with q = p stride - padding + j dilation
dx[n, c, q]      = sum over m, p, j of g[n, c M + m, p] w[m, c, j]
dw[m, c, j]      = sum over n, p of g[n, c M + m, p] x[n, c, q]
"""

import numpy as np

from mpsgraph_native.verify.reference import Expected
from mpsgraph_native.verify.reference.geometry import arranged, arranged_shape, canonical, canonical_shape, image_axes


def output_shape(source_shape, weights_shape, descriptor):
    """The forward result's shape in the data layout."""
    batch, channels, *image = canonical_shape(source_shape, descriptor.data_layout)
    multiplier, _, *kernel = canonical_shape(weights_shape, descriptor.weights_layout)
    rows, columns = image_axes(image, kernel, descriptor)
    return arranged_shape((batch, channels * multiplier, rows.out, columns.out), descriptor.data_layout)


def _taps(rows, columns):
    """Every (output, tap, source) position, each a (y, x) pair, that meets inside the source."""
    for output in np.ndindex(rows.out, columns.out):
        for tap_y, y in rows.taps(output[0]):
            for tap_x, x in columns.taps(output[1]):
                yield output, (tap_y, tap_x), (y, x)


def forward(source, weights, descriptor):
    x, w = canonical(source, descriptor.data_layout), canonical(weights, descriptor.weights_layout)
    multiplier, channels, *kernel = w.shape
    axes = image_axes(x.shape[2:], kernel, descriptor)
    y = np.zeros((x.shape[0], channels * multiplier, axes[0].out, axes[1].out))
    for output, tap, position in _taps(*axes):
        for m in range(multiplier):
            y[:, m::multiplier, *output] += x[:, :, *position] * w[m, :, *tap]
    return arranged(y, descriptor.data_layout)


def data_gradient(incoming, weights, source_shape, descriptor):
    g, w = canonical(incoming, descriptor.data_layout), canonical(weights, descriptor.weights_layout)
    multiplier, _, *kernel = w.shape
    dx = np.zeros(canonical_shape(source_shape, descriptor.data_layout))
    for output, tap, position in _taps(*image_axes(dx.shape[2:], kernel, descriptor)):
        for m in range(multiplier):
            dx[:, :, *position] += g[:, m::multiplier, *output] * w[m, :, *tap]
    return arranged(dx, descriptor.data_layout)


def weights_gradient(incoming, source, weights_shape, descriptor):
    g, x = canonical(incoming, descriptor.data_layout), canonical(source, descriptor.data_layout)
    dw = np.zeros(canonical_shape(weights_shape, descriptor.weights_layout))
    multiplier, _, *kernel = dw.shape
    for output, tap, position in _taps(*image_axes(x.shape[2:], kernel, descriptor)):
        for m in range(multiplier):
            dw[m, :, *tap] += np.sum(g[:, m::multiplier, *output] * x[:, :, *position], axis=0)
    return arranged(dw, descriptor.weights_layout)


def judge(operation, *, source, weights, incoming, descriptor):
    """`Expected` of depthwise_convolution_2d or one of its gradients."""
    multiplier, _, *kernel = canonical_shape(weights.shape, descriptor.weights_layout)
    batch, _, *image = canonical_shape(incoming.shape, descriptor.data_layout)
    taps = int(np.prod(kernel))
    if operation.endswith("data_gradient"):
        run, operands, tail, length = data_gradient, (incoming, weights), (source.shape, descriptor), multiplier * taps
    elif operation.endswith("weights_gradient"):
        run, operands, tail, length = (
            weights_gradient,
            (incoming, source),
            (weights.shape, descriptor),
            batch * int(np.prod(image)),
        )
    else:
        run, operands, tail, length = forward, (source, weights), (descriptor,), taps
    return Expected(run(*operands, *tail), run(*map(np.abs, operands), *tail), max(length, 1))
