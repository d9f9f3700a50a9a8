"""Valid problems with one thing changed: refused with nothing written, or still consistent and then computed rightly."""

import dataclasses

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from support import (
    CONVOLUTIONS,
    DEPTHWISE_CONVOLUTIONS,
    assert_close,
    reference_convolution,
    reference_depthwise_convolution,
    run_convolution,
)

import mpsgraph_native as mg
from fuzz.calls import REFUSALS, integers
from fuzz.memory import Destination
from fuzz.problems import Problem, check_convolution, convolutions, poolings
from mpsgraph_native.verify.reference import pooling as reference_pooling


@st.composite
def resized(draw, shape):
    """The shape with one size changed, or an axis more or less."""
    position = draw(st.integers(0, len(shape) - 1))
    size = draw(st.sampled_from((shape[position] + 1, shape[position] - 1, 2 * shape[position], 0, 1)))
    changed = (*shape[:position], max(size, 0), *shape[position + 1 :])
    return draw(st.sampled_from((changed, changed, changed, shape[1:], (1, *shape))))


def other_array(array, shape, dtype=None):
    """Seeded values of another shape or dtype."""
    return np.random.default_rng(0).integers(-3, 4, shape).astype(array.dtype if dtype is None else dtype)


@st.composite
def other_descriptor(draw, descriptor):
    """One integer, or one enumeration or flag, changed."""
    entry = draw(st.sampled_from(dataclasses.fields(descriptor)))
    value = getattr(descriptor, entry.name)
    if isinstance(value, bool):
        return dataclasses.replace(descriptor, **{entry.name: not value})
    if hasattr(value, "name"):
        return dataclasses.replace(descriptor, **{entry.name: draw(st.sampled_from(list(type(value))))})
    if isinstance(value, str):
        return dataclasses.replace(descriptor, **{entry.name: draw(st.sampled_from(("int32", "int64", "float32")))})
    return dataclasses.replace(descriptor, **{entry.name: draw(integers)})


@st.composite
def with_a_fault(draw, problem, arrays):
    """The problem with one of its arrays, its result's shape or its descriptor changed."""
    name = draw(st.sampled_from((*arrays, "descriptor", "descriptor")))
    if name == "descriptor":
        return Problem(problem | {name: draw(other_descriptor(problem[name]))})
    array = problem[name]
    if draw(st.integers(0, 4)) == 0:
        dtype = draw(st.sampled_from(("f2", "f4", "f8", "i4", "c8")))
        return Problem(problem | {name: other_array(array, array.shape, dtype)})
    return Problem(problem | {name: other_array(array, draw(resized(array.shape)))})


def outcome(call, shape, dtype):
    """The result in memory of this shape; None after a refusal, which must not have written there."""
    destination = Destination.of(shape, dtype, (1,) * len(shape))
    try:
        call(out=destination.array)
    except REFUSALS as error:
        event("refused")
        assert len(str(error)) > 10, "a refusal says what is wrong"
        assert destination.untouched(), "a refused call wrote"
        return None
    event("computed")
    return destination.array


@pytest.mark.parametrize("operation", (*CONVOLUTIONS, *DEPTHWISE_CONVOLUTIONS))
@given(data=st.data())
def test_convolutions(operation, data):
    valid = data.draw(convolutions(operation), label="valid problem")
    operands = {"data_gradient": ("incoming", "weights"), "weights_gradient": ("incoming", "source")}.get(
        operation.split("2d_")[-1], ("source", "weights")
    )
    # The third array stands for the result's shape alone.
    problem = data.draw(with_a_fault(valid, ("source", "weights", "incoming")), label="problem")
    target = ({"source", "weights", "incoming"} - set(operands)).pop()
    shape = problem[target].shape
    result = outcome(lambda **out: run_convolution(operation, **problem, **out), shape, problem[operands[0]].dtype)
    if result is None:
        return
    reference = reference_depthwise_convolution if operation.startswith("depthwise") else reference_convolution
    forward = reference.output_shape(problem["source"].shape, problem["weights"].shape, problem["descriptor"])
    assert forward == problem["incoming"].shape, "shapes that do not fit were accepted"
    assert len({problem[name].dtype for name in operands}) == 1, "dtypes that differ were accepted"
    check_convolution(operation, result, mg.precision(), problem)


@given(data=st.data())
def test_max_pooling_gradients(data):
    valid = data.draw(poolings(), label="valid problem")
    _, indices = reference_pooling.max_pooling(valid["source"], valid["descriptor"])
    valid["indices"] = indices.astype(np.int32)
    problem = data.draw(with_a_fault(valid, ("source", "incoming", "indices")), label="problem")
    source, descriptor, incoming, indices = (problem[name] for name in ("source", "descriptor", "incoming", "indices"))

    def from_source(**out):
        return mg.max_pooling_2d_gradient(incoming, source=source, descriptor=descriptor, **out)

    def from_indices(**out):
        return mg.max_pooling_2d_gradient(
            incoming, indices=indices, output_shape=source.shape, descriptor=descriptor, **out
        )

    result = outcome(from_source, source.shape, incoming.dtype)
    if result is not None:
        assert reference_pooling.output_shape(source.shape, descriptor) == incoming.shape
        assert source.dtype == incoming.dtype
        expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
        assert_close(result, expected, magnitude=magnitude, length=length, dtype=incoming.dtype)
    result = outcome(from_indices, source.shape, incoming.dtype)
    if result is not None:
        assert indices.dtype in (np.int32, np.int64) and indices.shape == incoming.shape
        assert reference_pooling.output_shape(source.shape, descriptor) == incoming.shape
        # Every gradient arrives somewhere, but for windows that lie outside altogether.
        added = np.where(indices == -1, 0, incoming.astype(np.float64)).sum()
        bound = np.abs(incoming.astype(np.float64)).sum() * 2.0**-6 + 1e-6
        assert abs(result.astype(np.float64).sum() - added) <= bound
