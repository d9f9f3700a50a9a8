"""Valid problems in memory of any arrangement: the results are the reference's, and go where they were asked to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CONVOLUTIONS, DEPTHWISE_CONVOLUTIONS, assert_close, judge_convolution, run_convolution

import mpsgraph_native as mg
from fuzz.memory import Destination, destinations, presented
from fuzz.problems import convolutions, poolings, recurrent_cases
from mpsgraph_native.verify.reference import pooling as reference_pooling


def delivered(result, destination):
    """The result, having looked where it was written."""
    if destination is not None:
        assert result is destination.array
        assert destination.untouched_elements()
    return np.ascontiguousarray(result)


def out(destination):
    return {} if destination is None else {"out": destination.array}


def test_destinations_tell_what_was_written():
    """The judge of this module judged: one element beside the view."""
    destination = Destination.of((2, 3), np.float32, (2, -3))
    destination.array[...] = 1
    assert destination.untouched_elements() and not destination.untouched()
    destination.memory[1, 0] = 1
    assert not destination.untouched_elements()


@pytest.mark.parametrize("operation", (*CONVOLUTIONS, *DEPTHWISE_CONVOLUTIONS))
@given(data=st.data())
def test_convolutions(operation, data):
    problem = data.draw(convolutions(operation), label="problem")
    expected, magnitude, length = judge_convolution(operation, **problem)
    given_as = problem | {
        name: data.draw(presented(problem[name]), label=name) for name in ("source", "weights", "incoming")
    }
    destination = data.draw(destinations(expected.shape, problem["source"].dtype), label="out")
    # The reference's shapes: a presented array need not have any.
    shape = {}
    if operation.endswith("gradient"):
        shape["output_shape"] = expected.shape
    result = run_convolution(operation, **given_as, **shape, **out(destination))
    assert_close(
        delivered(result, destination), expected, magnitude=magnitude, length=length, dtype=problem["source"].dtype
    )


def judge_max(source, descriptor, data):
    """Values and indices of the reference, exactly."""
    values, indices = reference_pooling.max_pooling(source, descriptor)
    given_as = data.draw(presented(source), label="source")
    actual_values, actual_indices = mg.max_pooling_2d_return_indices(given_as, descriptor=descriptor)
    np.testing.assert_array_equal(actual_values.astype(np.float64), values)
    np.testing.assert_array_equal(actual_indices, indices)
    return actual_indices


@given(data=st.data())
def test_max_pooling_and_its_gradients(data):
    source, descriptor, incoming = data.draw(poolings(), label="problem")
    indices = judge_max(source, descriptor, data)
    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    gradient = data.draw(presented(incoming), label="gradient")
    destination = data.draw(destinations(expected.shape, source.dtype), label="out")
    count = int(descriptor.return_indices_mode.name.removesuffix("D")[-1])
    kernels = reference_pooling.fields(descriptor).kernel_sizes
    results = [
        mg.max_pooling_2d_gradient(
            gradient, source=data.draw(presented(source), label="source"), descriptor=descriptor, **out(destination)
        )
    ]
    by_indices = {
        "indices": data.draw(presented(indices), label="indices"),
        "output_shape": expected.shape,
        "descriptor": descriptor,
    }
    results[0] = delivered(results[0], destination)
    if all(kernel == 1 for kernel in kernels[: 4 - count]):
        results.append(mg.max_pooling_2d_gradient(gradient, **by_indices))
    else:
        with pytest.raises(mg.ShapeError, match="return_indices_mode"):
            mg.max_pooling_2d_gradient(gradient, **by_indices)
    for result in results:
        assert_close(result, expected, magnitude=magnitude, length=length, dtype=source.dtype)


@given(data=st.data())
def test_average_pooling_and_its_gradient(data):
    source, descriptor, incoming = data.draw(poolings(), label="problem")
    source = np.nan_to_num(source.astype(np.float64), nan=0.5, posinf=2, neginf=-2).astype(source.dtype)
    value = mg.avg_pooling_2d(data.draw(presented(source), label="source"), descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge("avg", source, descriptor)
    assert_close(value, expected, magnitude=magnitude, length=length, dtype=source.dtype)
    expected, magnitude, length = reference_pooling.judge_gradient("avg", incoming, source, descriptor)
    destination = data.draw(destinations(expected.shape, source.dtype), label="out")
    gradient = mg.avg_pooling_2d_gradient(
        data.draw(presented(incoming), label="gradient"), source=source, descriptor=descriptor, **out(destination)
    )
    assert_close(delivered(gradient, destination), expected, magnitude=magnitude, length=length, dtype=source.dtype)


@given(data=st.data())
def test_recurrent_networks_and_their_gradients(data):
    case = data.draw(recurrent_cases(), label="case")
    family, arrays, incoming = case.family, case.arrays(), case.incoming()

    def given_as(arrays):
        return {name: data.draw(presented(array), label=name) for name, array in arrays.items()}

    def check(actual, expected):
        value, magnitude, length = case.judged(expected)
        assert_close(actual, value, magnitude=magnitude, length=length, dtype=case.dtype)

    results = family.forward(**given_as(arrays), descriptor=case.descriptor())
    for actual, expected in zip(results, family.reference_forward(**arrays, descriptor=case.descriptor()), strict=True):
        check(actual, expected)
    saved = family.saved_from(results)
    gradients = family.gradients(**given_as(arrays | incoming), **saved, descriptor=case.descriptor())
    expected = family.reference_gradients(**arrays, **incoming, **saved, descriptor=case.descriptor())
    for name in expected._fields:
        if getattr(expected, name) is None:
            assert getattr(gradients, name) is None
        else:
            check(getattr(gradients, name), getattr(expected, name))
