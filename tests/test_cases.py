"""Runs the tables of public reports, and the reports that are about sequences of calls."""

import numpy as np
import pytest
from cases import convolution, parameters, pooling
from support import Convolution, assert_same_bits, check_convolution, counting, names, run_convolution

import mpsgraph_native as mg


@pytest.mark.parametrize("case", parameters(convolution.VALUES + pooling.VALUES))
def test_value(case):
    expected = np.asarray(case.expected() if callable(case.expected) else case.expected)
    actual = np.asarray(case.call())
    assert actual.size == expected.size
    np.testing.assert_array_equal(actual.astype(np.float64).reshape(expected.shape), expected)


@pytest.mark.parametrize("case", parameters(convolution.JUDGED))
def test_judged(case):
    check_convolution(case.operation, **case.problem())


@pytest.mark.parametrize("case", parameters(convolution.REFUSED + pooling.REFUSED))
def test_refused(case):
    with pytest.raises(case.error, match=names(*case.argument.split("|"))) as raised:
        case.call()
    for word in case.words:
        raised.match(word)


@pytest.fixture
def threads():
    """Sets the number of threads for one test."""
    before = mg.get_num_threads()
    yield mg.set_num_threads
    mg.set_num_threads(before)


def _kernel_gradient(size):
    return convolution.weights_gradient(
        counting(1, 1, 4, 4), counting(1, 1, 8, 8), (1, 1, *size), stride=(2, 2), padding=(1, 1, 1, 1)
    )


def test_kernel_size_is_part_of_the_signature():
    """pytorch/pytorch#112998: a second kernel size met the compiled graph of the first."""
    mg.clear_cache()
    assert mg.cache_info().entries == 0
    three, four = _kernel_gradient((3, 3)), _kernel_gradient((4, 4))
    np.testing.assert_array_equal(three[0, 0, 0], [3168, 4070, 4196])
    np.testing.assert_array_equal(four[0, 0, 0], [3168, 4070, 4196, 3006])
    assert mg.cache_info().entries == 2


def test_another_batch_size_before():
    """pytorch/pytorch#177116: wrong gradients only after another batch size ran first."""
    problems = {
        batch: Convolution(batch, 3, 4, (8, 8), (3, 3)).problem("convolution_2d_weights_gradient")
        for batch in (16, 8194)
    }
    fresh = {}
    for batch, problem in problems.items():
        mg.clear_cache()
        fresh[batch] = run_convolution("convolution_2d_weights_gradient", **problem)
    mg.clear_cache()
    for batch in (16, 8194, 16):
        assert_same_bits(run_convolution("convolution_2d_weights_gradient", **problems[batch]), fresh[batch])
    check_convolution("convolution_2d_weights_gradient", **problems[16])


@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("operation", ["convolution_2d_weights_gradient", "convolution_2d_data_gradient"])
def test_repeated_calls_agree(operation, count, threads):
    """pytorch/pytorch#78035, pytorch/pytorch#181936: the same call twice gave different gradients."""
    threads(count)
    fields = {"stride_in_y": 3, "stride_in_x": 2, "padding_style": "TF_SAME"}
    problem = Convolution(2, 3, 8, (32, 32), (3, 3), fields).problem(operation)
    check_convolution(operation, **problem)
    first = run_convolution(operation, **problem)
    for _ in range(4):
        assert_same_bits(run_convolution(operation, **problem), first)


def test_ties_conserve_the_gradient():
    """Theano/Theano#5404: sums of the result equal sums of the incoming gradient, channel by channel."""
    source = np.zeros((2, 3, 6, 6), np.float32)
    incoming = counting(2, 3, 5, 5)
    gradient = mg.max_pooling_2d_gradient(incoming, source=source, descriptor=pooling.window(2))
    np.testing.assert_array_equal(gradient.sum(axis=(2, 3)), incoming.sum(axis=(2, 3)))


def test_refused_indices_write_nothing():
    """tensorflow/tensorflow#61653: indices out of range wrote out of bounds."""
    frame = np.full((4, 3, 3, 1), 7, np.float32)
    descriptor = pooling.window(2, data_layout="NHWC", return_indices_mode="GlobalFlatten3D")
    for bad in (-1, 9, 10**6, -(10**6)):
        indices = np.zeros((2, 2, 2, 1), np.int32)
        indices[0, 1, 0, 0] = bad
        with pytest.raises(mg.ShapeError, match=names("indices")):
            mg.max_pooling_2d_gradient(
                np.ones((2, 2, 2, 1), np.float32),
                indices=indices,
                output_shape=(2, 3, 3, 1),
                descriptor=descriptor,
                out=frame[1:3],
            )
    assert (frame == 7).all()


def test_gradient_of_the_unclipped_size():
    """pytorch/pytorch#154882: with ceil_mode the gradient has 3x4 windows, the outer ones without a tap."""
    descriptor = pooling.window(1, 2, ceil_mode=True)
    gradient = mg.max_pooling_2d_gradient(counting(1, 1, 3, 4), source=counting(1, 1, 4, 6), descriptor=descriptor)
    np.testing.assert_array_equal(gradient[0, 0], [[1, 0, 2, 0, 3, 0], [0] * 6, [5, 0, 6, 0, 7, 0], [0] * 6])
