"""Calls of every public operation with anything at all: an array, or an exception of this package; the process lives."""

import dataclasses
import inspect

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st
from support import dtype

import mpsgraph_native as mg
from fuzz.calls import ENORMOUS, REFUSALS, integers
from fuzz.memory import Destination
from mpsgraph_native import ops
from mpsgraph_native.descriptors import descriptor_class

# As a size 2**31 - 1 may be right, and asks for gigabytes.
sizes = st.one_of(st.integers(0, 4), st.integers(-2, 9), st.sampled_from(ENORMOUS[1:]))
shapes = st.lists(st.integers(0, 4), max_size=6).map(tuple)
images = st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 7), st.integers(0, 7))
dtypes = st.one_of(
    st.just(np.dtype(np.float32)),
    st.sampled_from([np.dtype(name) for name in ("f2", "f8", "i4", "i8", "?", "u1", "c8", "S3", "O", ">f4", "M8[s]")]),
    st.builds(lambda: dtype("bfloat16")),
)
junk = st.one_of(
    st.none(), st.booleans(), st.text(max_size=3), st.binary(max_size=5), st.floats(), integers,
    st.lists(integers, max_size=4), st.just({}), st.just(object()),
)  # fmt: skip


@st.composite
def arrays(draw):
    shape, kind = draw(st.one_of(images, shapes)), draw(dtypes)
    values = np.random.default_rng(0).integers(-3, 4, shape)
    array = np.zeros(shape, kind) if kind.kind in "OSM" else values.astype(kind)
    match draw(st.integers(0, 6)):
        case 0:
            return array.T
        case 1:
            return array[..., ::-1] if array.ndim else array
        case 2:
            array.setflags(write=False)
            return array
        case 3 if array.ndim:
            return np.broadcast_to(array[:1], array.shape) if array.shape[0] else array
    return array


def field_values(entry, descriptor):
    """Mostly values that the field may have."""
    member = entry.default
    if isinstance(member, bool):
        usual = st.booleans()
    elif hasattr(member, "name"):
        usual = st.sampled_from(list(type(member)))
    elif isinstance(member, str):
        usual = st.sampled_from(["int32", "int64", "float32"])
    elif isinstance(member, tuple) or "4D" in descriptor.__name__:
        usual = st.one_of(
            st.tuples(*[st.integers(1, 3)] * 4), st.lists(integers, max_size=9),
            st.lists(st.integers(0, 2), min_size=8, max_size=8),
        )  # fmt: skip
    else:
        usual = integers
    return st.integers(0, 9).flatmap(lambda die: junk if die == 0 else usual)


@st.composite
def descriptors(draw, kind):
    """A descriptor with some fields set, or the refusal to make one."""
    chosen = [
        entry for entry in dataclasses.fields(kind) if entry.default is dataclasses.MISSING or draw(st.booleans())
    ]
    fields = {entry.name: draw(field_values(entry, kind)) for entry in chosen}
    return kind(**fields)


@st.composite
def calls(draw):
    """(function, positional arguments, keywords) with every required argument."""
    name = draw(st.sampled_from(ops.__all__))
    function = getattr(mg, name)
    if not inspect.isfunction(function):
        return draw(calls())
    kind = descriptor_class(name)
    positional, keywords = [], {}
    for parameter in inspect.signature(function).parameters.values():
        required = parameter.default is inspect.Parameter.empty
        if parameter.name in ("out", "device") or not (required or draw(st.booleans())):
            continue
        if parameter.name == "descriptor" and kind is not None:
            value = draw(st.one_of(descriptors(kind), descriptors(kind), junk))
        elif parameter.name in ("shape", "output_shape"):
            value = draw(st.one_of(images, st.lists(sizes, max_size=5), arrays()))
        elif parameter.kind is parameter.KEYWORD_ONLY:
            value = draw(st.one_of(arrays(), arrays(), integers, junk))
        else:
            value = draw(st.one_of(arrays(), arrays(), arrays(), junk))
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    return function, positional, keywords


@given(data=st.data())
def test_any_call_gives_arrays_or_a_refusal(data):
    try:
        function, positional, keywords = data.draw(calls(), label="call")
    except REFUSALS:
        event("descriptor refused")
        return
    destination = None
    if data.draw(st.booleans(), label="with out"):
        shape = data.draw(st.one_of(images, shapes), label="shape of out")
        destination = Destination.of(shape, data.draw(st.sampled_from(("f4", "f2", "i4"))), (1,) * len(shape))
        keywords["out"] = destination.array
    try:
        results = function(*positional, **keywords)
    except REFUSALS as error:
        event("call refused")
        assert len(str(error)) > 10, "a refusal says what is wrong"
        assert destination is None or destination.untouched(), "a refused call wrote"
        return
    event("computed")
    for result in results if isinstance(results, tuple) else (results,):
        assert result is None or isinstance(result, np.ndarray)
