"""Every fault of MPSGraph that the mps engine minds: met by an input, and refused or gone around.

It runs on a Mac, and on the stand-in where the package was built with it; elsewhere there is nothing to test.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from mps_support import macos, needs_mps, undisturbed  # noqa: F401  fixtures
from support import assert_same_bits, counting

import mpsgraph_native as mg
from mpsgraph_native._core import testing

HEADER = Path(__file__).resolve().parents[2] / "native" / "metal" / "known_faults.hpp"
NAMES = re.search(r"enum class Fault \{([^}]*)\}", HEADER.read_text()).group(1).replace(",", " ").split()
FAULTS = dict(zip(NAMES, testing.known_faults(), strict=True))

f32, f16, i32, i64 = np.float32, np.float16, np.int32, np.int64


def window(size, **fields):
    return mg.Pooling2DDescriptor(kernel_height=size, kernel_width=size, **fields)


def convolution(weights, device):
    source = np.ones((1, weights.shape[1], *weights.shape[2:]), f32)
    return mg.convolution_2d(source, weights, descriptor=mg.Convolution2DDescriptor(), device=device)


def depthwise_weights_gradient(multiplier, device, **fields):
    descriptor = mg.DepthwiseConvolution2DDescriptor(**fields)
    source, weights = counting(1, 2, 3, 3), (multiplier, 2, 2, 2)
    result = mg.depthwise_convolution_2d(source, np.ones(weights, f32), descriptor=descriptor, device="cpu")
    return mg.depthwise_convolution_2d_weights_gradient(
        counting(*result.shape), source, output_shape=weights, descriptor=descriptor, device=device
    )


def half_weights_gradient(device):
    ones = np.ones((1, 1, 64, 64), f16)  # 4096 of them: in half a running sum stops at 2048
    return mg.convolution_2d_weights_gradient(
        ones, ones, output_shape=(1, 1, 1, 1), descriptor=mg.Convolution2DDescriptor(), device=device
    )


def in_a_graph(build, *arrays):
    """Runs what `build` makes of a graph and placeholders, so that an operand is a result inside the graph."""

    def run(device):
        graph = mg.Graph()
        feeds = [graph.placeholder(array.shape, array.dtype, name=f"x{k}") for k, array in enumerate(arrays)]
        targets = build(graph, *feeds)
        return tuple(graph.compile(feeds=feeds, targets=targets, device=device).run(arrays))

    return run


def convolution_of_transposed_weights(graph, source, weights):
    transposed = graph.transpose(weights, permutation=(0, 1, 3, 2))
    return [graph.convolution_2d(source, transposed, descriptor=mg.Convolution2DDescriptor())]


def pooling_gradient_of_a_broadcast(graph, gradient, source):
    spread = graph.broadcast(gradient, shape=(1, 1, 2, 2))
    return [graph.max_pooling_2d_gradient(spread, source=source, descriptor=window(2, stride_in_x=2, stride_in_y=2))]


def indices_of_a_padded_source(graph, source):
    padded = graph.slice_gradient(
        source, fwd_in_shape=(1, 1, 6, 6), starts=(0, 0, 1, 1), ends=(1, 1, 5, 5), strides=(1, 1, 1, 1)
    )
    return list(
        graph.max_pooling_2d_return_indices(padded, descriptor=window(2, return_indices_mode="GlobalFlatten2D"))
    )


def gradient_from_int64_indices(device):
    descriptor = window(2, stride_in_x=2, stride_in_y=2, return_indices_mode="GlobalFlatten2D")
    return mg.max_pooling_2d_gradient(
        counting(1, 1, 2, 2), indices=i64([[[[5, 2], [8, 15]]]]), output_shape=(1, 1, 4, 4), descriptor=descriptor,
        device=device,
    )  # fmt: skip


def past(limit, device):
    """A product with one dimension past the limit."""
    return mg.matrix_multiplication(np.ones((1, limit + 1), f32), np.ones((limit + 1, 1), f32), device=device)


# What meets each fault; where it is fixed, the last macOS that has it is pretended.
REFUSED = {
    "LargeArray": (lambda d: mg.square(np.empty((1, 1, 32768, 32769), f32), device=d), mg.ShapeError, "primary|tensor"),
    "LargeKernel": (lambda d: convolution(np.ones((1, 1, 1, 256), f32), d), mg.ShapeError, "weights"),
    "ManyOutputChannels": (lambda d: convolution(np.ones((65537, 1, 1, 1), f32), d), mg.ShapeError, "weights"),
    "LargeMatrix": (lambda d: past(32768, d), mg.DeviceError, "primary"),
    "Int64Reduction": (
        lambda d: mg.reduction_sum(counting(2, 3).astype(i64), axes=[1], device=d), mg.DeviceError, "tensor",
    ),
}  # fmt: skip
GONE_AROUND = {
    "LongInnerProduct": lambda d: mg.matrix_multiplication(
        np.ones((16, 32767), f32), np.ones((32767, 16), f32), device=d
    ),
    "DepthwiseMultiplier": lambda d: depthwise_weights_gradient(2, d),
    "DepthwisePadding": lambda d: depthwise_weights_gradient(1, d, padding_left=1, padding_top=1),
    "HalfWeightsGradient": half_weights_gradient,
    "StridedWeights": in_a_graph(convolution_of_transposed_weights, counting(1, 1, 4, 4), counting(2, 1, 2, 3)),
    "StridedPoolingGradient": in_a_graph(
        pooling_gradient_of_a_broadcast, counting(1, 1, 2, 1), counting(1, 1, 4, 4)
    ),
    "PaddedPoolingSource": in_a_graph(indices_of_a_padded_source, -counting(1, 1, 4, 4)),
    "CeilModeWithPadding": lambda d: mg.max_pooling_2d(
        counting(1, 1, 4, 5), descriptor=window(2, stride_in_x=2, stride_in_y=2, ceil_mode=True, padding_left=1), device=d
    ),
    "WindowWithoutTap": lambda d: mg.max_pooling_2d_return_indices(
        counting(1, 1, 4, 6),
        descriptor=window(
            1, stride_in_x=2, stride_in_y=2, ceil_mode=True, return_indices_mode="GlobalFlatten2D"
        ),
        device=d,
    ),
    "Int64Indices": gradient_from_int64_indices,
    "StridedSliceGradient": lambda d: mg.slice_gradient(
        counting(2, 2), fwd_in_shape=(4, 5), starts=(0, 1), ends=(4, 5), strides=(2, 3), device=d
    ),
    "EmptyTensor": lambda d: mg.reduction_sum(np.zeros((0, 3), f32), axes=[0], device=d),
    "ScalarTensor": lambda d: mg.square(f32(3), device=d),
}  # fmt: skip


def test_every_fault_is_met():
    assert [*REFUSED, *GONE_AROUND] == NAMES
    for name, fault in FAULTS.items():
        assert (name in REFUSED) == fault.remedy.startswith("refuse"), name


def met(name):
    return testing.known_faults()[NAMES.index(name)].encounters


def before(version):
    major, minor = version
    return (major, minor - 1) if minor else (major - 1, 9)


@needs_mps
@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, macos):  # noqa: F811
    fault, (call, error, argument) = FAULTS[name], REFUSED[name]
    if fault.fixed_in:
        macos(*before(fault.fixed_in))
    count = met(name)
    with pytest.raises(error, match=rf": ({argument}) {re.escape(fault.instead)} on device mps") as raised:
        call("mps")
    assert met(name) > count
    if fault.fixed_in:
        assert "before macOS {}.{}".format(*fault.fixed_in) in str(raised.value)
        macos(*fault.fixed_in)
        assert_same_bits(call("mps"), call("cpu"))


@needs_mps
@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("name", GONE_AROUND)
def test_gone_around(name):
    call, count = GONE_AROUND[name], met(name)
    results, expected = call("mps"), call("cpu")
    assert met(name) > count
    for got, want in zip(*((x if isinstance(x, tuple) else (x,)) for x in (results, expected)), strict=True):
        assert_same_bits(got, want)
