"""Recurrent networks and their gradients.

T time steps, N batch rows, I inputs, H units; G gates, whose blocks of H rows are stacked in the descriptor's order.
Bidirectional networks join both directions, forward half first: 2H for H in states and results, 2GH for GH in biases
and input weights, and a leading dimension 2 in recurrent weights and peepholes. Results are time aligned: entry t
belongs to source[t] in either direction, also with `reverse`, which bidirectional networks ignore.

All tensors are floating and of one dtype. Without `input_weight` the source holds the pre-activations, [T, N, GH].
The mask, [N, H], multiplies h[t−1] where it enters the recurrent product and nowhere else.
Forward results are arrays or, with `training` and `produce_cell` of the descriptor, tuples: what no annotation can tell.
Operations raise ShapeError naming the operand that does not fit the others, DTypeError for one of another dtype.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

import numpy as np

from mpsgraph_native._core.call import call, named
from mpsgraph_native.descriptors import GRUDescriptor, LSTMDescriptor, SingleGateRNNDescriptor
from mpsgraph_native.typing import Array, Destination, DeviceLike, ElementT, ResultT

__all__ = [
    "GRUGradients",
    "LSTMGradients",
    "SingleGateRNNGradients",
    "gru",
    "gru_gradients",
    "lstm",
    "lstm_gradients",
    "single_gate_rnn",
    "single_gate_rnn_gradients",
]


class GRUGradients(NamedTuple, Generic[ElementT]):
    """Gradients of a GRU's operands, each of its operand's shape; None for an absent operand."""

    source: ElementT
    recurrent_weight: ElementT
    input_weight: ElementT | None
    bias: ElementT | None
    init_state: ElementT | None
    secondary_bias: ElementT | None


class LSTMGradients(NamedTuple, Generic[ElementT]):
    """Gradients of an LSTM's operands, each of its operand's shape; None for an absent operand."""

    source: ElementT
    recurrent_weight: ElementT
    input_weight: ElementT | None
    bias: ElementT | None
    peephole: ElementT | None
    init_state: ElementT | None
    init_cell: ElementT | None


class SingleGateRNNGradients(NamedTuple, Generic[ElementT]):
    """Gradients of a single gate network's operands, each of its operand's shape; None for an absent operand."""

    source: ElementT
    recurrent_weight: ElementT
    input_weight: ElementT | None
    bias: ElementT | None
    init_state: ElementT | None


def gru(
    source: Array,
    recurrent_weight: Array,
    *,
    input_weight: Array | None = None,
    bias: Array | None = None,
    init_state: Array | None = None,
    mask: Array | None = None,
    secondary_bias: Array | None = None,
    descriptor: GRUDescriptor,
    out: Destination | tuple[Destination, ...] | None = None,
    device: DeviceLike | None = None,
) -> np.ndarray | Any:
    """h [T, N, H]; with `training` (h, z_state), z_state [T, N, 3H] being the gates after their activations.

    source [T, N, I], recurrent_weight R [3H, H], input_weight W [3H, I], bias b [3H], init_state [N, H],
    secondary_bias b2 [H], which counts with `reset_after` alone. Gates are [z, r, o], with `reset_gate_first`
    [r, z, o].
    With h⁻ = h[t−1], hm = h⁻∘mask:

        z = fz(hm·Rzᵀ + x·Wzᵀ + bz),  r = fr(hm·Rrᵀ + x·Wrᵀ + br)
        o = fo(c + x·Woᵀ + bo),  c = (hm·Roᵀ + b2)∘r with `reset_after`, (hm∘r)·Roᵀ without
        h = z∘h⁻ + (1 − z)∘o,  with `flip_z` (1 − z)∘h⁻ + z∘o

    All operands are floating and of one dtype. Raises ShapeError naming the operand that does not fit the others,
    DTypeError for one of another dtype.

    MPSGraph: GRUWithSourceTensor:recurrentWeight:inputWeight:bias:initState:mask:secondaryBias:descriptor:name:
    (macOS 13.0).
    """
    operands = (source, recurrent_weight, input_weight, bias, init_state, mask, secondary_bias)
    return call("gru", operands, out, device, descriptor)


def gru_gradients(
    source: Array,
    recurrent_weight: Array,
    source_gradient: Array | None,
    z_state: Array,
    output_fwd: Array,
    *,
    state_gradient: Array | None = None,
    input_weight: Array | None = None,
    bias: Array | None = None,
    init_state: Array | None = None,
    mask: Array | None = None,
    secondary_bias: Array | None = None,
    descriptor: GRUDescriptor,
    out: tuple[ResultT, ...] | None = None,
    device: DeviceLike | None = None,
) -> GRUGradients[ResultT]:
    """GRUGradients of a loss, given its gradients of h (source_gradient [T, N, H]) and, past the last step, of the
    final h (state_gradient [N, H]); one of them may be None for zeros, both raise ShapeError.

    Of each operand p: the sum over t of source_gradient[t] · ∂h[t]/∂p, plus state_gradient · ∂h[T−1]/∂p.

    z_state and output_fwd are the results of `gru` with `training`; the other operands are those it had.
    Without `reset_after` the gradient of secondary_bias is zeros. `out` takes the present gradients in order.

    All operands are floating and of one dtype. Raises ShapeError naming the operand that does not fit the others,
    DTypeError for one of another dtype.

    MPSGraph: GRUGradientsWithSourceTensor:recurrentWeight:sourceGradient:zState:outputFwd:stateGradient:inputWeight:
    bias:initState:mask:secondaryBias:descriptor:name: (macOS 13.0).
    """
    operands = (source, recurrent_weight, source_gradient, z_state, output_fwd, state_gradient, input_weight, bias,
                init_state, mask, secondary_bias)  # fmt: skip
    results = call("gru_gradients", operands, out, device, descriptor)
    differentiable = (source, recurrent_weight, input_weight, bias, init_state, secondary_bias)
    return named(GRUGradients, differentiable, results)


def lstm(
    source: Array,
    recurrent_weight: Array,
    *,
    input_weight: Array | None = None,
    bias: Array | None = None,
    init_state: Array | None = None,
    init_cell: Array | None = None,
    mask: Array | None = None,
    peephole: Array | None = None,
    descriptor: LSTMDescriptor,
    out: Destination | tuple[Destination, ...] | None = None,
    device: DeviceLike | None = None,
) -> np.ndarray | Any:
    """h [T, N, H]; (h, cell) with `produce_cell`; (h, cell, z_state) with `training`, whatever `produce_cell` is.
    cell is [T, N, H], z_state [T, N, 4H] the gates after their activations.

    source [T, N, I], recurrent_weight R [4H, H], input_weight W [4H, I], bias b [4H], init_state and init_cell [N, H],
    peephole p [4H]. Gates are [i, f, z, o], with `forget_gate_last` [i, z, f, o]; z is the cell candidate.
    With h⁻ = h[t−1], c⁻ = c[t−1]:

        [i, f, z, o] = f_gate((h⁻∘mask)·Rᵀ + x·Wᵀ + b + p∘c⁻)
        c = f∘c⁻ + i∘z,  h = o∘activation(c)

    All operands are floating and of one dtype. Raises ShapeError naming the operand that does not fit the others,
    DTypeError for one of another dtype.

    MPSGraph: LSTMWithSourceTensor:recurrentWeight:inputWeight:bias:initState:initCell:mask:peephole:descriptor:name:
    (macOS 12.3).
    """
    operands = (source, recurrent_weight, input_weight, bias, init_state, init_cell, mask, peephole)
    return call("lstm", operands, out, device, descriptor)


def lstm_gradients(
    source: Array,
    recurrent_weight: Array,
    source_gradient: Array | None,
    z_state: Array,
    cell_output_fwd: Array,
    *,
    state_gradient: Array | None = None,
    cell_gradient: Array | None = None,
    input_weight: Array | None = None,
    bias: Array | None = None,
    init_state: Array | None = None,
    init_cell: Array | None = None,
    mask: Array | None = None,
    peephole: Array | None = None,
    descriptor: LSTMDescriptor,
    out: tuple[ResultT, ...] | None = None,
    device: DeviceLike | None = None,
) -> LSTMGradients[ResultT]:
    """LSTMGradients of a loss, given its gradients of h (source_gradient [T, N, H]) and, past the last step, of the
    final h and c (state_gradient and cell_gradient [N, H]); None counts as zeros, None for all raises ShapeError.

    Of each operand p: the sum over t of source_gradient[t] · ∂h[t]/∂p, plus state_gradient · ∂h[T−1]/∂p and
    cell_gradient · ∂c[T−1]/∂p.

    z_state and cell_output_fwd are the results of `lstm` with `training`; the other operands are those it had.
    `out` takes the present gradients in order.

    All operands are floating and of one dtype. Raises ShapeError naming the operand that does not fit the others,
    DTypeError for one of another dtype.

    MPSGraph: LSTMGradientsWithSourceTensor:recurrentWeight:sourceGradient:zState:cellOutputFwd:stateGradient:
    cellGradient:inputWeight:bias:initState:initCell:mask:peephole:descriptor:name: (macOS 12.3).
    """
    operands = (source, recurrent_weight, source_gradient, z_state, cell_output_fwd, state_gradient, cell_gradient,
                input_weight, bias, init_state, init_cell, mask, peephole)  # fmt: skip
    results = call("lstm_gradients", operands, out, device, descriptor)
    differentiable = (source, recurrent_weight, input_weight, bias, peephole, init_state, init_cell)
    return named(LSTMGradients, differentiable, results)


def single_gate_rnn(
    source: Array,
    recurrent_weight: Array,
    *,
    input_weight: Array | None = None,
    bias: Array | None = None,
    init_state: Array | None = None,
    mask: Array | None = None,
    descriptor: SingleGateRNNDescriptor,
    out: Destination | tuple[Destination, ...] | None = None,
    device: DeviceLike | None = None,
) -> np.ndarray | Any:
    """h [T, N, H]; with `training` (h, z_state), z_state [T, N, H] being the gate before its activation.

    source [T, N, I], recurrent_weight R [H, H], input_weight W [H, I], bias b [H], init_state [N, H].
    z = (h[t−1]∘mask)·Rᵀ + x·Wᵀ + b,  h = activation(z).

    All operands are floating and of one dtype. Raises ShapeError naming the operand that does not fit the others,
    DTypeError for one of another dtype.

    MPSGraph: singleGateRNNWithSourceTensor:recurrentWeight:inputWeight:bias:initState:mask:descriptor:name:
    (macOS 12.3).
    """
    operands = (source, recurrent_weight, input_weight, bias, init_state, mask)
    return call("single_gate_rnn", operands, out, device, descriptor)


def single_gate_rnn_gradients(
    source: Array,
    recurrent_weight: Array,
    source_gradient: Array | None,
    z_state: Array,
    *,
    state_gradient: Array | None = None,
    input_weight: Array | None = None,
    bias: Array | None = None,
    init_state: Array | None = None,
    mask: Array | None = None,
    descriptor: SingleGateRNNDescriptor,
    out: tuple[ResultT, ...] | None = None,
    device: DeviceLike | None = None,
) -> SingleGateRNNGradients[ResultT]:
    """SingleGateRNNGradients of a loss, given its gradients of h (source_gradient [T, N, H]) and, past the last step,
    of the final h (state_gradient [N, H]); one of them may be None for zeros, both raise ShapeError.

    Of each operand p: the sum over t of source_gradient[t] · ∂h[t]/∂p, plus state_gradient · ∂h[T−1]/∂p.

    z_state is the second result of `single_gate_rnn` with `training`; the other operands are those it had.
    `out` takes the present gradients in order.

    All operands are floating and of one dtype. Raises ShapeError naming the operand that does not fit the others,
    DTypeError for one of another dtype.

    MPSGraph: singleGateRNNGradientsWithSourceTensor:recurrentWeight:sourceGradient:zState:stateGradient:inputWeight:
    bias:initState:mask:descriptor:name: (macOS 12.3).
    """
    operands = (source, recurrent_weight, source_gradient, z_state, state_gradient, input_weight, bias, init_state,
                mask)  # fmt: skip
    results = call("single_gate_rnn_gradients", operands, out, device, descriptor)
    return named(SingleGateRNNGradients, (source, recurrent_weight, input_weight, bias, init_state), results)
