"""What holds for every recurrent operation: values, gradients, results, `out=` and empty extents."""

import numpy as np
import pytest
from cases.recurrent_sweep import FAMILIES, GRU, Case, as_tuple, assert_nearly_equal, full, smooth, sweep
from support import central_differences, dtype

import mpsgraph_native as mg

SWEEP = [case for family in FAMILIES for case in sweep(family)]
SMOOTH = [case for family in FAMILIES for case in smooth(family)]
families = pytest.mark.parametrize("family", FAMILIES, ids=str)
directions = pytest.mark.parametrize("bidirectional", [False, True], ids=["unidirectional", "bidirectional"])


def training_results(case, arrays):
    return case.family.forward(**arrays, descriptor=case.descriptor())


def gradients_of(case, arrays, incoming, results, **keywords):
    saved = case.family.saved_from(results)
    return case.family.gradients(**arrays, **incoming, **saved, descriptor=case.descriptor(), **keywords)


def backward(case, **keywords):
    """The package's gradients with everything that the case has."""
    arrays = case.arrays()
    return gradients_of(case, arrays, case.incoming(), training_results(case, arrays), **keywords)


@pytest.mark.parametrize("case", SWEEP, ids=str)
def test_forward(case):
    arrays = case.arrays()
    results = training_results(case, arrays)
    expected = case.family.reference_forward(**arrays, descriptor=case.descriptor())
    assert len(results) == len(expected)
    for actual, value in zip(results, expected, strict=True):
        case.close(actual, value)
        assert actual.flags.c_contiguous


@pytest.mark.parametrize("case", SWEEP, ids=str)
def test_gradients(case):
    """The reference starts from the very gates and states that the operation was given."""
    arrays, incoming = case.arrays(), case.incoming()
    results = training_results(case, arrays)
    actual = gradients_of(case, arrays, incoming, results)
    saved = case.family.saved_from(results)
    expected = case.family.reference_gradients(**arrays, **incoming, **saved, descriptor=case.descriptor())
    assert actual._fields == expected._fields
    for name in expected._fields:
        value = getattr(expected, name)
        if value is None:
            assert getattr(actual, name) is None, name
        else:
            case.close(getattr(actual, name), value)
            assert getattr(actual, name).shape == arrays[name].shape


def final_entry(case, array):
    """The entry of the last processed step, [N, D·H]: time T−1 forwards, time 0 backwards."""
    hidden = case.shape[3]
    if case.directions == 2:
        return np.concatenate([array[-1][:, :hidden], array[0][:, hidden:]], axis=-1)
    return array[0] if case.options["reverse"] else array[-1]


def loss(case, arrays, incoming):
    """Σ h∘source_gradient + Σ h_final∘state_gradient + Σ c_final∘cell_gradient."""
    h, *rest = training_results(case, arrays)
    value = np.sum(h * incoming["source_gradient"])
    if "state_gradient" in incoming:
        value += np.sum(final_entry(case, h) * incoming["state_gradient"])
    if "cell_gradient" in incoming:
        value += np.sum(final_entry(case, rest[0]) * incoming["cell_gradient"])
    return value


@pytest.mark.parametrize("case", SMOOTH, ids=str)
@pytest.mark.float64
def test_gradients_are_difference_quotients(case):
    arrays, incoming = case.arrays(), case.incoming()
    gradients = backward(case)
    for name, gradient in zip(gradients._fields, gradients, strict=True):
        if gradient is None:
            assert name not in arrays
            continue
        quotients = central_differences(
            lambda moved, name=name: loss(case, arrays | {name: moved}, incoming), arrays[name], 1.0, 1e-5
        )
        np.testing.assert_allclose(gradient, quotients, rtol=1e-7, atol=1e-8, err_msg=name)


@families
@pytest.mark.parametrize(("name", "length"), [("float16", 4096), ("bfloat16", 1600)])
def test_half_types_accumulate_in_float32(family, name, length):
    """A sum of ones kept in float16 stops at 2048, in bfloat16 at 256."""
    gates = {field: "None" for field in family.activations}
    case = Case(family=family, shape=(1, length, length, 1), dtype=name, options=gates)
    arrays = {
        "source": np.ones((1, length, length), dtype(name)),
        "input_weight": np.zeros((family.gates, length), dtype(name)),
        "recurrent_weight": np.zeros((family.gates, 1), dtype(name)),
    }
    arrays["input_weight"][-1] = 1
    arrays["bias"] = np.ones(family.gates, dtype(name))
    arrays["bias"][-1] = 0
    if family is GRU:
        arrays["bias"][0] = 0
    results = training_results(case, arrays)
    assert (results[0].astype(np.float64) == length).all()
    arrays["source"] = np.ones((1, length, 1), dtype(name))
    arrays["input_weight"] = arrays["input_weight"][:, :1]
    incoming = {"source_gradient": np.ones((1, length, 1), dtype(name))}
    gradients = gradients_of(case, arrays, incoming, training_results(case, arrays))
    assert float(gradients.bias[-1]) == length
    assert float(gradients.input_weight[-1, 0]) == length


@families
@directions
def test_inference_equals_training(family, bidirectional):
    case = full(family, options={"bidirectional": bidirectional})
    arrays = case.arrays()
    h = family.forward(**arrays, descriptor=case.descriptor(training=False))
    assert isinstance(h, np.ndarray)
    assert_nearly_equal(h, training_results(case, arrays)[0])


@families
def test_training_does_not_matter_to_the_gradient_descriptor(family):
    case = full(family)
    arrays, incoming = case.arrays(), case.incoming()
    saved = family.saved_from(training_results(case, arrays))
    first, second = (
        family.gradients(**arrays, **incoming, **saved, descriptor=case.descriptor(training=training))
        for training in (True, False)
    )
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@families
def test_required_operands_by_position(family):
    case = full(family)
    arrays, incoming = case.arrays(), case.incoming()
    results = training_results(case, arrays)
    source, weight = arrays.pop("source"), arrays.pop("recurrent_weight")
    descriptor = case.descriptor()
    by_position = family.forward(source, weight, **arrays, descriptor=descriptor)
    np.testing.assert_array_equal(by_position[0], results[0])
    saved = family.saved_from(results)
    order = ("z_state", *(name for name in saved if name != "z_state"))
    required = (source, weight, incoming.pop("source_gradient"), *(saved[name] for name in order))
    gradients = family.gradients(*required, **arrays, **incoming, descriptor=descriptor)
    for actual, expected in zip(gradients, backward(case), strict=True):
        np.testing.assert_array_equal(actual, expected)


@families
@directions
def test_reverse_is_time_aligned(family, bidirectional):
    """reverse on a source equals the plain order on the source turned round; ignored when bidirectional."""
    plain = full(family, options={"bidirectional": bidirectional, "reverse": False})
    reverse = full(family, options={"bidirectional": bidirectional, "reverse": True})
    arrays = plain.arrays()
    expected = training_results(plain, arrays)
    turned = arrays if bidirectional else arrays | {"source": arrays["source"][::-1]}
    for actual, value in zip(training_results(reverse, turned), expected, strict=True):
        assert_nearly_equal(actual, value if bidirectional else value[::-1])


@families
def test_bidirectional_is_two_directions_side_by_side(family):
    both = full(family, options={"bidirectional": True})
    hidden = both.shape[3]
    arrays = both.arrays()
    joined = training_results(both, arrays)
    for index, reverse in enumerate((False, True)):
        one = full(family, options={"reverse": reverse})
        halves = {name: np.split(array, 2, axis=0)[index] for name, array in arrays.items()
                  if name in ("input_weight", "bias", "secondary_bias")}  # fmt: skip
        halves |= {name: arrays[name][index] for name in ("recurrent_weight", "peephole") if name in arrays}
        halves |= {name: np.split(array, 2, axis=1)[index] for name, array in arrays.items()
                   if name in ("init_state", "init_cell", "mask")}  # fmt: skip
        for actual, value in zip(joined, training_results(one, {"source": arrays["source"]} | halves), strict=True):
            part = np.split(actual, 2, axis=-1)[index]
            assert_nearly_equal(part, value)
    assert joined[0].shape[-1] == 2 * hidden


@families
def test_gradients_leave_out_what_was_not_given(family):
    case = Case(family=family, operands=frozenset({"input_weight"}))
    gradients = backward(case)
    absent = {name for name, value in zip(gradients._fields, gradients, strict=True) if value is None}
    assert absent == set(gradients._fields) - {"source", "recurrent_weight", "input_weight"}
    assert isinstance(gradients, tuple)


@families
@directions
def test_state_gradient_alone_counts_source_gradient_as_zeros(family, bidirectional):
    case = full(family, options={"bidirectional": bidirectional})
    arrays, incoming = case.arrays(), case.incoming()
    results = training_results(case, arrays)
    zeros = gradients_of(
        case, arrays, incoming | {"source_gradient": np.zeros_like(incoming["source_gradient"])}, results
    )
    absent = gradients_of(case, arrays, incoming | {"source_gradient": None}, results)
    for actual, expected in zip(absent, zeros, strict=True):
        np.testing.assert_array_equal(actual, expected)


@families
def test_no_time_steps(family):
    case = full(family, shape=(0, 2, 3, 5))
    arrays = case.arrays()
    expected = family.reference_forward(**arrays, descriptor=case.descriptor())
    for result, value in zip(training_results(case, arrays), expected, strict=True):
        assert result.shape == value.shape
    gradients = backward(case)
    assert gradients.source.shape == (0, 2, 3)
    for name in ("recurrent_weight", "input_weight", "bias"):
        assert not getattr(gradients, name).any(), name


@families
@directions
def test_no_batch(family, bidirectional):
    case = full(family, shape=(3, 0, 4, 5), options={"bidirectional": bidirectional})
    h = training_results(case, case.arrays())[0]
    assert h.shape == (3, 0, 5 * case.directions)
    gradients = backward(case)
    assert gradients.source.shape == (3, 0, 4)
    for name in ("recurrent_weight", "input_weight", "bias"):
        assert getattr(gradients, name).shape == case.shapes()[name]
        assert not getattr(gradients, name).any(), name


@families
def test_out_of_the_forward(family):
    case = full(family)
    arrays = case.arrays()
    expected = training_results(case, arrays)
    out = tuple(np.full_like(value, np.nan) for value in expected)
    results = family.forward(**arrays, descriptor=case.descriptor(), out=out)
    for result, array, value in zip(results, out, expected, strict=True):
        assert result is array
        np.testing.assert_array_equal(array, value)


@families
def test_out_of_an_inference_is_one_array(family):
    case = full(family)
    arrays = case.arrays()
    t, n, _, h = case.shape
    wide = np.full((t, n, 2 * h), np.nan, np.float32)
    out = wide[:, :, ::2]
    result = family.forward(**arrays, descriptor=case.descriptor(training=False), out=out)
    assert result is out
    assert_nearly_equal(out, training_results(case, arrays)[0])
    assert np.isnan(wide[:, :, 1::2]).all()


@families
@pytest.mark.parametrize("operands", [(), ("input_weight", "bias")], ids=["none", "some"])
def test_out_of_the_gradients_are_the_present_ones(family, operands):
    case = Case(family=family, operands=frozenset(operands))
    expected = backward(case)
    out = tuple(np.full_like(value, np.nan) for value in expected if value is not None)
    result = backward(case, out=out)
    present = [value for value in result if value is not None]
    assert all(value is array for value, array in zip(present, out, strict=True))
    for array, value in zip(out, (value for value in expected if value is not None), strict=True):
        np.testing.assert_array_equal(array, value)


@families
def test_operands_are_read_through_any_strides(family):
    case = full(family, options={"bidirectional": True})
    arrays, incoming = case.arrays(), case.incoming()
    results = training_results(case, arrays)
    expected = gradients_of(case, arrays, incoming, results)

    def awkward(array):
        """The same values, fastest dimension first in memory and every dimension running backwards."""
        flipped = tuple(slice(None, None, -1) for _ in array.shape)
        return np.asfortranarray(array[flipped])[flipped]

    strange = {name: awkward(array) for name, array in arrays.items()}
    strange_incoming = {name: awkward(array) for name, array in incoming.items()}
    for actual, value in zip(training_results(case, strange), results, strict=True):
        np.testing.assert_array_equal(actual, value)
    for actual, value in zip(gradients_of(case, strange, strange_incoming, results), expected, strict=True):
        np.testing.assert_array_equal(actual, value)


@families
def test_a_graph_gives_the_same(family):
    case = full(family)
    arrays, incoming = case.arrays(), case.incoming()
    values = training_results(case, arrays)
    expected = gradients_of(case, arrays, incoming, values)
    graph = mg.Graph()

    def placeholders(given):
        return {name: graph.placeholder(array.shape, case.dtype, name=name) for name, array in given.items()}

    feeds, feeds_incoming = placeholders(arrays), placeholders(incoming)
    results = getattr(graph, family.name)(**feeds, descriptor=case.descriptor(), name="forward")
    gradients = getattr(graph, f"{family.name}_gradients")(
        **feeds, **feeds_incoming, **family.saved_from(results), descriptor=case.descriptor(), name="backward"
    )
    assert gradients._fields == expected._fields
    targets = [*as_tuple(results), *gradients]
    fed = {feeds[name]: array for name, array in arrays.items()}
    fed |= {feeds_incoming[name]: array for name, array in incoming.items()}
    actual = graph.run(feeds=fed, targets=targets)
    for value, wanted in zip(actual, [*values, *expected], strict=True):
        assert_nearly_equal(value, wanted)
