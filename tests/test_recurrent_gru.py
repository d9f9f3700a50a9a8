"""What only the GRU has: gate order, flip_z, reset_after and the secondary bias."""

import numpy as np
import pytest
from cases.recurrent_sweep import GRU, Case, assert_nearly_equal, full

import mpsgraph_native as mg

GATES_SWAPPED = [1, 0, 2]


def swap_gates(array, directions=1, axis=0):
    """Exchanges the first two of three gate blocks in every direction's half."""
    halves = np.split(array, directions, axis=axis)
    blocks = [np.split(half, 3, axis=axis) for half in halves]
    return np.concatenate([block[k] for block in blocks for k in GATES_SWAPPED], axis=axis)


def run(case, arrays):
    return mg.gru(**arrays, descriptor=case.descriptor())


@pytest.mark.parametrize("reset_after", [False, True])
@pytest.mark.parametrize("flip_z", [False, True])
def test_gate_order_is_only_an_order(reset_after, flip_z):
    """[z, r, o] by default, [r, z, o] with reset_gate_first."""
    options = {"reset_after": reset_after, "flip_z": flip_z}
    default = full(GRU, options=options)
    permuted = full(GRU, options=options | {"reset_gate_first": True})
    arrays = default.arrays()
    swapped = arrays | {name: swap_gates(arrays[name]) for name in ("recurrent_weight", "input_weight", "bias")}
    h, z_state = run(default, arrays)
    h_permuted, z_state_permuted = run(permuted, swapped)
    assert_nearly_equal(h_permuted, h)
    assert_nearly_equal(z_state_permuted, swap_gates(z_state, axis=-1))


def test_flip_z_exchanges_the_roles_of_z():
    """With a sigmoid, −a gives 1−z: negating the update gate's rows undoes flip_z."""
    plain, flipped = full(GRU), full(GRU, options={"flip_z": True})
    arrays = plain.arrays()
    hidden = plain.shape[3]
    negated = dict(arrays)
    for name in ("recurrent_weight", "input_weight", "bias"):
        negated[name] = arrays[name].copy()
        negated[name][:hidden] *= -1
    assert_nearly_equal(run(flipped, negated)[0], run(plain, arrays)[0])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_secondary_bias_without_reset_after(bidirectional):
    """It takes no part in the forward, hence its gradient is zero."""
    case = full(GRU, options={"bidirectional": bidirectional, "reset_after": False})
    arrays = case.arrays()
    h, z_state = run(case, arrays)
    without = {name: array for name, array in arrays.items() if name != "secondary_bias"}
    np.testing.assert_array_equal(run(case, without)[0], h)
    gradients = mg.gru_gradients(
        **arrays, **case.incoming(), z_state=z_state, output_fwd=h, descriptor=case.descriptor()
    )
    assert gradients.secondary_bias.shape == arrays["secondary_bias"].shape
    assert not gradients.secondary_bias.any()


def test_reset_after_without_any_bias():
    case = Case(family=GRU, operands=frozenset({"input_weight"}), options={"reset_after": True})
    arrays = case.arrays()
    zeros = {"bias": np.zeros(21, np.float32), "secondary_bias": np.zeros(7, np.float32)}
    assert_nearly_equal(run(case, arrays)[0], run(case, arrays | zeros)[0])


@pytest.mark.float64
def test_identity_input_weight():
    """Without input_weight the source holds the gates' share x·Wᵀ already."""
    case = Case(family=GRU, operands=frozenset({"input_weight"}), dtype="float64")
    arrays = case.arrays()
    projected = {"source": arrays["source"] @ arrays["input_weight"].T, "recurrent_weight": arrays["recurrent_weight"]}
    np.testing.assert_allclose(run(case, projected)[0], run(case, arrays)[0], rtol=1e-12, atol=1e-13)


@pytest.mark.float64
def test_mask_acts_only_on_the_recurrent_product():
    """h⁻ itself is kept: with a zero mask, h = z∘h⁻ + (1−z)∘o where z and o see x alone."""
    case = full(GRU, dtype="float64")
    arrays = case.arrays()
    arrays["mask"] = np.zeros_like(arrays["mask"])
    h, z_state = run(case, arrays)
    update, _, candidate = np.split(z_state, 3, axis=-1)
    before = np.concatenate([arrays["init_state"][None], h[:-1]])
    np.testing.assert_allclose(h, update * before + (1 - update) * candidate, rtol=1e-12, atol=1e-13)
    projection = arrays["source"] @ arrays["input_weight"].T + arrays["bias"]
    np.testing.assert_allclose(candidate, np.tanh(np.split(projection, 3, axis=-1)[2]), rtol=1e-12, atol=1e-13)


@pytest.mark.float64
def test_z_state_of_the_descriptor_is_post_activation():
    case = full(GRU, dtype="float64")
    _, z_state = run(case, case.arrays())
    update, reset, _ = np.split(z_state, 3, axis=-1)
    assert ((update > 0) & (update < 1)).all()
    assert ((reset > 0) & (reset < 1)).all()


def test_long_sequences():
    case = full(GRU, shape=(50, 3, 4, 8), options={"bidirectional": True, "reset_after": True})
    arrays, incoming = case.arrays(), case.incoming()
    h, z_state = run(case, arrays)
    expected = GRU.reference_forward(**arrays, descriptor=case.descriptor())
    case.close(h, expected[0])
    operands = arrays | incoming | {"z_state": z_state, "output_fwd": h}
    actual = mg.gru_gradients(**operands, descriptor=case.descriptor())
    for value, wanted in zip(actual, GRU.reference_gradients(**operands, descriptor=case.descriptor()), strict=True):
        case.close(value, wanted)
