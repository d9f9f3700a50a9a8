"""Every refused operand of the recurrent operations is named, and the caller's memory stays as it was."""

import numpy as np
import pytest
from cases.recurrent_sweep import FAMILIES, GRU, LSTM, Case, full
from support import dtype, names

import mpsgraph_native as mg

REFUSED_DEVICE = (ValueError, mg.DeviceError)
families = pytest.mark.parametrize("family", FAMILIES, ids=str)
directions = pytest.mark.parametrize("bidirectional", [False, True], ids=["unidirectional", "bidirectional"])
per_operand = pytest.mark.parametrize(
    ("family", "operand"),
    [(family, name) for family in FAMILIES for name in ("recurrent_weight", *family.optional)],
    ids=lambda value: str(value),
)


def call_forward(case, **replaced):
    return case.family.forward(**(case.arrays() | replaced), descriptor=case.descriptor())


def backward_operands(case):
    arrays = case.arrays()
    results = case.family.forward(**arrays, descriptor=case.descriptor())
    return arrays | case.incoming() | case.family.saved_from(results)


def call_gradients(case, **replaced):
    return case.family.gradients(**(backward_operands(case) | replaced), descriptor=case.descriptor())


@per_operand
@directions
def test_another_extent(family, operand, bidirectional):
    case = full(family, options={"bidirectional": bidirectional})
    shape = case.shapes()[operand]
    wrong = np.zeros((*shape[:-1], shape[-1] + 1), np.float32)
    for call in (call_forward, call_gradients):
        with pytest.raises(ValueError, match=names(operand)):
            call(case, **{operand: wrong})


@per_operand
def test_another_rank(family, operand):
    case = full(family)
    wrong = case.arrays()[operand][None]
    for call in (call_forward, call_gradients):
        with pytest.raises(ValueError, match=names(operand)):
            call(case, **{operand: wrong})


@families
@pytest.mark.parametrize("shape", [(3, 2), (3, 2, 5, 1), ()], ids=str)
def test_source_of_another_rank(family, shape):
    for call in (call_forward, call_gradients):
        with pytest.raises(ValueError, match=names("source")):
            call(full(family), source=np.zeros(shape, np.float32))


@families
@pytest.mark.parametrize("operand", ["init_state", "mask"])
def test_state_and_mask_belong_to_the_batch_not_to_time(family, operand):
    """[N, H] is expected; [T, H] and [T, N] are what a batch-first or a time-mask reading would give."""
    case = full(family, shape=(5, 3, 10, 20))
    for shape in ((5, 20), (5, 3)):
        with pytest.raises(ValueError, match=names(operand)) as caught:
            call_forward(case, **{operand: np.zeros(shape, np.float32)})
        assert "3" in str(caught.value)
        assert "20" in str(caught.value)


@families
@pytest.mark.parametrize("operand", ["init_state", "mask"])
def test_bidirectional_state_and_mask_have_both_halves(family, operand):
    case = full(family, options={"bidirectional": True})
    _, n, _, h = case.shape
    with pytest.raises(ValueError, match=names(operand)):
        call_forward(case, **{operand: np.zeros((n, h), np.float32)})


@families
def test_identity_needs_a_source_as_wide_as_the_gates(family):
    case = Case(family=family)
    with pytest.raises(ValueError, match=names("source", "input_weight")):
        call_forward(case, source=np.zeros((3, 2, family.gates * 7 + 1), np.float32))


@families
def test_z_state_missing(family):
    with pytest.raises(ValueError, match=names("z_state")):
        call_gradients(full(family), z_state=None)


@pytest.mark.parametrize("family", [GRU, LSTM], ids=str)
def test_z_state_of_an_inference(family):
    """[T, N, H] is the output, not the gates."""
    case = full(family)
    t, n, _, h = case.shape
    with pytest.raises(ValueError, match=names("z_state")):
        call_gradients(case, z_state=np.zeros((t, n, h), np.float32))


@families
def test_saved_results_of_another_shape(family):
    case = full(family)
    operands = backward_operands(case)
    for name in family.saved:
        with pytest.raises(ValueError, match=names(name)):
            family.gradients(**(operands | {name: operands[name][:-1]}), descriptor=case.descriptor())


@families
def test_saved_output_missing(family):
    for name in family.saved:
        with pytest.raises((ValueError, TypeError), match=names(name)):
            call_gradients(full(family), **{name: None})


@families
@pytest.mark.parametrize("operand", ["source_gradient", "state_gradient"])
def test_incoming_gradient_of_another_shape(family, operand):
    case = full(family)
    wrong = case.incoming()[operand][..., :-1]
    with pytest.raises(ValueError, match=names(operand)):
        call_gradients(case, **{operand: wrong})


def test_cell_gradient_of_another_shape():
    with pytest.raises(ValueError, match=names("cell_gradient")):
        call_gradients(full(LSTM), cell_gradient=np.zeros((3, 7), np.float32))


@families
def test_no_incoming_gradient_at_all(family):
    nothing = dict.fromkeys(("source_gradient", *family.final_gradients))
    with pytest.raises(ValueError, match=names("source_gradient")):
        call_gradients(full(family), **nothing)


@per_operand
@pytest.mark.parametrize("name", ["float64", "float16", "bfloat16"])
def test_mixed_float_types(family, operand, name):
    case = full(family)
    wrong = case.arrays()[operand].astype(dtype(name))
    for call in (call_forward, call_gradients):
        with pytest.raises(TypeError, match=names(operand)):
            call(case, **{operand: wrong})


@families
@pytest.mark.parametrize("name", ["int32", "complex64", "bool"])
def test_types_that_are_no_floats(family, name):
    with pytest.raises(TypeError, match=names("source")):
        call_forward(full(family), source=np.zeros((3, 2, 5), name))


@families
@pytest.mark.parametrize("operand", ["source", "recurrent_weight"])
def test_lists_are_refused(family, operand):
    case = full(family)
    with pytest.raises(TypeError, match=names(operand)):
        call_forward(case, **{operand: case.arrays()[operand].tolist()})


@families
def test_unknown_device(family):
    case = full(family)
    with pytest.raises(REFUSED_DEVICE, match=names("device")):
        family.forward(**case.arrays(), descriptor=case.descriptor(), device="abacus")


@families
def test_descriptor_of_another_operation(family):
    other = mg.LSTMDescriptor() if family is not LSTM else mg.GRUDescriptor()
    with pytest.raises(TypeError, match=names("descriptor")):
        family.forward(**full(family).arrays(), descriptor=other)


@families
def test_operands_of_other_families_do_not_exist(family):
    foreign = "peephole" if family is not LSTM else "secondary_bias"
    with pytest.raises(TypeError, match=names(foreign)):
        call_forward(full(family), **{foreign: np.zeros(7, np.float32)})


def refused_outputs(good):
    """Arrays which `out=` must not accept in the place of `good`."""
    read_only = np.empty_like(good)
    read_only.setflags(write=False)
    return {
        "shape": np.empty((*good.shape, 1), good.dtype),
        "dtype": np.empty(good.shape, np.float64),
        "read-only": read_only,
        "byte order": np.empty(good.shape, good.dtype.newbyteorder()),
        "list": good.tolist(),
    }


@families
@pytest.mark.parametrize("kind", ["shape", "dtype", "read-only", "byte order", "list"])
def test_out_refused(family, kind):
    case = full(family)
    operands = backward_operands(case)
    good = [np.zeros_like(value) for value in family.gradients(**operands, descriptor=case.descriptor())]
    good[0] = refused_outputs(good[0])[kind]
    with pytest.raises((ValueError, TypeError), match=names("out")):
        family.gradients(**operands, descriptor=case.descriptor(), out=tuple(good))
    assert not any(array.any() for array in good[1:])


@families
@pytest.mark.parametrize("change", [-1, 1])
def test_out_of_another_length(family, change):
    case = full(family)
    operands = backward_operands(case)
    good = [np.zeros_like(value) for value in family.gradients(**operands, descriptor=case.descriptor())]
    wrong = good[:-1] if change < 0 else [*good, np.zeros(1, np.float32)]
    with pytest.raises((ValueError, TypeError), match=names("out")):
        family.gradients(**operands, descriptor=case.descriptor(), out=tuple(wrong))
    assert not any(array.any() for array in good)


@families
def test_out_overlapping_an_operand(family):
    case = full(family)
    operands = backward_operands(case)
    good = [np.zeros_like(value) for value in family.gradients(**operands, descriptor=case.descriptor())]
    before = operands["source"].copy()
    good[0] = operands["source"]
    with pytest.raises(ValueError, match=names("out")):
        family.gradients(**operands, descriptor=case.descriptor(), out=tuple(good))
    np.testing.assert_array_equal(operands["source"], before)


@families
def test_out_overlapping_another_result(family):
    case = full(family, shape=(3, 2, 5, 7))
    arrays = case.arrays()
    t, n, _, h = case.shape
    count = len(family.forward(**arrays, descriptor=case.descriptor()))
    block = np.zeros((t, n, family.gates * h), np.float32)
    shared = np.zeros(block.size + 1, np.float32)
    out = [np.zeros((t, n, h), np.float32) for _ in range(count - 1)]
    out[0] = shared[: t * n * h].reshape(t, n, h)
    out.append(shared[1:].reshape(block.shape))
    with pytest.raises(ValueError, match=names("out")):
        family.forward(**arrays, descriptor=case.descriptor(), out=tuple(out))
    assert not shared.any()
