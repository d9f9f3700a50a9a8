"""Valid problems in memory of any arrangement: the results are the reference's, and go where they were asked to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CONVOLUTIONS, DEPTHWISE_CONVOLUTIONS, assert_close, judge_convolution, run_convolution

import mpsgraph_native as mg
from fuzz.memory import Destination, steps, ways
from fuzz.problems import check_convolution, convolutions, poolings, precision_of, precisions, recurrent_cases
from mpsgraph_native.verify.reference import pooling as reference_pooling


def presented(data, name, array):
    return data.draw(ways(array), label=f"way of {name}")(array)


def computed(data, function, shape, dtype):
    """What function(out=...) gives, written into memory of some arrangement or into its own."""
    chosen = data.draw(steps(len(shape)), label="steps of out")
    if chosen is None:
        return function()
    destination = Destination.of(shape, dtype, chosen)
    assert function(out=destination.array) is destination.array
    assert destination.untouched_elements()
    return np.ascontiguousarray(destination.array)


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
    precision = data.draw(precisions, label="precision")
    shape = judge_convolution(operation, **problem).value.shape
    arrays = {name: presented(data, name, problem[name]) for name in ("source", "weights", "incoming")}
    if operation.endswith("gradient"):
        arrays["output_shape"] = shape

    def function(**out):
        return run_convolution(operation, **(problem | arrays), **out)

    with precision_of(precision):
        result = computed(data, function, shape, problem["source"].dtype)
    check_convolution(operation, result, precision, problem)


@given(data=st.data())
def test_max_pooling_and_its_gradients(data):
    source, descriptor, incoming = data.draw(poolings(), label="problem").values()
    values, indices = reference_pooling.max_pooling(source, descriptor)
    actual = mg.max_pooling_2d_return_indices(presented(data, "source", source), descriptor=descriptor)
    np.testing.assert_array_equal(actual[0].astype(np.float64), values)
    np.testing.assert_array_equal(actual[1], indices)

    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    gradient = presented(data, "gradient", incoming)
    operands = {
        "from source": {"source": presented(data, "source", source)},
        "from indices": {"indices": presented(data, "indices", actual[1]), "output_shape": source.shape},
    }

    def check(form):
        def function(**out):
            return mg.max_pooling_2d_gradient(gradient, **operands[form], descriptor=descriptor, **out)

        result = computed(data, function, source.shape, source.dtype)
        assert_close(result, expected, magnitude=magnitude, length=length, dtype=source.dtype)

    check("from source")
    named = int(descriptor.return_indices_mode.name.removesuffix("D")[-1])
    if all(kernel == 1 for kernel in reference_pooling.fields(descriptor).kernel_sizes[: 4 - named]):
        check("from indices")
    else:
        with pytest.raises(mg.ShapeError, match="return_indices_mode"):
            check("from indices")


@given(data=st.data())
def test_average_pooling_and_its_gradient(data):
    source, descriptor, incoming = data.draw(poolings(), label="problem").values()
    source = np.nan_to_num(source.astype(np.float64), nan=0.5, posinf=2, neginf=-2).astype(source.dtype)
    value = mg.avg_pooling_2d(presented(data, "source", source), descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge("avg", source, descriptor)
    assert_close(value, expected, magnitude=magnitude, length=length, dtype=source.dtype)

    expected, magnitude, length = reference_pooling.judge_gradient("avg", incoming, source, descriptor)
    gradient = presented(data, "gradient", incoming)

    def function(**out):
        return mg.avg_pooling_2d_gradient(gradient, source=source, descriptor=descriptor, **out)

    result = computed(data, function, source.shape, source.dtype)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype=source.dtype)


@given(data=st.data())
def test_recurrent_networks_and_their_gradients(data):
    case = data.draw(recurrent_cases(), label="case")
    family, arrays, incoming = case.family, case.arrays(), case.incoming()

    def all_presented(arrays):
        return {name: presented(data, name, array) for name, array in arrays.items()}

    def check(actual, expected):
        value, magnitude, length = case.judged(expected)
        assert_close(actual, value, magnitude=magnitude, length=length, dtype=case.dtype)

    results = family.forward(**all_presented(arrays), descriptor=case.descriptor())
    for actual, expected in zip(results, family.reference_forward(**arrays, descriptor=case.descriptor()), strict=True):
        check(actual, expected)
    saved = family.saved_from(results)
    gradients = family.gradients(**all_presented(arrays | incoming), **saved, descriptor=case.descriptor())
    expected = family.reference_gradients(**arrays, **incoming, **saved, descriptor=case.descriptor())
    for name in expected._fields:
        if getattr(expected, name) is None:
            assert getattr(gradients, name) is None
        else:
            check(getattr(gradients, name), getattr(expected, name))
