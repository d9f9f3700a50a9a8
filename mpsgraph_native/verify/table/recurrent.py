"""Recurrent operations and their gradients."""

from typing import Any

from mpsgraph_native.verify import recurrent
from mpsgraph_native.verify.recurrent import GRU, LSTM, SINGLE_GATE
from mpsgraph_native.verify.table.case import Case, Problem, shapes_of

_EVERY = "bias init_state init_cell input_weight mask peephole secondary_bias state_gradient cell_gradient"
_VARIANTS: tuple[tuple[Any, ...], ...] = (
    (GRU, "plain", (3, 2, 5, 7), "input_weight", {}, True),
    (GRU, "reset_after, all operands", (4, 3, 6, 8), _EVERY, {"reset_after": True}, True),
    (GRU, "flip_z, reset_gate_first, reverse", (5, 2, 4, 9), "input_weight bias",
     {"flip_z": True, "reset_gate_first": True, "reverse": True}, False),
    (GRU, "bidirectional, no input weight", (4, 3, 5, 6), "init_state bias", {"bidirectional": True}, False),
    (GRU, "bidirectional, reset_after, all operands", (3, 4, 6, 33), _EVERY,
     {"bidirectional": True, "reset_after": True}, False),
    (GRU, "reset_after", (20, 16, 32, 64), "input_weight bias secondary_bias", {"reset_after": True}, False),
    (LSTM, "plain", (3, 2, 5, 7), "input_weight", {}, True),
    (LSTM, "all operands", (4, 3, 6, 8), _EVERY, {}, True),
    (LSTM, "forget_gate_last, reverse", (5, 2, 4, 9), "input_weight bias",
     {"forget_gate_last": True, "reverse": True}, False),
    (LSTM, "bidirectional, all operands", (3, 4, 6, 33), _EVERY, {"bidirectional": True}, False),
    (LSTM, "hard gates, no input weight", (4, 2, 3, 5), "init_state init_cell",
     {"input_gate_activation": "HardSigmoid", "activation": "Sigmoid"}, False),
    (LSTM, "plain", (20, 16, 32, 64), "input_weight bias", {}, False),
    (SINGLE_GATE, "relu", (3, 2, 5, 7), "input_weight bias", {}, True),
    (SINGLE_GATE, "tanh, all operands", (4, 3, 6, 8), _EVERY, {"activation": "Tanh"}, True),
    (SINGLE_GATE, "sigmoid, reverse, no input weight", (5, 2, 4, 9), "", {"activation": "Sigmoid", "reverse": True}, False),
    (SINGLE_GATE, "bidirectional, all operands", (3, 4, 6, 33), _EVERY,
     {"activation": "Tanh", "bidirectional": True}, False),
)  # fmt: skip


def _forward_case(name, variant, quick):
    def build(dtype_name, device):
        case = variant(dtype_name)
        arrays, descriptor = case.arrays(), case.descriptor()
        *results, _ = case.family.reference_forward(**arrays, descriptor=descriptor)
        # The training state comes last and is the engine's own affair.
        return Problem((), arrays | {"descriptor": descriptor}, (*map(case.judged, results), None))

    return Case(variant("float32").family.name, name, build, quick=quick)


def _gradients_case(name, variant, quick):
    def build(dtype_name, device):
        case = variant(dtype_name)
        family, arrays, incoming, descriptor = case.family, case.arrays(), case.incoming(), case.descriptor()
        state = family.saved_from(family.reference_forward(**arrays, descriptor=descriptor))
        expected = family.reference_gradients(**arrays, **incoming, **state, descriptor=descriptor)
        saved = family.saved_from(family.forward(**arrays, descriptor=descriptor, device=device))
        keywords = arrays | incoming | saved | {"descriptor": descriptor}
        return Problem((), keywords, tuple(None if value is None else case.judged(value) for value in expected))

    return Case(f"{variant('float32').family.name}_gradients", name, build, quick=quick)


def cases():
    for family, name, shape, operands, options, quick in _VARIANTS:

        def variant(dtype_name, row=(family, shape, operands, options)):
            family, shape, operands, options = row
            known = {*family.optional, *family.final_gradients}
            present = frozenset(known.intersection(operands.split()))
            return recurrent.Case(family, shape, dtype_name, options, present)

        for case in (_forward_case, _gradients_case):
            yield case(f"{name} {shapes_of(shape)}", variant, quick)
