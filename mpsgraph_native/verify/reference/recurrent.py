"""Float64 references of the recurrent operations: plain loops over time.

Layout: source [T, N, I], gates stacked in blocks of H rows, one direction after the other when bidirectional.
Every result is time aligned: entry t belongs to source[t] whatever the direction of travel.
"""

import numpy as np

from mpsgraph_native.ops.recurrent import GRUGradients, LSTMGradients, SingleGateRNNGradients

ACTIVATIONS = {
    "None": lambda a: a,
    "Relu": lambda a: np.maximum(a, 0.0),
    "Tanh": np.tanh,
    "Sigmoid": lambda a: 1.0 / (1.0 + np.exp(-a)),
    "HardSigmoid": lambda a: np.clip(0.2 * a + 0.5, 0.0, 1.0),
}

DERIVATIVES = {
    "None": np.ones_like,
    "Relu": lambda y: (y > 0).astype(np.float64),
    "Tanh": lambda y: 1.0 - y * y,
    "Sigmoid": lambda y: y * (1.0 - y),
    "HardSigmoid": lambda y: 0.2 * ((y > 0) & (y < 1)),
}


def activate(activation, value):
    """f(a) of an `RNNActivation` member."""
    return ACTIVATIONS[activation.name](value)


def derivative(activation, value):
    """f'(a) expressed by y = f(a)."""
    return DERIVATIVES[activation.name](value)


def _float64(array):
    return None if array is None else np.asarray(array).astype(np.float64)


class _Direction:
    """The operands of one direction as float64, and the order in which it visits time."""

    def __init__(self, index, descriptor, source, recurrent_weight, input_weight, **optional):
        count = 2 if descriptor.bidirectional else 1
        backward = index == 1 if descriptor.bidirectional else descriptor.reverse

        def part(array, axis):
            array = _float64(array)
            return None if array is None else np.split(array, count, axis=axis)[index]

        recurrent_weight = _float64(recurrent_weight)
        self.r = recurrent_weight[index] if descriptor.bidirectional else recurrent_weight
        self.hidden = self.r.shape[-1]
        self.w = part(input_weight, 0)
        self.x = _float64(source) if self.w is not None else part(source, -1)
        self.length, self.batch = self.x.shape[:2]
        self.b = part(optional.get("bias"), 0)
        self.secondary_bias = part(optional.get("secondary_bias"), 0)
        peephole = _float64(optional.get("peephole"))
        self.peephole = peephole[index] if peephole is not None and descriptor.bidirectional else peephole
        for name in ("init_state", "init_cell", "mask", "z_state", "output_fwd", "cell_output_fwd",
                     "source_gradient", "state_gradient", "cell_gradient"):  # fmt: skip
            setattr(self, name, part(optional.get(name), -1))
        self.steps = list(range(self.length))[:: -1 if backward else 1]

    def zeros(self):
        return np.zeros((self.batch, self.hidden))

    def or_zeros(self, name):
        value = getattr(self, name)
        return self.zeros() if value is None else value

    def masked(self, state):
        return state if self.mask is None else state * self.mask

    def projection(self, t):
        """x[t]·Wᵀ + b; without W the source already holds it."""
        value = self.x[t] if self.w is None else self.x[t] @ self.w.T
        return value if self.b is None else value + self.b

    def source_gradient_at(self, gates_gradient):
        return gates_gradient if self.w is None else gates_gradient @ self.w

    def gate_rows(self, order):
        return {gate: slice(k * self.hidden, (k + 1) * self.hidden) for k, gate in enumerate(order)}

    def incoming(self, t):
        return self.zeros() if self.source_gradient is None else self.source_gradient[t]

    def previous(self, stored, position, initial):
        """The stored state of the step before `steps[position]`."""
        return stored[self.steps[position - 1]] if position else self.or_zeros(initial)


def _directions(descriptor, *operands, **optional):
    count = 2 if descriptor.bidirectional else 1
    return [_Direction(index, descriptor, *operands, **optional) for index in range(count)]


def _join(parts):
    """Joins what each direction gives on the channel axis."""
    return tuple(np.concatenate(pieces, axis=-1) for pieces in zip(*parts, strict=True))


def _results(descriptor, values, *, with_cell=False):
    h, *cell, z_state = values
    results = [h]
    if with_cell:
        results += cell
    if descriptor.training:
        results.append(z_state)
    return results[0] if len(results) == 1 else tuple(results)


class _Accumulators:
    """The sums over time which all recurrent gradients share: dR, dW, db and dx, of one direction."""

    def __init__(self, direction):
        self.direction = direction
        self.recurrent_weight = np.zeros_like(direction.r)
        self.input_weight = None if direction.w is None else np.zeros_like(direction.w)
        self.bias = None if direction.b is None else np.zeros_like(direction.b)
        self.source = np.zeros_like(direction.x)
        self.init_state = None

    def add(self, t, gates_gradient):
        """db += Σ a', dW += a'ᵀ·x, dx = a'·W."""
        direction = self.direction
        if self.bias is not None:
            self.bias += gates_gradient.sum(axis=0)
        if self.input_weight is not None:
            self.input_weight += gates_gradient.T @ direction.x[t]
        self.source[t] = direction.source_gradient_at(gates_gradient)


def _merge(descriptor, parts, given):
    """Joins the directions' accumulators into the gradients of the operands that were given."""

    def joined(name, axis):
        pieces = [getattr(part, name) for part in parts]
        return np.concatenate(pieces, axis=axis)

    def stacked(name):
        pieces = [getattr(part, name) for part in parts]
        return np.stack(pieces) if descriptor.bidirectional else pieces[0]

    identity = given.get("input_weight") is None
    gradients = {
        "source": joined("source", -1) if identity else sum(part.source for part in parts),
        "recurrent_weight": stacked("recurrent_weight"),
    }
    for name in ("input_weight", "bias", "secondary_bias", "init_state", "init_cell"):
        if name in given:
            axis = -1 if name.startswith("init") else 0
            gradients[name] = None if given[name] is None else joined(name, axis)
    if "peephole" in given:
        gradients["peephole"] = None if given["peephole"] is None else stacked("peephole")
    return gradients


def _check_incoming(source_gradient, state_gradient):
    if source_gradient is None and state_gradient is None:
        raise ValueError("source_gradient and state_gradient are both None")


# GRU


def _gru_order(descriptor):
    return "rzo" if descriptor.reset_gate_first else "zro"


def _gru_direction(descriptor, d):
    """z = fz(hm·Rzᵀ + x·Wzᵀ + bz), r likewise; o = fo(c + x·Woᵀ + bo);
    c = (hm·Roᵀ + b2)∘r with reset_after, (h⁻∘r∘m)·Roᵀ without;
    h = z∘h⁻ + (1−z)∘o, roles of z and 1−z exchanged with flip_z."""
    rows = d.gate_rows(_gru_order(descriptor))
    outputs = np.zeros((d.length, d.batch, d.hidden))
    gates = np.zeros((d.length, d.batch, 3 * d.hidden))
    h = d.or_zeros("init_state")
    for t in d.steps:
        projection = d.projection(t)
        masked = d.masked(h)
        z = activate(descriptor.update_gate_activation, projection[:, rows["z"]] + masked @ d.r[rows["z"]].T)
        r = activate(descriptor.reset_gate_activation, projection[:, rows["r"]] + masked @ d.r[rows["r"]].T)
        if descriptor.reset_after:
            c = (masked @ d.r[rows["o"]].T + (0.0 if d.secondary_bias is None else d.secondary_bias)) * r
        else:
            c = (masked * r) @ d.r[rows["o"]].T
        o = activate(descriptor.output_gate_activation, projection[:, rows["o"]] + c)
        keep = 1.0 - z if descriptor.flip_z else z
        h = keep * h + (1.0 - keep) * o
        outputs[t] = h
        for gate, value in zip("zro", (z, r, o), strict=True):
            gates[t][:, rows[gate]] = value
    return outputs, gates


def gru(source, recurrent_weight, *, input_weight=None, bias=None, init_state=None, mask=None,
        secondary_bias=None, descriptor):  # fmt: skip
    """h, with `training` (h, z_state); z_state holds the post-activation gates in the descriptor's order."""
    directions = _directions(descriptor, source, recurrent_weight, input_weight, bias=bias, init_state=init_state,
                             mask=mask, secondary_bias=secondary_bias)  # fmt: skip
    return _results(descriptor, _join(_gru_direction(descriptor, d) for d in directions))


def _gru_direction_gradients(descriptor, d):
    """G = source_gradient + G⁺; flip_z False: dz = G∘(h⁻−o), do = G∘(1−z), dh⁻ = G∘z; then the chain
    rule through o, r and z, each adding its a'·R to dh⁻, which is the next G⁺."""
    rows = d.gate_rows(_gru_order(descriptor))
    sums = _Accumulators(d)
    sums.secondary_bias = np.zeros(d.hidden)
    carry = d.or_zeros("state_gradient")
    for position in reversed(range(d.length)):
        t = d.steps[position]
        z, r, o = (d.z_state[t][:, rows[gate]] for gate in "zro")
        before = d.previous(d.output_fwd, position, "init_state")
        masked = d.masked(before)
        total = d.incoming(t) + carry
        keep = 1.0 - z if descriptor.flip_z else z
        d_keep = total * (before - o)
        d_z = (-d_keep if descriptor.flip_z else d_keep) * derivative(descriptor.update_gate_activation, z)
        d_o = total * (1.0 - keep) * derivative(descriptor.output_gate_activation, o)
        d_before = total * keep
        r_o = d.r[rows["o"]]
        if descriptor.reset_after:
            q = masked @ r_o.T + (0.0 if d.secondary_bias is None else d.secondary_bias)
            d_q = d_o * r
            d_r = d_o * q
            sums.secondary_bias += d_q.sum(axis=0)
            sums.recurrent_weight[rows["o"]] += d_q.T @ masked
            d_masked = d_q @ r_o
        else:
            d_u = d_o @ r_o
            d_r = d_u * masked
            sums.recurrent_weight[rows["o"]] += d_o.T @ (masked * r)
            d_masked = d_u * r
        d_r = d_r * derivative(descriptor.reset_gate_activation, r)
        sums.recurrent_weight[rows["z"]] += d_z.T @ masked
        sums.recurrent_weight[rows["r"]] += d_r.T @ masked
        d_masked = d_masked + d_z @ d.r[rows["z"]] + d_r @ d.r[rows["r"]]
        carry = d_before + d.masked(d_masked)
        gates_gradient = np.zeros_like(d.z_state[t])
        for gate, value in zip("zro", (d_z, d_r, d_o), strict=True):
            gates_gradient[:, rows[gate]] = value
        sums.add(t, gates_gradient)
    sums.init_state = carry
    return sums


def gru_gradients(source, recurrent_weight, source_gradient=None, z_state=None, output_fwd=None, *,
                  state_gradient=None, input_weight=None, bias=None, init_state=None, mask=None,
                  secondary_bias=None, descriptor):  # fmt: skip
    """Gradients from the gates and states which the operation is given, None for absent operands."""
    _check_incoming(source_gradient, state_gradient)
    directions = _directions(descriptor, source, recurrent_weight, input_weight, bias=bias, init_state=init_state,
                             mask=mask, secondary_bias=secondary_bias, z_state=z_state, output_fwd=output_fwd,
                             source_gradient=source_gradient, state_gradient=state_gradient)  # fmt: skip
    given = {"input_weight": input_weight, "bias": bias, "init_state": init_state, "secondary_bias": secondary_bias}
    return GRUGradients(**_merge(descriptor, [_gru_direction_gradients(descriptor, d) for d in directions], given))


# LSTM


def _lstm_gates(descriptor):
    order = "izfo" if descriptor.forget_gate_last else "ifzo"
    activations = {
        "i": descriptor.input_gate_activation,
        "f": descriptor.forget_gate_activation,
        "z": descriptor.cell_gate_activation,
        "o": descriptor.output_gate_activation,
    }
    return order, activations


def _lstm_direction(descriptor, d):
    """[i,f,z,o] = f_k(hm·Rᵀ + x·Wᵀ + b + p∘c⁻); c = f∘c⁻ + i∘z; h = o∘g(c)."""
    order, activations = _lstm_gates(descriptor)
    rows = d.gate_rows(order)
    outputs, cells = (np.zeros((d.length, d.batch, d.hidden)) for _ in range(2))
    gates = np.zeros((d.length, d.batch, 4 * d.hidden))
    h, cell = d.or_zeros("init_state"), d.or_zeros("init_cell")
    for t in d.steps:
        pre = d.projection(t) + d.masked(h) @ d.r.T
        if d.peephole is not None:
            pre = pre + d.peephole * np.tile(cell, 4)
        for gate in order:
            gates[t][:, rows[gate]] = activate(activations[gate], pre[:, rows[gate]])
        i, f, z, o = (gates[t][:, rows[gate]] for gate in "ifzo")
        cell = f * cell + i * z
        h = o * activate(descriptor.activation, cell)
        outputs[t], cells[t] = h, cell
    return outputs, cells, gates


def lstm(source, recurrent_weight, *, input_weight=None, bias=None, init_state=None, init_cell=None, mask=None,
         peephole=None, descriptor):  # fmt: skip
    """h; (h, cell) with `produce_cell`; (h, cell, z_state) with `training`."""
    directions = _directions(descriptor, source, recurrent_weight, input_weight, bias=bias, init_state=init_state,
                             init_cell=init_cell, mask=mask, peephole=peephole)  # fmt: skip
    values = _join(_lstm_direction(descriptor, d) for d in directions)
    return _results(descriptor, values, with_cell=descriptor.produce_cell or descriptor.training)


def _lstm_direction_gradients(descriptor, d):
    """do = G∘g(c); dc = C⁺ + G∘o∘g'(c); di = dc∘z; dz = dc∘i; df = dc∘c⁻; a'_k = d_k∘f_k';
    C⁺ = dc∘f + Σ_k a'_k∘p_k; G⁺ = (a'·R)∘m. h⁻ is recomputed as o∘g(c) of the step before."""
    order, activations = _lstm_gates(descriptor)
    rows = d.gate_rows(order)
    sums = _Accumulators(d)
    sums.peephole = np.zeros(4 * d.hidden)
    carry, cell_carry = d.or_zeros("state_gradient"), d.or_zeros("cell_gradient")
    states = d.z_state[..., rows["o"]] * activate(descriptor.activation, d.cell_output_fwd)
    for position in reversed(range(d.length)):
        t = d.steps[position]
        i, f, z, o = (d.z_state[t][:, rows[gate]] for gate in "ifzo")
        masked = d.masked(d.previous(states, position, "init_state"))
        cell_before = d.previous(d.cell_output_fwd, position, "init_cell")
        squashed = activate(descriptor.activation, d.cell_output_fwd[t])
        total = d.incoming(t) + carry
        d_cell = cell_carry + total * o * derivative(descriptor.activation, squashed)
        by_gate = {"i": d_cell * z, "f": d_cell * cell_before, "z": d_cell * i, "o": total * squashed}
        gates_gradient = np.zeros_like(d.z_state[t])
        for gate in order:
            values = d.z_state[t][:, rows[gate]]
            gates_gradient[:, rows[gate]] = by_gate[gate] * derivative(activations[gate], values)
        cell_carry = d_cell * f
        if d.peephole is not None:
            for gate in order:
                cell_carry = cell_carry + gates_gradient[:, rows[gate]] * d.peephole[rows[gate]]
            sums.peephole += (gates_gradient * np.tile(cell_before, 4)).sum(axis=0)
        sums.recurrent_weight += gates_gradient.T @ masked
        carry = d.masked(gates_gradient @ d.r)
        sums.add(t, gates_gradient)
    sums.init_state, sums.init_cell = carry, cell_carry
    return sums


def lstm_gradients(source, recurrent_weight, source_gradient=None, z_state=None, cell_output_fwd=None, *,
                   state_gradient=None, cell_gradient=None, input_weight=None, bias=None, init_state=None,
                   init_cell=None, mask=None, peephole=None, descriptor):  # fmt: skip
    """Gradients from the gates and cells which the operation is given, None for absent operands."""
    directions = _directions(descriptor, source, recurrent_weight, input_weight, bias=bias, init_state=init_state,
                             init_cell=init_cell, mask=mask, peephole=peephole, z_state=z_state,
                             cell_output_fwd=cell_output_fwd, source_gradient=source_gradient,
                             state_gradient=state_gradient, cell_gradient=cell_gradient)  # fmt: skip
    given = {"input_weight": input_weight, "bias": bias, "peephole": peephole, "init_state": init_state,
             "init_cell": init_cell}  # fmt: skip
    return LSTMGradients(**_merge(descriptor, [_lstm_direction_gradients(descriptor, d) for d in directions], given))


# Single gate


def _single_gate_direction(descriptor, d):
    """z = x·Wᵀ + hm·Rᵀ + b; h = f(z)."""
    outputs, gates = (np.zeros((d.length, d.batch, d.hidden)) for _ in range(2))
    h = d.or_zeros("init_state")
    for t in d.steps:
        gates[t] = d.projection(t) + d.masked(h) @ d.r.T
        h = outputs[t] = activate(descriptor.activation, gates[t])
    return outputs, gates


def single_gate_rnn(source, recurrent_weight, *, input_weight=None, bias=None, init_state=None, mask=None,
                    descriptor):  # fmt: skip
    """h, with `training` (h, z_state); z_state is the pre-activation."""
    directions = _directions(descriptor, source, recurrent_weight, input_weight, bias=bias, init_state=init_state,
                             mask=mask)  # fmt: skip
    return _results(descriptor, _join(_single_gate_direction(descriptor, d) for d in directions))


def _single_gate_direction_gradients(descriptor, d):
    """a' = G∘f'(z); dR += a'ᵀ·hm; G⁺ = (a'·R)∘m."""
    sums = _Accumulators(d)
    carry = d.or_zeros("state_gradient")
    states = activate(descriptor.activation, d.z_state)
    for position in reversed(range(d.length)):
        t = d.steps[position]
        gates_gradient = (d.incoming(t) + carry) * derivative(descriptor.activation, states[t])
        sums.recurrent_weight += gates_gradient.T @ d.masked(d.previous(states, position, "init_state"))
        carry = d.masked(gates_gradient @ d.r)
        sums.add(t, gates_gradient)
    sums.init_state = carry
    return sums


def single_gate_rnn_gradients(source, recurrent_weight, source_gradient=None, z_state=None, *, state_gradient=None,
                              input_weight=None, bias=None, init_state=None, mask=None, descriptor):  # fmt: skip
    """Gradients from the pre-activations which the operation is given, None for absent operands."""
    _check_incoming(source_gradient, state_gradient)
    directions = _directions(descriptor, source, recurrent_weight, input_weight, bias=bias, init_state=init_state,
                             mask=mask, z_state=z_state, source_gradient=source_gradient,
                             state_gradient=state_gradient)  # fmt: skip
    given = {"input_weight": input_weight, "bias": bias, "init_state": init_state}
    parts = [_single_gate_direction_gradients(descriptor, d) for d in directions]
    return SingleGateRNNGradients(**_merge(descriptor, parts, given))
