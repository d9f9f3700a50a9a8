"""GRU, LSTM and the single gate network: the forward pass alone, and the gradients of all operands, with it or alone."""

import dataclasses
import math

import mpsgraph_native as mg

from .row import FLOAT32, Contender, Row, random, written_out

# time, batch, input, units, directions
RECURRENT = [(50, 32, 128, 256, 1), (100, 64, 256, 512, 1), (20, 1, 32, 64, 1), (50, 32, 128, 256, 2)]
GATES = {"gru": 3, "lstm": 4, "single_gate_rnn": 1}
# Gate orders and formulas as torch has them.
DESCRIPTORS = {
    "gru": (mg.GRUDescriptor, {"reset_gate_first": True, "reset_after": True}),
    "lstm": (mg.LSTMDescriptor, {}),
    "single_gate_rnn": (mg.SingleGateRNNDescriptor, {"activation": "Tanh"}),
}


@dataclasses.dataclass(frozen=True)
class RecurrentRow(Row):
    cell: str  # a key of GATES
    gradient: bool
    time: int
    batch: int
    inputs: int
    units: int
    directions: int
    forward: bool = True  # whether a row of gradients has the forward pass too

    family = "recurrent"
    unit = "GFLOP/s"

    @property
    def operation(self):
        return f"{self.cell} {' + '.join(['forward'] * self.forward + ['gradients'] * self.gradient)}"

    @property
    def sizes(self):
        both = " bidirectional" if self.directions == 2 else ""
        return f"T{self.time} N{self.batch} I{self.inputs} H{self.units}{both}"

    @property
    def shapes(self):
        gates, d, h = GATES[self.cell], self.directions, self.units
        shapes = {
            "source": (self.time, self.batch, self.inputs),
            "recurrent_weight": (gates * h, h) if d == 1 else (2, gates * h, h),
            "input_weight": (d * gates * h, self.inputs),
            "bias": (d * gates * h,),
        }
        if self.cell == "gru":
            shapes["secondary_bias"] = (d * h,)
        return shapes

    @property
    def flops(self):
        """Those of the products with both weights; the gradients have each product twice more."""
        rows = self.directions * GATES[self.cell] * self.units
        return (self.forward + 2 * self.gradient) * 2 * self.time * self.batch * rows * (self.inputs + self.units)

    @property
    def bytes(self):
        """Operands and h; with the gradients also its incoming gradient and every operand's."""
        operands = sum(math.prod(shape) for shape in self.shapes.values())
        h = self.time * self.batch * self.directions * self.units
        return FLOAT32 * (operands + h) * (2 if self.gradient else 1)

    def arrays(self):
        shapes = self.shapes
        # Larger weights would make long sequences chaotic, and results of equal value impossible to compare.
        scale = 0.5 / math.sqrt(self.units)
        arrays = {
            name: random(*shape, scale=1 if name == "source" else scale, seed=seed)
            for seed, (name, shape) in enumerate(shapes.items())
        }
        arrays["incoming"] = random(self.time, self.batch, self.directions * self.units, seed=len(shapes))
        return arrays

    def ours(self, arrays):
        kind, fields = DESCRIPTORS[self.cell]
        descriptor = kind(training=self.gradient, bidirectional=self.directions == 2, **fields)
        operands = {name: array for name, array in arrays.items() if name != "incoming"}
        forward = getattr(mg, self.cell)
        saved = forward(**operands, descriptor=descriptor)
        run_forward = written_out(forward, **operands, descriptor=descriptor, out=saved)
        if not self.gradient:
            return Contender("ours", run_forward, lambda h: {"h": h})
        needed = {"z_state": saved[-1]}
        if self.cell == "gru":
            needed["output_fwd"] = saved[0]
        if self.cell == "lstm":
            needed["cell_output_fwd"] = saved[1]
        backward = getattr(mg, f"{self.cell}_gradients")
        keywords = {**operands, "source_gradient": arrays["incoming"], **needed, "descriptor": descriptor}
        out = tuple(gradient for gradient in backward(**keywords) if gradient is not None)
        run_backward = written_out(backward, **keywords, out=out)

        def run_both():
            run_forward()
            return run_backward()

        def results(gradients):
            found = {name: array for name, array in gradients._asdict().items() if array is not None}
            return {"h": saved[0], **found}

        return Contender("ours", run_both if self.forward else run_backward, results)


def rows():
    for sizes in RECURRENT:
        for cell in GATES:
            for gradient in (False, True):
                yield RecurrentRow(cell, gradient, *sizes)
