"""Elementwise operations as NumPy has them, their gradients, and the step of stochastic gradient descent."""

import numpy as np

from mpsgraph_native.verify.reference import Expected


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


UNARY = {
    "absolute": np.abs,
    "exponent": np.exp,
    "identity": np.positive,
    "logarithm": np.log,
    "negative": np.negative,
    "reciprocal": np.reciprocal,
    "square": np.square,
    "square_root": np.sqrt,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
}
GRADIENTS = {
    "relu_gradient": lambda g, x: np.where(x > 0, g, 0 * g),
    "sigmoid_gradient": lambda g, x: g * sigmoid(x) * sigmoid(-x),
}
# NaN loses against a number.
BINARY = {
    "addition": np.add,
    "subtraction": np.subtract,
    "multiplication": np.multiply,
    "division": np.divide,
    "maximum": np.fmax,
    "minimum": np.fmin,
}
COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal_to": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal_to": np.greater_equal,
}
# Results that are operands, whole or with the other sign.
EXACT = frozenset({"absolute", "identity", "negative", "relu", "relu_gradient", "maximum", "minimum"})
FUNCTIONS = UNARY | GRADIENTS | BINARY


def overflowing(expected, dtype):
    """The expectation, infinite where the dtype holds no such value."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(expected).astype(dtype).astype(np.float64)
    return np.where(np.isinf(rounded), rounded, expected)


def judge(operation, *operands):
    """`Expected` of an operation of FUNCTIONS, of floating operands of one dtype."""
    wide = [np.asarray(operand).astype(np.float64) for operand in operands]
    with np.errstate(all="ignore"):
        expected = overflowing(FUNCTIONS[operation](*wide), operands[0].dtype)
    if operation in EXACT:
        return Expected(expected)
    magnitude = sum(map(np.abs, wide)) if operation in ("addition", "subtraction") else np.abs(expected)
    return Expected(expected, magnitude, 2)


def integers(operation, *operands):
    """`Expected` of int32 operands: wrapped around, quotients truncated toward zero."""
    if operation == "division":
        quotient = np.abs(operands[0]) // np.abs(operands[1]) * np.sign(operands[0]) * np.sign(operands[1])
        return Expected(quotient.astype(operands[0].dtype))
    return Expected((FUNCTIONS | COMPARISONS)[operation](*operands))


def stochastic_gradient_descent(rate, values, gradient):
    rate, values, gradient = (np.asarray(array).astype(np.float64) for array in (rate, values, gradient))
    rate = rate.reshape(())
    return Expected(values - rate * gradient, np.abs(values) + np.abs(rate * gradient), 2)
