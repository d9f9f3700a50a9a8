"""The recurrent families, and a covering design over their flags, activations, optional operands, dtypes and shapes."""

from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
from reference import recurrent as reference
from support import EPSILON, FLOAT_DTYPES, assert_close, dtype, error_bound, random_array, seeded

import mpsgraph_native as mg

ACTIVATIONS = ("Sigmoid", "Tanh", "Relu", "HardSigmoid", "None")
SHAPES = ((1, 1, 1, 1), (1, 3, 4, 5), (4, 1, 6, 17), (3, 2, 5, 33), (5, 4, 7, 8), (7, 37, 40, 48))
HALF_DTYPES = ("float16", "bfloat16")


@dataclass(frozen=True)
class Family:
    """One recurrent operation and its gradient: what they take and what they give."""

    name: str
    gates: int
    descriptor: type
    flags: tuple[str, ...]
    activations: tuple[str, ...]
    optional: tuple[str, ...]
    saved: dict[str, int]
    final_gradients: tuple[str, ...] = ("state_gradient",)

    @property
    def forward(self):
        return getattr(mg, self.name)

    @property
    def gradients(self):
        return getattr(mg, f"{self.name}_gradients")

    @property
    def reference_forward(self):
        return getattr(reference, self.name)

    @property
    def reference_gradients(self):
        return getattr(reference, f"{self.name}_gradients")

    def saved_from(self, results):
        """What the gradient takes from the results of a training forward, by argument name."""
        return {name: results[position] for name, position in self.saved.items()}

    def __str__(self):
        return self.name


GRU = Family(
    name="gru",
    gates=3,
    descriptor=mg.GRUDescriptor,
    flags=("bidirectional", "reverse", "reset_gate_first", "reset_after", "flip_z"),
    activations=("update_gate_activation", "reset_gate_activation", "output_gate_activation"),
    optional=("input_weight", "bias", "init_state", "mask", "secondary_bias"),
    saved={"output_fwd": 0, "z_state": 1},
)
LSTM = Family(
    name="lstm",
    gates=4,
    descriptor=mg.LSTMDescriptor,
    flags=("bidirectional", "reverse", "produce_cell", "forget_gate_last"),
    activations=(
        "input_gate_activation",
        "forget_gate_activation",
        "cell_gate_activation",
        "output_gate_activation",
        "activation",
    ),
    optional=("input_weight", "bias", "init_state", "init_cell", "mask", "peephole"),
    saved={"cell_output_fwd": 1, "z_state": 2},
    final_gradients=("state_gradient", "cell_gradient"),
)
SINGLE_GATE = Family(
    name="single_gate_rnn",
    gates=1,
    descriptor=mg.SingleGateRNNDescriptor,
    flags=("bidirectional", "reverse"),
    activations=("activation",),
    optional=("input_weight", "bias", "init_state", "mask"),
    saved={"z_state": 1},
)
FAMILIES = (GRU, LSTM, SINGLE_GATE)


@dataclass(frozen=True)
class Case:
    """One row of the design."""

    family: Family
    shape: tuple[int, int, int, int] = (3, 2, 5, 7)
    dtype: str = "float32"
    options: dict[str, Any] = field(default_factory=dict)
    operands: frozenset[str] = frozenset()

    def __str__(self):
        chosen = [key if value is True else str(value) for key, value in self.options.items() if value is not False]
        shape = "x".join(map(str, self.shape))
        return "-".join([str(self.family), shape, self.dtype, *chosen, *sorted(self.operands)])

    @property
    def directions(self):
        return 2 if self.options.get("bidirectional") else 1

    def descriptor(self, *, training=True):
        return self.family.descriptor(training=training, **self.options)

    def shapes(self):
        """The shape of every operand which this case has."""
        t, n, i, h = self.shape
        d, rows = self.directions, self.family.gates * h
        leading = (2,) if d == 2 else ()
        known = {
            "input_weight": (d * rows, i),
            "bias": (d * rows,),
            "init_state": (n, d * h),
            "init_cell": (n, d * h),
            "mask": (n, d * h),
            "secondary_bias": (d * h,),
            "peephole": (*leading, rows),
        }
        width = i if "input_weight" in self.operands else d * rows
        shapes = {"source": (t, n, width), "recurrent_weight": (*leading, rows, h)}
        return shapes | {name: known[name] for name in self.family.optional if name in self.operands}

    def _random(self, rng, shape, scale):
        return (random_array(rng, shape, "float64") * scale).astype(dtype(self.dtype))

    def arrays(self):
        """Operands of moderate size: pre-activations stay below one, so that unbounded activations do not grow."""
        rng = seeded("operands", self)
        scale = {"recurrent_weight": 0.4 / np.sqrt(self.shape[3]), "input_weight": 0.6 / np.sqrt(self.shape[2])}
        arrays = {name: self._random(rng, shape, scale.get(name, 0.35)) for name, shape in self.shapes().items()}
        if "mask" in arrays:
            arrays["mask"] = (rng.integers(0, 3, arrays["mask"].shape) * 0.75).astype(dtype(self.dtype))
        return arrays

    def incoming(self):
        """source_gradient, and the final gradients which this case has."""
        rng = seeded("incoming", self)
        t, n, _, h = self.shape
        width = self.directions * h
        shapes = {"source_gradient": (t, n, width)}
        shapes |= {name: (n, width) for name in self.family.final_gradients if name in self.operands}
        return {name: self._random(rng, shape, 0.6) for name, shape in shapes.items()}

    def close(self, actual, expected):
        """Compares with a bound for sums of one step's products, carried through every step.

        Data are of order one, so that the largest element, at least one, stands for the sum of absolute terms.
        Half types may round the state to storage after each step, which adds one epsilon per step.
        """
        t, n, i, h = self.shape
        length = max(t, 1) * (i + self.family.gates * self.directions * h + n)
        magnitude = max(1.0, float(np.abs(expected).max(initial=0.0)))
        if self.dtype in HALF_DTYPES:
            magnitude += (t + 1) * magnitude * EPSILON[self.dtype] / error_bound("float32", 0.0, 1.0, length)
        assert_close(actual, expected, magnitude=magnitude, length=length, dtype=self.dtype)


def assert_nearly_equal(actual, expected):
    """Equal up to the order in which a kernel may add: for two calls that compute the same numbers."""
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def pairwise(factors, *, candidates=40):
    """Rows (dictionaries) in which every pair of levels of every two factors occurs: greedy, reproducible."""
    rng = seeded(factors)
    names = list(factors)
    pairs = list(combinations(range(len(names)), 2))
    missing = {(a, b, x, y) for a, b in pairs for x, y in product(factors[names[a]], factors[names[b]])}
    rows = []
    while missing:
        first = min(missing, key=repr)
        best, gain = None, -1
        for _ in range(candidates):
            row = [factors[name][rng.integers(len(factors[name]))] for name in names]
            row[first[0]], row[first[1]] = first[2], first[3]
            covered = sum((a, b, row[a], row[b]) in missing for a, b in pairs)
            if covered > gain:
                best, gain = row, covered
        missing -= {(a, b, best[a], best[b]) for a, b in pairs}
        rows.append(dict(zip(names, best, strict=True)))
    return rows


def sweep(family):
    """The covering design of one family as cases."""
    switches = (*family.optional, *family.final_gradients)
    factors = {name: (False, True) for name in (*family.flags, *switches)}
    factors |= {name: ACTIVATIONS for name in family.activations}
    factors |= {"shape": SHAPES, "dtype": tuple(FLOAT_DTYPES)}
    return [
        Case(
            family=family,
            shape=row["shape"],
            dtype=row["dtype"],
            options={name: row[name] for name in (*family.flags, *family.activations)},
            operands=frozenset(name for name in switches if row[name]),
        )
        for row in pairwise(factors)
    ]


def smooth(family):
    """Small float64 cases of every flag without kinks in the activations, for difference quotients."""
    switches = (*family.optional, *family.final_gradients)
    factors = {name: (False, True) for name in (*family.flags, *switches)}
    factors |= {name: ("Sigmoid", "Tanh") for name in family.activations}
    return [
        Case(
            family=family,
            shape=(3, 2, 2, 3),
            dtype="float64",
            options={name: row[name] for name in (*family.flags, *family.activations)},
            operands=frozenset(name for name in switches if row[name]),
        )
        for row in pairwise(factors)
    ]


def full(family, **overrides):
    """A case with every optional operand."""
    operands = frozenset((*family.optional, *family.final_gradients))
    return Case(**({"family": family, "operands": operands} | overrides))
