"""Elementwise arithmetic.

Two operands broadcast as in NumPy and have one dtype: float32, float16, bfloat16, float64, int32 or int64; another one raises
DTypeError, shapes that do not broadcast raise ShapeError, both naming the second operand.
"""

from __future__ import annotations

from mpsgraph_native._core.call import call
from mpsgraph_native.typing import Array, DeviceLike, ResultT

__all__ = [
    "absolute",
    "exponent",
    "identity",
    "logarithm",
    "negative",
    "reciprocal",
    "square",
    "square_root",
    "tanh",
    "addition",
    "subtraction",
    "multiplication",
    "division",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "less_than",
    "less_than_or_equal_to",
    "greater_than",
    "greater_than_or_equal_to",
    "select",
]


def absolute(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """|tensor|, element by element. Floating, int32 or int64; the lowest integer stays.

    MPSGraph: absoluteWithTensor:name: (macOS 11.0).
    """
    return call("absolute", (tensor,), out, device)


def exponent(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """e to the power of tensor, element by element. Floating.

    MPSGraph: exponentWithTensor:name: (macOS 11.0).
    """
    return call("exponent", (tensor,), out, device)


def identity(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The elements of tensor, element by element. Any dtype.

    MPSGraph: identityWithTensor:name: (macOS 11.0).
    """
    return call("identity", (tensor,), out, device)


def logarithm(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The natural logarithm, element by element. Floating; -inf at zero, NaN below.

    MPSGraph: logarithmWithTensor:name: (macOS 11.0).
    """
    return call("logarithm", (tensor,), out, device)


def negative(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """-tensor, element by element. Floating, int32 or int64; the lowest integer stays.

    MPSGraph: negativeWithTensor:name: (macOS 11.0).
    """
    return call("negative", (tensor,), out, device)


def reciprocal(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """1 / tensor, element by element. Floating.

    MPSGraph: reciprocalWithTensor:name: (macOS 11.0).
    """
    return call("reciprocal", (tensor,), out, device)


def square(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """tensor², element by element. Floating, int32 or int64; integers wrap around.

    MPSGraph: squareWithTensor:name: (macOS 11.0).
    """
    return call("square", (tensor,), out, device)


def square_root(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The square root, element by element. Floating; NaN below zero.

    MPSGraph: squareRootWithTensor:name: (macOS 11.0).
    """
    return call("square_root", (tensor,), out, device)


def tanh(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The hyperbolic tangent, element by element. Floating.

    MPSGraph: tanhWithTensor:name: (macOS 11.0).
    """
    return call("tanh", (tensor,), out, device)


def addition(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary + secondary, with broadcasting. Integers wrap around.

    MPSGraph: additionWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("addition", (primary, secondary), out, device)


def subtraction(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary - secondary, with broadcasting. Integers wrap around.

    MPSGraph: subtractionWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("subtraction", (primary, secondary), out, device)


def multiplication(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary · secondary, with broadcasting. Integers wrap around.

    MPSGraph: multiplicationWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("multiplication", (primary, secondary), out, device)


def division(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary / secondary, with broadcasting. Integers truncate toward zero; division by an integer zero gives 0.

    MPSGraph: divisionWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("division", (primary, secondary), out, device)


def maximum(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The larger of primary and secondary, with broadcasting. A number wins over NaN.

    MPSGraph: maximumWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("maximum", (primary, secondary), out, device)


def minimum(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The smaller of primary and secondary, with broadcasting. A number wins over NaN.

    MPSGraph: minimumWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("minimum", (primary, secondary), out, device)


def equal(primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """primary == secondary, with broadcasting; the result is bool.

    MPSGraph: equalWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("equal", (primary, secondary), out, device)


def not_equal(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary != secondary, with broadcasting; the result is bool.

    MPSGraph: notEqualWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("not_equal", (primary, secondary), out, device)


def less_than(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary < secondary, with broadcasting; the result is bool.

    MPSGraph: lessThanWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("less_than", (primary, secondary), out, device)


def less_than_or_equal_to(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary <= secondary, with broadcasting; the result is bool.

    MPSGraph: lessThanOrEqualToWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("less_than_or_equal_to", (primary, secondary), out, device)


def greater_than(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary > secondary, with broadcasting; the result is bool.

    MPSGraph: greaterThanWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("greater_than", (primary, secondary), out, device)


def greater_than_or_equal_to(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary >= secondary, with broadcasting; the result is bool.

    MPSGraph: greaterThanOrEqualToWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("greater_than_or_equal_to", (primary, secondary), out, device)


def select(
    predicate: Array,
    true_value: Array,
    false_value: Array,
    *,
    out: ResultT | None = None,
    device: DeviceLike | None = None,
) -> ResultT:
    """true_value where predicate holds, else false_value, with broadcasting.

    predicate is bool; the two values have one dtype, which may be any.

    MPSGraph: selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name: (macOS 11.0).
    """
    return call("select", (predicate, true_value, false_value), out, device)
