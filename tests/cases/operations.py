"""The elementwise and linear operations around the gradients, each with its formula in NumPy float64."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mpsgraph_native.verify.reference.elementwise import sigmoid
from mpsgraph_native.verify.reference.softmax import softmax, softmax_gradient


@dataclass(frozen=True)
class Operation:
    """`domain` says of each operand what values it may take; `length` is the longest sum."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    reference: Callable[..., Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: tuple[str, ...] = ()
    length: int = 1
    differentiable: bool = False

    def __str__(self):
        attributes = "-".join(f"{key}={value}" for key, value in self.attributes.items())
        return "-".join(filter(None, [self.name, "&".join("x".join(map(str, s)) for s in self.shapes), attributes]))

    def operands(self, rng):
        """Float64 operands within the domain."""
        domain = self.domain or ("real",) * len(self.shapes)
        return [np.asarray(draw(rng, shape, kind)) for shape, kind in zip(self.shapes, domain, strict=True)]


def draw(rng, shape, kind):
    values = np.asarray(rng.standard_normal(shape))
    if kind == "positive":
        return np.abs(values) + 0.5
    if kind == "nonzero":
        return np.copysign(np.abs(values) + 0.5, values)
    if kind == "distribution":
        return softmax(values, axis=-1)
    return values


def _elementwise():
    yield from (
        Operation("negative", ((3, 5),), np.negative, differentiable=True),
        Operation("square", ((3, 5),), np.square, differentiable=True),
        Operation("square_root", ((3, 5),), np.sqrt, domain=("positive",), differentiable=True),
        Operation("exponent", ((3, 5),), np.exp, differentiable=True),
        Operation("logarithm", ((3, 5),), np.log, domain=("positive",), differentiable=True),
        Operation("tanh", ((3, 5),), np.tanh, differentiable=True),
        Operation("sigmoid", ((3, 5),), sigmoid, differentiable=True),
        Operation("relu", ((3, 5),), lambda x: np.maximum(x, 0), domain=("nonzero",), differentiable=True),
        Operation("identity", ((3, 5),), lambda x: x, differentiable=True),
        Operation("relu_gradient", ((3, 5), (3, 5)), lambda g, x: g * (x > 0)),
        Operation("sigmoid_gradient", ((3, 5), (3, 5)), lambda g, x: g * sigmoid(x) * (1 - sigmoid(x))),
        Operation("tanh", ((7, 11, 13),), np.tanh),
        Operation("exponent", ((),), np.exp),
    )
    binary = {
        "addition": np.add, "subtraction": np.subtract, "multiplication": np.multiply, "division": np.divide,
        "maximum": np.maximum, "minimum": np.minimum,
    }  # fmt: skip
    shapes = (((3, 5), (3, 5)), ((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)), ((), (2, 3)), ((33, 65), (33, 1)))
    for name, function in binary.items():
        domain = ("real", "nonzero") if name == "division" else ()
        for pair in shapes:
            small = np.prod(np.broadcast_shapes(*pair)) < 100
            yield Operation(name, pair, function, domain=domain, differentiable=bool(small))


def _linear():
    pairs = (
        ((3, 4), (4, 5)), ((1, 1), (1, 1)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
    )  # fmt: skip
    for pair in pairs:
        yield Operation("matrix_multiplication", pair, np.matmul, length=pair[0][-1], differentiable=True)
    for pair in (((65, 130), (130, 33)), ((1, 300), (300, 1)), ((3, 40, 50), (1, 50, 20))):
        yield Operation("matrix_multiplication", pair, np.matmul, length=pair[0][-1])
    yield from (
        Operation(
            "stochastic_gradient_descent", ((), (3, 5), (3, 5)), lambda rate, values, g: values - rate * g, length=2
        ),
    )


def _shape():
    def transpose(permutation):
        return Operation(
            "transpose", ((2, 3, 4),), lambda x: x.transpose(permutation), {"permutation": permutation},
            differentiable=True,
        )  # fmt: skip

    yield from (transpose(permutation) for permutation in ((2, 0, 1), (0, 2, 1), (0, 1, 2)))
    yield Operation(
        "transpose", ((2, 3, 4),), lambda x: x.swapaxes(0, 2), {"dimension": 0, "with_dimension": 2},
        differentiable=True,
    )  # fmt: skip
    yield Operation("transpose", ((65, 34),), np.transpose, {"permutation": (1, 0)})
    for shape in ((6, 4), (24,), (-1, 3), (2, 1, 12)):
        yield Operation(
            "reshape", ((2, 3, 4),), lambda x, shape=shape: x.reshape(shape), {"shape": shape}, differentiable=True
        )
    for given, shape in (((3, 1), (3, 4)), ((4,), (2, 3, 4)), ((2, 1, 4), (2, 3, 4)), ((), (2, 2))):
        yield Operation(
            "broadcast", (given,), lambda x, shape=shape: np.broadcast_to(x, shape), {"shape": shape},
            differentiable=True,
        )  # fmt: skip


def _reductions():
    functions = {
        "reduction_sum": np.sum, "mean": np.mean, "reduction_maximum": np.max, "reduction_minimum": np.min,
        "reduction_product": np.prod,
    }  # fmt: skip
    for name, function in functions.items():
        for axes in (0, -1, (0, 2), (1,), None):
            yield Operation(
                name, ((2, 3, 4),), lambda x, f=function, a=axes: f(x, axis=a, keepdims=True), {"axes": axes},
                length=24, differentiable=name in ("reduction_sum", "mean"),
            )  # fmt: skip
    yield Operation("reduction_sum", ((70, 130),), lambda x: x.sum(axis=0, keepdims=True), {"axes": 0}, length=70)
    yield Operation("mean", ((70, 130),), lambda x: x.mean(axis=1, keepdims=True), {"axes": 1}, length=130)


def _probabilities():
    for axis in (0, 1, -1):
        yield Operation(
            "softmax", ((2, 3, 4),), lambda x, a=axis: softmax(x, a), {"axis": axis}, length=4, differentiable=True
        )
        yield Operation(
            "softmax_gradient", ((2, 3, 4), (2, 3, 4)), lambda g, x, a=axis: softmax_gradient(g, x, a), {"axis": axis},
            length=4,
        )  # fmt: skip
    yield Operation("softmax", ((9, 257),), lambda x: softmax(x, 1), {"axis": 1}, length=257)


OPERATIONS = (*_elementwise(), *_linear(), *_shape(), *_reductions(), *_probabilities())
