"""The recurrent families: what they take, what they give, and operands of every variant."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.data import dtype, random_array, seeded
from mpsgraph_native.verify.reference import Expected
from mpsgraph_native.verify.reference import recurrent as reference
from mpsgraph_native.verify.tolerance import EPSILON, error_bound

__all__ = ["FAMILIES", "GRU", "LSTM", "SINGLE_GATE", "Case", "Family"]

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
    """One variant: `shape` is (T, N, I, H), `operands` names the optional ones which it has."""

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

    def _seeded(self, purpose):
        return seeded(purpose, self.family.name, self.shape, self.dtype, self.options, sorted(self.operands))

    def _random(self, rng, shape, scale):
        return (random_array(rng, shape, "float64") * scale).astype(dtype(self.dtype))

    def arrays(self):
        """Operands of moderate size: pre-activations stay below one, so that unbounded activations do not grow."""
        rng = self._seeded("operands")
        scale = {"recurrent_weight": 0.4 / np.sqrt(self.shape[3]), "input_weight": 0.6 / np.sqrt(self.shape[2])}
        arrays = {name: self._random(rng, shape, scale.get(name, 0.35)) for name, shape in self.shapes().items()}
        if "mask" in arrays:
            arrays["mask"] = (rng.integers(0, 3, arrays["mask"].shape) * 0.75).astype(dtype(self.dtype))
        return arrays

    def incoming(self):
        """source_gradient, and the final gradients which this case has."""
        rng = self._seeded("incoming")
        t, n, _, h = self.shape
        width = self.directions * h
        shapes = {"source_gradient": (t, n, width)}
        shapes |= {name: (n, width) for name in self.family.final_gradients if name in self.operands}
        return {name: self._random(rng, shape, 0.6) for name, shape in shapes.items()}

    def judged(self, expected):
        """`Expected` with a bound for sums of one step's products, carried through every step.

        Data are of order one, so that the largest element, at least one, stands for the sum of absolute terms.
        Half types may round the state to storage after each step, which adds one epsilon per step.
        """
        t, n, i, h = self.shape
        length = max(t, 1) * (i + self.family.gates * self.directions * h + n)
        magnitude = max(1.0, float(np.abs(expected).max(initial=0.0)))
        if self.dtype in HALF_DTYPES:
            magnitude += (t + 1) * magnitude * EPSILON[self.dtype] / error_bound("float32", 0.0, 1.0, length)
        return Expected(expected, magnitude, length)
