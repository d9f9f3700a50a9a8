"""Public reports about recurrent gradients, restated as one small problem and what it must give.

T = 2, N = I = H = 1; every number was computed in float64 and rounded to six decimals.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCE = 6e-7

SOURCE = np.array([0.5, -1.0]).reshape(2, 1, 1)
RECURRENT_WEIGHT = np.array([0.2, -0.5, 0.9]).reshape(3, 1)
INPUT_WEIGHT = np.array([0.3, 0.7, -0.4]).reshape(3, 1)
BIAS = np.array([0.1, -0.2, 0.05])
INIT_STATE = np.array([[0.25]])
SOURCE_GRADIENT = np.ones((2, 1, 1))
SECONDARY_BIAS = np.array([0.6])


@dataclass(frozen=True)
class Case:
    """A descriptor's options and the expected forward and gradients, by field name."""

    id: str
    threads: tuple[str, ...]
    options: dict[str, Any]
    h: tuple[float, ...]
    gradients: dict[str, tuple[float, ...]] = field(default_factory=dict)
    secondary_bias: bool = False

    def __str__(self):
        return self.id


FLIP = ("KevinCoble/MPSGraphDSL",)
RESET_AFTER = ("uxlfoundation/oneDNN#617", "nntrainer/nntrainer#1644", "tensorflow/tensorflow#8311")

GRU_CASES = (
    Case(
        id="default",
        threads=FLIP,
        options={},
        h=(0.128257, 0.301887),
        gradients={
            "source": (-0.204204, -0.190574),
            "recurrent_weight": (0.016821, 0.010510, 0.098415),
            "init_state": (1.188769,),
        },
    ),
    Case(
        id="flip_z",
        threads=FLIP,
        options={"flip_z": True},
        h=(0.085665, 0.246452),
        gradients={"source": (-0.376624, -0.116345), "init_state": (1.085594,)},
    ),
    Case(
        id="reset_after",
        threads=RESET_AFTER,
        options={"reset_after": True},
        secondary_bias=True,
        h=(0.254869, 0.431709),
        gradients={"secondary_bias": (0.394745,), "recurrent_weight": (-0.021910, 0.045221, 0.099140)},
    ),
    Case(
        id="reset_after-flip_z",
        threads=RESET_AFTER,
        options={"reset_after": True, "flip_z": True},
        secondary_bias=True,
        h=(0.256573, 0.408249),
        gradients={"secondary_bias": (0.514106,)},
    ),
    Case(
        id="reset_gate_first",
        threads=("LBANN/lbann#1796",),
        options={"reset_gate_first": True},
        h=(0.116318, 0.364954),
    ),
)
