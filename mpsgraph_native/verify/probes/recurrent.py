"""What recurrent operations leave open: one unit, no input weight (the source holds the pre-activations), unless more is needed."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.probes.probe import Probe


def _steps(*rows):
    """[T, 1, channels]."""
    return np.float32(rows).reshape(len(rows), 1, -1)


def _sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def _square(*rows):
    return np.float32(rows).reshape(len(rows), -1)


_ONE = _square([1.0])
_GATES = (0.5, -1.0, 2.0, 1.0)  # pre-activations


# GRU: pre-activations of the update, the reset and the output gate, a state of 1, weights 0 but where the question needs them.


def _gru(*, weights=(0, 0, 0), gates=_GATES[:3], result=0, mask=None, **fields):
    def measure(device):
        return mg.gru(
            _steps(gates), _square(*weights), init_state=_ONE, mask=mask,
            descriptor=mg.GRUDescriptor(training=True, **fields), device=device,
        )[result].ravel()  # fmt: skip

    return measure


def _gru_state(z, r, o, *, weight=0.0, flip=False):
    """The state after one step from 1, given the pre-activations by their meaning; the weight is the output gate's."""
    keep = 1 - _sigmoid(z) if flip else _sigmoid(z)
    return [keep + (1 - keep) * np.tanh(o + weight * _sigmoid(r))]


def _gru_bidirectional_training_state(device):
    source = _steps((*_GATES[:3], *_GATES[1:]))
    descriptor = mg.GRUDescriptor(training=True, bidirectional=True)
    return mg.gru(source, np.zeros((2, 3, 1), np.float32), descriptor=descriptor, device=device)[1].ravel()


_TWO_STATES = np.float32([[1, 2]])
_EXCHANGE = np.float32([[0, 0]] * 4 + [[0, 1], [1, 0]])  # the output gate's weight exchanges two units
_TWO_RESETS = (0.3, -1.2)


def _gru_reset(**fields):
    """The output gate's recurrent part alone: the update gate keeps nothing, no activation of the output."""
    descriptor = mg.GRUDescriptor(update_gate_activation="None", output_gate_activation="None", training=True, **fields)

    def measure(device):
        source = _steps((0, 0, *_TWO_RESETS, 0, 0))
        secondary = np.float32([10, 20]) if descriptor.reset_after else None
        return mg.gru(
            source, _EXCHANGE, init_state=_TWO_STATES, secondary_bias=secondary, descriptor=descriptor, device=device
        )[0].ravel()

    return measure


def _gru_bias_gradients(pick, *, reset_after=True):
    """The gradients of a GRU of two units that has both biases."""
    descriptor = mg.GRUDescriptor(reset_after=reset_after, training=True)

    def measure(device):
        source, weights = np.full((2, 1, 6), 0.3, np.float32), np.full((6, 2), 0.2, np.float32)
        operands = {"bias": np.zeros(6, np.float32), "secondary_bias": np.zeros(2, np.float32)}
        h, z_state = mg.gru(source, weights, **operands, descriptor=descriptor, device=device)
        return pick(
            mg.gru_gradients(
                source, weights, np.ones_like(h), z_state, h, **operands, descriptor=descriptor, device=device
            )
        )

    return measure


# LSTM: pre-activations of the gates in order, cell -1, weights 0.


def _lstm(*, result=0, peephole=None, **fields):
    def measure(device):
        return mg.lstm(
            _steps(_GATES), np.zeros((4, 1), np.float32), init_cell=-_ONE,
            peephole=None if peephole is None else np.float32(peephole),
            descriptor=mg.LSTMDescriptor(training=True, **fields), device=device,
        )[result].ravel()  # fmt: skip

    return measure


def _lstm_state(i, f, z, o, *, peephole=None):
    """The state after one step, given the pre-activations by their meaning; `peephole` says which cell the output sees."""
    cell = -_sigmoid(f) + _sigmoid(i) * np.tanh(z)
    seen = {None: 0.0, "before": -1.0, "after": cell}[peephole]
    return [_sigmoid(o + 2 * seen) * np.tanh(cell)]


def _lstm_results(device):
    descriptor = mg.LSTMDescriptor(training=True)
    return len(mg.lstm(_steps(_GATES), np.zeros((4, 1), np.float32), descriptor=descriptor, device=device))


def _lstm_peephole_gradient_shape(device):
    descriptor = mg.LSTMDescriptor(training=True)
    source, weights = np.full((2, 1, 8), 0.3, np.float32), np.full((8, 2), 0.2, np.float32)
    peephole = np.zeros(8, np.float32)
    h, cell, z_state = mg.lstm(source, weights, peephole=peephole, descriptor=descriptor, device=device)
    gradients = mg.lstm_gradients(
        source, weights, np.ones_like(h), z_state, cell, peephole=peephole, descriptor=descriptor, device=device
    )
    return gradients.peephole.shape


# A single gate that sums: no activation, weight 1.


def _sums(*, weights=(1,), shape=(1, 1), columns=1, **fields):
    def measure(device):
        source = np.repeat(_steps([1], [2], [4]), columns, axis=-1)
        descriptor = mg.SingleGateRNNDescriptor(activation="None", **fields)
        return mg.single_gate_rnn(
            source, np.float32(weights).reshape(shape), descriptor=descriptor, device=device
        ).ravel()

    return measure


def _hard_sigmoid(device):
    descriptor = mg.SingleGateRNNDescriptor(activation="HardSigmoid")
    source = _steps([-3], [-1], [1], [2.75])
    return mg.single_gate_rnn(source, _square([0]), descriptor=descriptor, device=device).ravel()


def _single_gate_state(device):
    descriptor = mg.SingleGateRNNDescriptor(activation="Sigmoid", training=True)
    return mg.single_gate_rnn(_steps([2]), _square([0]), descriptor=descriptor, device=device)[1].ravel()


_Z, _R, _O = _GATES[:3]
_A, _B, _C, _D = _GATES
_RESETS = _sigmoid(_TWO_RESETS)
_BOTH = [[_sigmoid(z), _sigmoid(r), np.tanh(o)] for z, r, o in (_GATES[:3], _GATES[1:])]
_UP, _DOWN = [1, 3, 7], [7, 6, 4]  # sums over [1, 2, 4] in either direction, aligned with the source

PROBES = (
    Probe(
        "gru_flip_z_off",
        "What keeps the old state when flip_z is off?",
        _gru(),
        {"z: h = z∘h⁻ + (1 − z)∘o": _gru_state(_Z, _R, _O), "1 − z": _gru_state(_Z, _R, _O, flip=True)},
    ),
    Probe(
        "gru_flip_z_on",
        "What keeps the old state when flip_z is on?",
        _gru(flip_z=True),
        {"1 − z: h = (1 − z)∘h⁻ + z∘o": _gru_state(_Z, _R, _O, flip=True), "z": _gru_state(_Z, _R, _O)},
    ),
    Probe(
        "gru_gate_order",
        "In which order are the gates by default?",
        _gru(weights=(0, 0, 1)),
        {
            "[z, r, o]": _gru_state(_Z, _R, _O, weight=1),
            "[r, z, o]": _gru_state(_R, _Z, _O, weight=1),
        },
    ),
    Probe(
        "gru_gate_order_reset_gate_first",
        "In which order are the gates with reset_gate_first?",
        _gru(weights=(0, 0, 1), reset_gate_first=True),
        {
            "[r, z, o]": _gru_state(_R, _Z, _O, weight=1),
            "[z, r, o]": _gru_state(_Z, _R, _O, weight=1),
        },
    ),
    Probe(
        "gru_reset_before",
        "Where does the reset gate multiply when reset_after is off? Two units, the weight exchanges them.",
        _gru_reset(),
        {
            "the state, before the product": [2 * _RESETS[1], 1 * _RESETS[0]],
            "the product": [2 * _RESETS[0], 1 * _RESETS[1]],
        },
    ),
    Probe(
        "gru_reset_after",
        "What does the reset gate multiply when reset_after is on? The same, with secondary_bias.",
        _gru_reset(reset_after=True),
        {
            "the product and secondary_bias": [(2 + 10) * _RESETS[0], (1 + 20) * _RESETS[1]],
            "the product alone": [2 * _RESETS[0] + 10, 1 * _RESETS[1] + 20],
        },
    ),
    Probe(
        "gru_mask",
        "Does a mask of 0 hide the old state from the sum with the output as well?",
        _gru(mask=0 * _ONE),
        {"no, from the product alone": _gru_state(_Z, _R, _O), "yes": [(1 - _sigmoid(_Z)) * np.tanh(_O)]},
    ),
    Probe(
        "gru_training_state",
        "What does the training state hold?",
        _gru(result=1),
        {
            "gates after their activations, in order": [_sigmoid(_Z), _sigmoid(_R), np.tanh(_O)],
            "the same, the reset gate first": [_sigmoid(_R), _sigmoid(_Z), np.tanh(_O)],
            "gates before their activations": [_Z, _R, _O],
        },
        promised=False,
    ),
    Probe(
        "gru_bidirectional_training_state",
        "How does the training state of both directions lie in memory?",
        _gru_bidirectional_training_state,
        {
            "one direction after the other": [*_BOTH[0], *_BOTH[1]],
            "gate by gate": [value for pair in zip(*_BOTH, strict=True) for value in pair],
        },
        promised=False,
    ),
    Probe(
        "gru_bias_gradient_shape",
        "Which shape has the gradient of a bias of shape (6,)?",
        _gru_bias_gradients(lambda gradients: gradients.bias.shape),
        {"(6,)": (6,), "(1, 6)": (1, 6), "(1, 1, 6)": (1, 1, 6)},
    ),
    Probe(
        "gru_secondary_bias_gradient_shape",
        "Which shape has the gradient of a secondary_bias of shape (2,)?",
        _gru_bias_gradients(lambda gradients: gradients.secondary_bias.shape),
        {"(2,)": (2,), "(1, 2)": (1, 2), "(1, 1, 2)": (1, 1, 2)},
    ),
    Probe(
        "gru_secondary_bias_gradient_without_reset_after",
        "What is the gradient of a secondary_bias that does not count?",
        _gru_bias_gradients(lambda gradients: gradients.secondary_bias, reset_after=False),
        {"zeros": [0, 0]},
    ),
    Probe(
        "lstm_gate_order",
        "In which order are the gates by default?",
        _lstm(),
        {
            "[i, f, z, o]": _lstm_state(_A, _B, _C, _D),
            "[i, z, f, o]": _lstm_state(_A, _C, _B, _D),
            "[i, f, o, z]": _lstm_state(_A, _B, _D, _C),
        },
    ),
    Probe(
        "lstm_gate_order_forget_gate_last",
        "In which order are the gates with forget_gate_last?",
        _lstm(forget_gate_last=True),
        {
            "[i, z, f, o]": _lstm_state(_A, _C, _B, _D),
            "[i, f, z, o]": _lstm_state(_A, _B, _C, _D),
            "[i, z, o, f]": _lstm_state(_A, _D, _B, _C),
        },
    ),
    Probe(
        "lstm_peephole_of_the_output_gate",
        "Which cell does the output gate's peephole read?",
        _lstm(peephole=(0, 0, 0, 2)),
        {
            "c[t−1]": _lstm_state(_A, _B, _C, _D, peephole="before"),
            "c[t]": _lstm_state(_A, _B, _C, _D, peephole="after"),
        },
    ),
    Probe(
        "lstm_peephole_gradient_shape",
        "Which shape has the gradient of a peephole of shape (8,)?",
        _lstm_peephole_gradient_shape,
        {"(8,)": (8,), "(1, 8)": (1, 8), "(1, 1, 8)": (1, 1, 8)},
    ),
    Probe(
        "lstm_training_results",
        "How many results has training without produce_cell?",
        _lstm_results,
        {"three: h, cell, z_state": 3, "two": 2},
    ),
    Probe(
        "lstm_training_state",
        "What does the training state hold?",
        _lstm(result=2),
        {
            "gates after their activations, in order": [_sigmoid(_A), _sigmoid(_B), np.tanh(_C), _sigmoid(_D)],
            "gates before their activations": _GATES,
        },
        promised=False,
    ),
    Probe(
        "single_gate_training_state",
        "What does the training state hold?",
        _single_gate_state,
        {"the gate before its activation": [2], "the gate after its activation": [_sigmoid(2)]},
        promised=False,
    ),
    Probe(
        "hard_sigmoid",
        "Which constants has HardSigmoid? Of -3, -1, 1, 2.75.",
        _hard_sigmoid,
        {
            "0.2·a + 0.5": [0, 0.3, 0.7, 1],
            "a / 6 + 0.5": [0, 1 / 3, 2 / 3, 0.5 + 2.75 / 6],
            "0.25·a + 0.5": [0, 0.25, 0.75, 1],
            "0.5·a + 0.5": [0, 0, 1, 1],
        },
    ),
    Probe(
        "reverse_time_order",
        "At which time does `reverse` put its results? Running sums of [1, 2, 4].",
        _sums(reverse=True),
        {"aligned with the source": _DOWN, "in the order of processing": _DOWN[::-1], "not reversed": _UP},
    ),
    Probe(
        "bidirectional_layout",
        "Where are the results of both directions? Running sums of [1, 2, 4].",
        _sums(weights=(1, 1), shape=(2, 1, 1), columns=2, bidirectional=True),
        {
            "[forward, backward], aligned with the source": [1, 7, 3, 6, 7, 4],
            "[forward, backward], each in its own order": [1, 4, 3, 6, 7, 7],
            "[backward, forward], aligned with the source": [7, 1, 6, 3, 4, 7],
        },
    ),
)
