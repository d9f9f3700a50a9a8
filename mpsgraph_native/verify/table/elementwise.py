"""Elementwise operations and their gradients, and the step of an optimizer."""

import numpy as np

from mpsgraph_native.verify.data import dtype, random_array, seeded
from mpsgraph_native.verify.reference import elementwise as reference
from mpsgraph_native.verify.table.case import NUMBERS, Case, problem, shapes_of, small_integers
from mpsgraph_native.verify.tolerance import FLOAT_DTYPES

# Primary and secondary shape; an operation of one operand takes the primary one.
_SHAPES = (
    ((3, 5), (3, 5), True),
    ((2, 1, 5), (3, 1), False),
    ((), (4,), False),
    ((130, 257), (257,), False),
    ((1000, 500), (1000, 1), False),
)
_SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5, -0.75, 65504.0)


def _operand(operation, rng, shape, name):
    """Within the operation's domain; integers for comparisons, so that some are equal."""
    if name == "int32" or operation in reference.COMPARISONS:
        values = small_integers(rng, shape, name)
        return np.where(values == 0, 3, values).astype(values.dtype) if operation == "division" else values
    values = random_array(rng, shape, name)
    if operation in ("logarithm", "square_root", "division"):
        return np.asarray(np.abs(values) + 0.25).astype(values.dtype)
    return values


def _judge(operation, operands, dtype_name):
    judge = reference.integers if dtype_name == "int32" or operation in reference.COMPARISONS else reference.judge
    return problem(operands, judge(operation, *operands))


def _arithmetic_case(operation, shapes, dtypes, quick):
    def build(dtype_name, device):
        rng = seeded(operation, shapes)
        return _judge(operation, tuple(_operand(operation, rng, shape, dtype_name) for shape in shapes), dtype_name)

    return Case(operation, shapes_of(*shapes), build, dtypes, quick)


def _special_case(operation):
    def build(dtype_name, device):
        return _judge(operation, (np.array(_SPECIAL).astype(dtype(dtype_name)),), dtype_name)

    return Case(operation, "special values", build, quick=False)


def _descent_case(shape, quick):
    def build(dtype_name, device):
        rng = seeded("descent", shape)
        values, gradient = (random_array(rng, shape, dtype_name) for _ in range(2))
        rate = np.full((1,), 0.3, dtype(dtype_name))
        return problem((rate, values, gradient), reference.stochastic_gradient_descent(rate, values, gradient))

    return Case("stochastic_gradient_descent", shapes_of(shape), build, quick=quick)


def cases():
    for primary, secondary, quick in _SHAPES:
        for operation in reference.UNARY:
            dtypes = NUMBERS if operation in ("absolute", "identity", "negative", "square") else FLOAT_DTYPES
            yield _arithmetic_case(operation, (primary,), dtypes, quick)
        for operation in reference.GRADIENTS:
            yield _arithmetic_case(operation, (primary, primary), FLOAT_DTYPES, quick)
        for operation in (*reference.BINARY, *reference.COMPARISONS):
            yield _arithmetic_case(operation, (primary, secondary), NUMBERS, quick)
        yield _descent_case(primary, quick)
    for operation in reference.UNARY:
        yield _special_case(operation)
