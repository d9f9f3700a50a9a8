"""What only the LSTM has: the cell, its results, its gate order and the peephole."""

import numpy as np
import pytest
from cases.recurrent_sweep import LSTM, Case, assert_nearly_equal, full

import mpsgraph_native as mg


def run(case, arrays, **options):
    return mg.lstm(**arrays, descriptor=LSTM.descriptor(**(case.options | options)))


@pytest.mark.parametrize(
    ("training", "produce_cell", "count"), [(False, False, 1), (False, True, 2), (True, False, 3), (True, True, 3)]
)
def test_number_of_results(training, produce_cell, count):
    """h alone; (h, cell) with produce_cell; (h, cell, z_state) with training, whatever produce_cell is."""
    case = full(LSTM)
    results = run(case, case.arrays(), training=training, produce_cell=produce_cell)
    if count == 1:
        assert isinstance(results, np.ndarray)
        return
    assert isinstance(results, tuple)
    t, n, _, h = case.shape
    assert [result.shape for result in results] == [(t, n, h), (t, n, h), (t, n, 4 * h)][:count]


def test_results_do_not_depend_on_how_many_are_asked():
    case = full(LSTM)
    arrays = case.arrays()
    h, cell, _ = run(case, arrays, training=True)
    assert_nearly_equal(run(case, arrays), h)
    for actual, expected in zip(run(case, arrays, produce_cell=True), (h, cell), strict=True):
        assert_nearly_equal(actual, expected)


def test_gate_order_is_only_an_order():
    """[i, f, z, o] by default, [i, z, f, o] with forget_gate_last."""
    case = full(LSTM)
    arrays = case.arrays()

    def swap(array, axis=0):
        blocks = np.split(array, 4, axis=axis)
        return np.concatenate([blocks[k] for k in (0, 2, 1, 3)], axis=axis)

    names = ("recurrent_weight", "input_weight", "bias", "peephole")
    swapped = arrays | {name: swap(arrays[name]) for name in names}
    h, cell, z_state = run(case, arrays, training=True)
    permuted = run(case, swapped, training=True, forget_gate_last=True)
    for actual, expected in zip(permuted, (h, cell, swap(z_state, axis=-1)), strict=True):
        assert_nearly_equal(actual, expected)


@pytest.mark.float64
def test_cell_and_state_follow_from_the_gates():
    """c = f∘c⁻ + i∘z, h = o∘tanh(c)."""
    case = full(LSTM, dtype="float64")
    arrays = case.arrays()
    h, cell, z_state = run(case, arrays, training=True)
    i, f, z, o = np.split(z_state, 4, axis=-1)
    before = np.concatenate([arrays["init_cell"][None], cell[:-1]])
    np.testing.assert_allclose(cell, f * before + i * z, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(h, o * np.tanh(cell), rtol=1e-12, atol=1e-13)


@pytest.mark.float64
def test_peephole_reads_the_previous_cell_for_every_gate():
    """a_k = x·Wᵀ + hm·Rᵀ + b + p_k∘c⁻, the output gate included."""
    case = full(LSTM, shape=(1, 2, 3, 5), dtype="float64")
    arrays = case.arrays()
    *_, z_state = run(case, arrays, training=True)
    masked = arrays["init_state"] * arrays["mask"]
    pre = arrays["source"][0] @ arrays["input_weight"].T + masked @ arrays["recurrent_weight"].T + arrays["bias"]
    pre += arrays["peephole"] * np.tile(arrays["init_cell"], 4)
    output_gate = 1 / (1 + np.exp(-pre[:, -5:]))
    np.testing.assert_allclose(z_state[0][:, -5:], output_gate, rtol=1e-12, atol=1e-13)


def test_zero_peephole_changes_nothing():
    case = Case(family=LSTM, operands=frozenset({"input_weight", "bias"}))
    arrays = case.arrays()
    zero = arrays | {"peephole": np.zeros(4 * case.shape[3], np.float32)}
    assert_nearly_equal(run(case, zero), run(case, arrays))


@pytest.mark.float64
def test_cell_gradient_enters_at_the_last_step():
    """The gradient of Σ c_final∘cell_gradient: only the last processed step of the cell is reached."""
    case = Case(family=LSTM, operands=frozenset({"input_weight", "init_cell"}), dtype="float64", shape=(1, 2, 3, 5))
    arrays = case.arrays()
    h, cell, z_state = run(case, arrays, training=True)
    cell_gradient = np.linspace(-1, 1, cell[0].size).reshape(cell[0].shape)
    gradients = mg.lstm_gradients(
        **arrays, source_gradient=np.zeros_like(h), z_state=z_state, cell_output_fwd=cell,
        cell_gradient=cell_gradient, descriptor=LSTM.descriptor(training=True),
    )  # fmt: skip
    forget = np.split(z_state[0], 4, axis=-1)[1]
    np.testing.assert_allclose(gradients.init_cell, cell_gradient * forget, rtol=1e-12, atol=1e-13)
