"""The recurrent operations against torch: forward and every gradient, one and two directions."""

import numpy as np
import pytest

import mpsgraph_native as mg

torch = pytest.importorskip("torch")

SHAPES = [(1, 1, 1, 1), (6, 3, 5, 7), (12, 9, 16, 33)]
MODULES = {
    "gru": lambda i, h, **k: torch.nn.GRU(i, h, **k),
    "lstm": lambda i, h, **k: torch.nn.LSTM(i, h, **k),
    "tanh": lambda i, h, **k: torch.nn.RNN(i, h, nonlinearity="tanh", **k),
    "relu": lambda i, h, **k: torch.nn.RNN(i, h, nonlinearity="relu", **k),
}


class Judge:
    """A torch module, its parameters in MPSGraph's layout, and its gradients in the same layout."""

    def __init__(self, kind, shape, *, bidirectional, bias):
        t, n, i, h = shape
        self.hidden, self.directions, self.kind, self.has_bias = h, 2 if bidirectional else 1, kind, bias
        torch.manual_seed(7)
        self.module = MODULES[kind](i, h, bidirectional=bidirectional, bias=bias, dtype=torch.float64)
        self.source = torch.randn(t, n, i, dtype=torch.float64, requires_grad=True)
        states = 2 if kind == "lstm" else 1
        self.states = [
            torch.randn(self.directions, n, h, dtype=torch.float64, requires_grad=True) for _ in range(states)
        ]
        self.source_gradient = torch.randn(t, n, self.directions * h, dtype=torch.float64)
        self.final_gradients = [torch.randn(self.directions, n, h, dtype=torch.float64) for _ in range(states)]
        initial = tuple(self.states) if kind == "lstm" else self.states[0]
        self.output, final = self.module(self.source, initial)
        finals = final if kind == "lstm" else (final,)
        torch.autograd.backward([self.output, *finals], [self.source_gradient, *self.final_gradients])

    def parameters(self, name, *, gradient=False):
        suffixes = ("", "_reverse")[: self.directions]
        found = [getattr(self.module, f"{name}_l0{suffix}") for suffix in suffixes]
        return [(p.grad if gradient else p.detach()).numpy() for p in found]

    @staticmethod
    def side_by_side(tensor):
        """[D, N, H] as [N, D·H]."""
        return np.concatenate(list(tensor.detach().numpy()), axis=-1)

    def operands(self, *, gradient=False):
        """The operands, or torch's gradients of them, under the operation's names."""
        weights = self.parameters("weight_hh", gradient=gradient)
        operands = {
            "source": (self.source.grad if gradient else self.source.detach()).numpy(),
            "recurrent_weight": np.stack(weights) if self.directions == 2 else weights[0],
            "input_weight": np.concatenate(self.parameters("weight_ih", gradient=gradient)),
        }
        for name, state in zip(("init_state", "init_cell"), self.states, strict=False):
            operands[name] = self.side_by_side(state.grad if gradient else state)
        if self.has_bias:
            operands |= self.biases(gradient)
        return operands

    def biases(self, gradient):
        """b = b_ih + b_hh, but a GRU's b_hn stays inside the reset product: it is the secondary bias."""
        first, second = (self.parameters(name, gradient=gradient) for name in ("bias_ih", "bias_hh"))
        candidate = slice(2 * self.hidden, None)
        secondary = {"secondary_bias": np.concatenate([b[candidate] for b in second])} if self.kind == "gru" else {}
        if gradient:
            return {"bias": np.concatenate(first)} | secondary
        outside = [b.copy() for b in second]
        if self.kind == "gru":
            for b in outside:
                b[candidate] = 0
        return {"bias": np.concatenate([a + b for a, b in zip(first, outside, strict=True)])} | secondary

    def incoming(self):
        names = ("state_gradient", "cell_gradient")
        finals = {name: self.side_by_side(g) for name, g in zip(names, self.final_gradients, strict=False)}
        return {"source_gradient": self.source_gradient.numpy()} | finals

    def descriptor(self):
        common = {"training": True, "bidirectional": self.directions == 2}
        if self.kind == "gru":
            return mg.GRUDescriptor(reset_gate_first=True, reset_after=True, **common)
        if self.kind == "lstm":
            return mg.LSTMDescriptor(produce_cell=True, **common)
        return mg.SingleGateRNNDescriptor(activation=self.kind.capitalize(), **common)


def forward_and_gradients(kind, operands, incoming, descriptor):
    if kind == "gru":
        h, z_state = mg.gru(**operands, descriptor=descriptor)
        saved = {"z_state": z_state, "output_fwd": h}
        return h, mg.gru_gradients(**operands, **incoming, **saved, descriptor=descriptor)
    if kind == "lstm":
        h, cell, z_state = mg.lstm(**operands, descriptor=descriptor)
        saved = {"z_state": z_state, "cell_output_fwd": cell}
        return h, mg.lstm_gradients(**operands, **incoming, **saved, descriptor=descriptor)
    h, z_state = mg.single_gate_rnn(**operands, descriptor=descriptor)
    return h, mg.single_gate_rnn_gradients(**operands, **incoming, z_state=z_state, descriptor=descriptor)


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bidirectional", [False, True], ids=["unidirectional", "bidirectional"])
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_against_autograd(kind, shape, bidirectional, bias):
    judge = Judge(kind, shape, bidirectional=bidirectional, bias=bias)
    h, gradients = forward_and_gradients(kind, judge.operands(), judge.incoming(), judge.descriptor())
    np.testing.assert_allclose(h, judge.output.detach().numpy(), rtol=1e-11, atol=1e-12)
    expected = judge.operands(gradient=True)
    for name, actual in zip(gradients._fields, gradients, strict=True):
        if name in expected:
            np.testing.assert_allclose(actual, expected[name], rtol=1e-10, atol=1e-11, err_msg=name)
        else:
            assert actual is None, name
