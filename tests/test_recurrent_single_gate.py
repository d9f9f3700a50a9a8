"""What only the single-gate recurrence has: a pre-activation z_state and Relu by default."""

import numpy as np
import pytest
from cases.recurrent_sweep import ACTIVATIONS, SINGLE_GATE, Case, full
from support import WIDEST

import mpsgraph_native as mg
from mpsgraph_native.verify.reference.recurrent import activate


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.float64
def test_z_state_is_pre_activation(activation):
    """h = f(z)."""
    case = full(SINGLE_GATE, dtype="float64", options={"activation": activation})
    h, z_state = mg.single_gate_rnn(**case.arrays(), descriptor=case.descriptor())
    np.testing.assert_allclose(h, activate(case.descriptor().activation, z_state), rtol=1e-12, atol=1e-13)
    arrays = case.arrays()
    before = np.concatenate([arrays["init_state"][None], h[:-1]]) * arrays["mask"]
    z = arrays["source"] @ arrays["input_weight"].T + before @ arrays["recurrent_weight"].T + arrays["bias"]
    np.testing.assert_allclose(z_state, z, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("value", "expected", "slope"),
    [(-3.0, 0.0, 0.0), (-2.0, 0.1, 0.2), (0.0, 0.5, 0.2), (1.0, 0.7, 0.2), (3.0, 1.0, 0.0)],
)
def test_hard_sigmoid(value, expected, slope):
    """clamp(0.2·a + 0.5, 0, 1), slope 0.2 strictly inside."""
    descriptor = mg.SingleGateRNNDescriptor(activation="HardSigmoid", training=True)
    source, weight = np.full((1, 1, 1), value, WIDEST), np.zeros((1, 1), WIDEST)
    h, z_state = mg.single_gate_rnn(source, weight, descriptor=descriptor)
    assert h.item() == pytest.approx(expected, abs=float(4 * np.finfo(WIDEST).eps))
    gradients = mg.single_gate_rnn_gradients(source, weight, np.ones_like(h), z_state, descriptor=descriptor)
    assert gradients.source.item() == pytest.approx(slope, abs=float(4 * np.finfo(WIDEST).eps))


@pytest.mark.parametrize(("value", "slope"), [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0)])
def test_relu_is_the_default_and_flat_at_zero(value, slope):
    descriptor = mg.SingleGateRNNDescriptor(training=True)
    assert descriptor.activation.name == "Relu"
    source, weight = np.full((1, 1, 1), value, WIDEST), np.zeros((1, 1), WIDEST)
    h, z_state = mg.single_gate_rnn(source, weight, descriptor=descriptor)
    assert h.item() == max(value, 0.0)
    gradients = mg.single_gate_rnn_gradients(source, weight, np.ones_like(h), z_state, descriptor=descriptor)
    assert gradients.source.item() == slope


@pytest.mark.float64
def test_linear_recurrence_in_closed_form():
    """f(a) = a and x = 0: h[t] = (R^(t+1))·h0, and the gradient of h0 is R transposed as often."""
    case = Case(family=SINGLE_GATE, shape=(4, 2, 3, 3), dtype="float64", options={"activation": "None"})
    weight = case.arrays()["recurrent_weight"]
    state = np.arange(6.0).reshape(2, 3)
    source = np.zeros((4, 2, 3))
    h, z_state = mg.single_gate_rnn(source, weight, init_state=state, descriptor=case.descriptor())
    np.testing.assert_allclose(h[-1], state @ np.linalg.matrix_power(weight.T, 4), rtol=1e-12, atol=1e-14)
    gradients = mg.single_gate_rnn_gradients(
        source, weight, None, z_state, state_gradient=state, init_state=state, descriptor=case.descriptor()
    )
    expected = state @ np.linalg.matrix_power(weight, 4)
    np.testing.assert_allclose(gradients.init_state, expected, rtol=1e-12, atol=1e-14)
