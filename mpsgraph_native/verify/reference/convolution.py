"""Grouped 2D convolution (cross-correlation) and its gradients.

    y[n, o, p]  = sum over i, j of x[n, i, q] w[o, i, j]     with q = p stride - padding + j dilation, i running over the group of o
    dx[n, i, q] = sum over o, p, j of g[n, o, p] w[o, i, j]
    dw[o, i, j] = sum over n, p of g[n, o, p] x[n, i, q]

Arrays arrive in the descriptor's layouts; groups become an axis of their own: x [N, G, I, H, W], w [G, O, I, kH, kW], y [N, G, O, H', W'].
"""

import numpy as np

from mpsgraph_native.verify.reference import Expected
from mpsgraph_native.verify.reference.geometry import arranged, arranged_shape, canonical, canonical_shape, image_axes


def output_shape(source_shape, weights_shape, descriptor):
    """The forward result's shape in the data layout."""
    batch, _, *image = canonical_shape(source_shape, descriptor.data_layout)
    outputs, _, *kernel = canonical_shape(weights_shape, descriptor.weights_layout)
    rows, columns = image_axes(image, kernel, descriptor)
    return arranged_shape((batch, outputs, rows.out, columns.out), descriptor.data_layout)


def _contacts(rows, columns):
    """Every (output y, output x, tap y, tap x, source y, source x) that meets inside the source."""
    for out_y in range(rows.out):
        for out_x in range(columns.out):
            for tap_y, y in rows.taps(out_y):
                for tap_x, x in columns.taps(out_x):
                    yield out_y, out_x, tap_y, tap_x, y, x


def _grouped(array, groups, axis_of_groups):
    shape = array.shape
    split = (groups, shape[axis_of_groups] // groups)
    return array.reshape(shape[:axis_of_groups] + split + shape[axis_of_groups + 1 :])


def forward(source, weights, descriptor):
    groups = descriptor.groups
    x = _grouped(canonical(source, descriptor.data_layout), groups, 1)
    w = _grouped(canonical(weights, descriptor.weights_layout), groups, 0)
    rows, columns = image_axes(x.shape[3:], w.shape[3:], descriptor)
    y = np.zeros((x.shape[0], groups, w.shape[1], rows.out, columns.out))
    for out_y, out_x, tap_y, tap_x, source_y, source_x in _contacts(rows, columns):
        y[:, :, :, out_y, out_x] += np.einsum("ngi,goi->ngo", x[:, :, :, source_y, source_x], w[:, :, :, tap_y, tap_x])
    return arranged(y.reshape(y.shape[0], groups * w.shape[1], *y.shape[3:]), descriptor.data_layout)


def data_gradient(incoming, weights, source_shape, descriptor):
    groups = descriptor.groups
    g = _grouped(canonical(incoming, descriptor.data_layout), groups, 1)
    w = _grouped(canonical(weights, descriptor.weights_layout), groups, 0)
    shape = canonical_shape(source_shape, descriptor.data_layout)
    rows, columns = image_axes(shape[2:], w.shape[3:], descriptor)
    dx = np.zeros((shape[0], groups, shape[1] // groups, *shape[2:]))
    for out_y, out_x, tap_y, tap_x, source_y, source_x in _contacts(rows, columns):
        dx[:, :, :, source_y, source_x] += np.einsum("ngo,goi->ngi", g[:, :, :, out_y, out_x], w[:, :, :, tap_y, tap_x])
    return arranged(dx.reshape(shape), descriptor.data_layout)


def weights_gradient(incoming, source, weights_shape, descriptor):
    groups = descriptor.groups
    g = _grouped(canonical(incoming, descriptor.data_layout), groups, 1)
    x = _grouped(canonical(source, descriptor.data_layout), groups, 1)
    shape = canonical_shape(weights_shape, descriptor.weights_layout)
    rows, columns = image_axes(x.shape[3:], shape[2:], descriptor)
    dw = np.zeros((groups, shape[0] // groups, *shape[1:]))
    for out_y, out_x, tap_y, tap_x, source_y, source_x in _contacts(rows, columns):
        dw[:, :, :, tap_y, tap_x] += np.einsum("ngo,ngi->goi", g[:, :, :, out_y, out_x], x[:, :, :, source_y, source_x])
    return arranged(dw.reshape(shape), descriptor.weights_layout)


def judge(operation, *, source, weights, incoming, descriptor):
    """`Expected` of convolution_2d, convolution_2d_data_gradient or convolution_2d_weights_gradient."""
    outputs, inputs, *kernel = canonical_shape(weights.shape, descriptor.weights_layout)
    batch, _, *image = canonical_shape(incoming.shape, descriptor.data_layout)
    taps = int(np.prod(kernel))
    if operation.endswith("data_gradient"):
        run, operands, length = data_gradient, (incoming, weights), outputs // descriptor.groups * taps
        tail = (source.shape, descriptor)
    elif operation.endswith("weights_gradient"):
        run, operands, length = weights_gradient, (incoming, source), batch * int(np.prod(image))
        tail = (weights.shape, descriptor)
    else:
        run, operands, length, tail = forward, (source, weights), inputs * taps, (descriptor,)
    return Expected(run(*operands, *tail), run(*map(np.abs, operands), *tail), max(length, 1))
