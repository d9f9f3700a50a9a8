"""Convolution and pooling against PyTorch's forward and automatic differentiation, for what both can express.

Everything runs in float64, where the two may differ by rounding alone.
"""

import numpy as np
import pytest
from support import random_array, seeded

import mpsgraph_native as mg

torch = pytest.importorskip("torch")
functional = torch.nn.functional

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def _differentiate(function, *arrays):
    """(result, incoming gradient, gradients of the arrays) with a seeded incoming gradient."""
    leaves = [torch.from_numpy(array).requires_grad_() for array in arrays]
    result = function(*leaves)
    incoming = random_array(seeded("torch", result.shape), tuple(result.shape), "float64")
    gradients = torch.autograd.grad(result, leaves, torch.from_numpy(incoming))
    return result.detach().numpy(), incoming, [gradient.numpy() for gradient in gradients]


# Image, kernel, stride, padding, dilation as (Y, X) pairs.
WINDOWS = [
    ((7, 6), (3, 3), (1, 1), (0, 0), (1, 1)),
    ((9, 11), (3, 2), (2, 3), (1, 0), (1, 1)),
    ((10, 9), (2, 3), (1, 2), (2, 1), (3, 2)),
    ((12, 13), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((5, 5), (1, 1), (2, 1), (0, 0), (1, 1)),
    ((5, 4), (5, 4), (1, 1), (0, 0), (1, 1)),
    ((11, 12), (2, 2), (4, 3), (0, 1), (1, 1)),
]
CHANNELS = [(3, 4, 1), (4, 6, 2), (6, 6, 6), (5, 15, 5), (12, 4, 4)]


def _fields(stride, padding, dilation):
    return {
        "stride_in_y": stride[0],
        "stride_in_x": stride[1],
        "padding_top": padding[0],
        "padding_bottom": padding[0],
        "padding_left": padding[1],
        "padding_right": padding[1],
        "dilation_rate_in_y": dilation[0],
        "dilation_rate_in_x": dilation[1],
    }


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize(("inputs", "outputs", "groups"), CHANNELS)
def test_convolution(inputs, outputs, groups, window):
    image, kernel, stride, padding, dilation = window
    rng = seeded(window, inputs)
    source = random_array(rng, (2, inputs, *image), "float64")
    weights = random_array(rng, (outputs, inputs // groups, *kernel), "float64")
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    result, incoming, (data, weight) = _differentiate(lambda x, w: functional.conv2d(x, w, **options), source, weights)
    d = mg.Convolution2DDescriptor(groups=groups, **_fields(stride, padding, dilation))
    np.testing.assert_allclose(mg.convolution_2d(source, weights, descriptor=d), result, **CLOSE)
    np.testing.assert_allclose(
        mg.convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, descriptor=d), data, **CLOSE
    )
    np.testing.assert_allclose(
        mg.convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, descriptor=d), weight, **CLOSE
    )


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("multiplier", [1, 2, 3])
def test_depthwise_convolution(multiplier, window):
    """[M, C, kH, kW] here is [C M, 1, kH, kW] of a convolution with C groups there, output channel c M + m in both."""
    image, kernel, stride, padding, dilation = window
    channels = 5
    rng = seeded(window, multiplier)
    source = random_array(rng, (2, channels, *image), "float64")
    weights = random_array(rng, (multiplier, channels, *kernel), "float64")

    def forward(x, w):
        grouped = w.transpose(0, 1).reshape(channels * multiplier, 1, *kernel)
        return functional.conv2d(x, grouped, stride=stride, padding=padding, dilation=dilation, groups=channels)

    result, incoming, (data, weight) = _differentiate(forward, source, weights)
    d = mg.DepthwiseConvolution2DDescriptor(**_fields(stride, padding, dilation))
    np.testing.assert_allclose(mg.depthwise_convolution_2d(source, weights, descriptor=d), result, **CLOSE)
    actual = mg.depthwise_convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, descriptor=d)
    np.testing.assert_allclose(actual, data, **CLOSE)
    actual = mg.depthwise_convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, descriptor=d)
    np.testing.assert_allclose(actual, weight, **CLOSE)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("kernel", [(3, 3), (2, 4), (2, 2)], ids=str)
def test_same_padding(kernel):
    """TF_SAME with stride 1 is PyTorch's padding="same": an odd total pads at the end."""
    source, weights = (
        random_array(seeded(kernel), (2, 3, 6, 7), "float64"),
        random_array(seeded(kernel, 1), (4, 3, *kernel), "float64"),
    )
    result, incoming, (data, weight) = _differentiate(
        lambda x, w: functional.conv2d(x, w, padding="same"), source, weights
    )
    d = mg.Convolution2DDescriptor(padding_style="TF_SAME")
    np.testing.assert_allclose(mg.convolution_2d(source, weights, descriptor=d), result, **CLOSE)
    np.testing.assert_allclose(
        mg.convolution_2d_data_gradient(incoming, weights, output_shape=source.shape, descriptor=d), data, **CLOSE
    )
    np.testing.assert_allclose(
        mg.convolution_2d_weights_gradient(incoming, source, output_shape=weights.shape, descriptor=d), weight, **CLOSE
    )


def _pooling_source(image, kind):
    rng = seeded(image, kind)
    shape = (2, 3, *image)
    return random_array(rng, shape, "float64") if kind == "normal" else rng.integers(-1, 2, shape).astype(np.float64)


# PyTorch refuses padding beyond half a kernel.
POOLING_WINDOWS = [
    ((8, 6), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((9, 11), (3, 2), (2, 1), (1, 1), (1, 1)),
    ((10, 12), (2, 3), (1, 2), (1, 1), (3, 2)),
    ((13, 12), (3, 3), (2, 2), (1, 1), (1, 1)),
    ((11, 12), (2, 2), (4, 3), (0, 1), (1, 1)),
    ((5, 4), (5, 4), (1, 1), (0, 0), (1, 1)),
]


@pytest.mark.parametrize("kind", ["normal", "ties"])
@pytest.mark.parametrize("window", POOLING_WINDOWS, ids=str)
def test_max_pooling(window, kind):
    """GlobalFlatten2D of NCHW data counts as PyTorch does, and both take the first of equal maxima."""
    image, kernel, stride, padding, dilation = window
    source = _pooling_source(image, kind)

    def forward(x):
        return functional.max_pool2d(x, kernel, stride, padding, dilation, return_indices=True)[0]

    result, incoming, (gradient,) = _differentiate(forward, source)
    expected = functional.max_pool2d(torch.from_numpy(source), kernel, stride, padding, dilation, return_indices=True)[
        1
    ].numpy()
    d = mg.Pooling2DDescriptor(
        kernel_height=kernel[0],
        kernel_width=kernel[1],
        return_indices_mode="GlobalFlatten2D",
        **_fields(stride, padding, dilation),
    )
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=d)
    np.testing.assert_array_equal(values, result)
    np.testing.assert_array_equal(indices, expected)
    for operand in (
        {"source": source},
        {"indices": indices, "output_shape": source.shape},
        {"indices": expected, "output_shape": source.shape},
    ):
        np.testing.assert_allclose(mg.max_pooling_2d_gradient(incoming, **operand, descriptor=d), gradient, **CLOSE)


def test_first_nan_wins_in_both():
    source = _pooling_source((9, 8), "ties")
    source[seeded("nan").random(source.shape) < 0.2] = np.nan
    expected = functional.max_pool2d(torch.from_numpy(source), 3, 2, 1, return_indices=True)
    d = mg.Pooling2DDescriptor(
        kernel_height=3, kernel_width=3, return_indices_mode="GlobalFlatten2D", **_fields((2, 2), (1, 1), (1, 1))
    )
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=d)
    np.testing.assert_array_equal(values, expected[0].numpy())
    finite = ~np.isnan(values)
    np.testing.assert_array_equal(indices[finite], expected[1].numpy()[finite])


@pytest.mark.parametrize("include_zero_pad", [False, True], ids=["inside", "whole"])
@pytest.mark.parametrize("window", [window for window in POOLING_WINDOWS if window[-1] == (1, 1)], ids=str)
def test_avg_pooling(window, include_zero_pad):
    image, kernel, stride, padding, dilation = window
    source = _pooling_source(image, "normal")
    result, incoming, (gradient,) = _differentiate(
        lambda x: functional.avg_pool2d(x, kernel, stride, padding, count_include_pad=include_zero_pad), source
    )
    d = mg.Pooling2DDescriptor(
        kernel_height=kernel[0],
        kernel_width=kernel[1],
        include_zero_pad_to_average=include_zero_pad,
        **_fields(stride, padding, dilation),
    )
    np.testing.assert_allclose(mg.avg_pooling_2d(source, descriptor=d), result, **CLOSE)
    np.testing.assert_allclose(mg.avg_pooling_2d_gradient(incoming, source=source, descriptor=d), gradient, **CLOSE)


@pytest.mark.parametrize("image", [(7, 8), (8, 7), (9, 9)], ids=str)
def test_ceil_mode(image):
    """Kernel 3, stride 2, no padding: every window starts inside the source, and the two definitions of ceil_mode meet."""
    source = _pooling_source(image, "normal")
    d = mg.Pooling2DDescriptor(kernel_height=3, kernel_width=3, stride_in_x=2, stride_in_y=2, ceil_mode=True)
    result, incoming, (gradient,) = _differentiate(lambda x: functional.max_pool2d(x, 3, 2, ceil_mode=True), source)
    np.testing.assert_array_equal(mg.max_pooling_2d(source, descriptor=d), result)
    np.testing.assert_allclose(mg.max_pooling_2d_gradient(incoming, source=source, descriptor=d), gradient, **CLOSE)
    result, incoming, (gradient,) = _differentiate(
        lambda x: functional.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False), source
    )
    np.testing.assert_allclose(mg.avg_pooling_2d(source, descriptor=d), result, **CLOSE)
    np.testing.assert_allclose(mg.avg_pooling_2d_gradient(incoming, source=source, descriptor=d), gradient, **CLOSE)


@pytest.mark.parametrize(("kernel", "stride"), [((2, 3), (2, 3)), ((3, 2), (1, 2))], ids=str)
def test_l2_norm_pooling(kernel, stride):
    """lp_pool2d with p = 2 is sqrt(sum of squares), not divided by the window."""
    source = _pooling_source((7, 9), "normal")
    result, incoming, (gradient,) = _differentiate(lambda x: functional.lp_pool2d(x, 2.0, kernel, stride), source)
    d = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, *kernel), strides=(1, 1, *stride))
    np.testing.assert_allclose(mg.l2_norm_pooling_4d(source, descriptor=d), result, **CLOSE)
    np.testing.assert_allclose(mg.l2_norm_pooling_4d_gradient(incoming, source=source, descriptor=d), gradient, **CLOSE)


@pytest.mark.parametrize("mode", ["GlobalFlatten3D", "GlobalFlatten4D"])
def test_pooling_over_three_axes(mode):
    """max_pool3d of [N, C, D, H, W] is the 4D operation on rank 5; GlobalFlatten3D counts D H W as PyTorch does."""
    source = random_array(seeded("three axes"), (2, 3, 5, 6, 7), "float64")

    def forward(x):
        return functional.max_pool3d(x, (3, 2, 3), (2, 2, 1), (1, 0, 1), return_indices=True)[0]

    result, incoming, (gradient,) = _differentiate(forward, source)
    d = mg.Pooling4DDescriptor(
        kernel_sizes=(1, 3, 2, 3),
        strides=(1, 2, 2, 1),
        padding_values=(0, 0, 1, 1, 0, 0, 1, 1),
        return_indices_mode=mode,
    )
    values, indices = mg.max_pooling_4d_return_indices(source, descriptor=d)
    np.testing.assert_array_equal(values, result)
    expected = functional.max_pool3d(torch.from_numpy(source), (3, 2, 3), (2, 2, 1), (1, 0, 1), return_indices=True)[
        1
    ].numpy()
    channel = np.arange(3).reshape(1, 3, 1, 1, 1) * (5 * 6 * 7 if mode == "GlobalFlatten4D" else 0)
    np.testing.assert_array_equal(indices, expected + channel)
    actual = mg.max_pooling_4d_gradient(incoming, indices=indices, output_shape=source.shape, descriptor=d)
    np.testing.assert_allclose(actual, gradient, **CLOSE)
