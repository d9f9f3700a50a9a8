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
    """|tensor|, element by element. The lowest integer stays.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64; the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: absoluteWithTensor:name: (macOS 11.0).
    """
    return call("absolute", (tensor,), out, device)


def exponent(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """e^tensor, e to the power of tensor, element by element.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: exponentWithTensor:name: (macOS 11.0).
    """
    return call("exponent", (tensor,), out, device)


def identity(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The elements of tensor, element by element.

    Any shape, any dtype; the result has both. Raises DTypeError for what is no number, as complex numbers and text.

    MPSGraph: identityWithTensor:name: (macOS 11.0).
    """
    return call("identity", (tensor,), out, device)


def logarithm(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The natural logarithm, element by element. -inf at zero, NaN below.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: logarithmWithTensor:name: (macOS 11.0).
    """
    return call("logarithm", (tensor,), out, device)


def negative(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """-tensor, element by element. The lowest integer stays.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64; the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: negativeWithTensor:name: (macOS 11.0).
    """
    return call("negative", (tensor,), out, device)


def reciprocal(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """1 / tensor, element by element.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: reciprocalWithTensor:name: (macOS 11.0).
    """
    return call("reciprocal", (tensor,), out, device)


def square(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """tensor², element by element. Integers wrap around.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu), int32 or int64; the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: squareWithTensor:name: (macOS 11.0).
    """
    return call("square", (tensor,), out, device)


def square_root(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The square root, element by element. NaN below zero.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: squareRootWithTensor:name: (macOS 11.0).
    """
    return call("square_root", (tensor,), out, device)


def tanh(tensor: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """The hyperbolic tangent, element by element.

    Any shape; dtype floating (float32, float16, bfloat16; float64 on cpu); the result has both.
    Raises DTypeError, naming tensor, for another dtype.

    MPSGraph: tanhWithTensor:name: (macOS 11.0).
    """
    return call("tanh", (tensor,), out, device)


def addition(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary + secondary, with broadcasting. Integers wrap around.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result has that dtype. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: additionWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("addition", (primary, secondary), out, device)


def subtraction(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary - secondary, with broadcasting. Integers wrap around.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result has that dtype. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: subtractionWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("subtraction", (primary, secondary), out, device)


def multiplication(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary · secondary, with broadcasting. Integers wrap around.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result has that dtype. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: multiplicationWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("multiplication", (primary, secondary), out, device)


def division(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary / secondary, with broadcasting. Integers truncate toward zero; division by an integer zero gives 0.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result has that dtype. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: divisionWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("division", (primary, secondary), out, device)


def maximum(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The larger of primary and secondary, with broadcasting. A number wins over NaN.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result has that dtype. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: maximumWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("maximum", (primary, secondary), out, device)


def minimum(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """The smaller of primary and secondary, with broadcasting. A number wins over NaN.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result has that dtype. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: minimumWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("minimum", (primary, secondary), out, device)


def equal(primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None) -> ResultT:
    """primary == secondary, with broadcasting.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result is bool. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: equalWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("equal", (primary, secondary), out, device)


def not_equal(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary != secondary, with broadcasting.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result is bool. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: notEqualWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("not_equal", (primary, secondary), out, device)


def less_than(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary < secondary, with broadcasting.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result is bool. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: lessThanWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("less_than", (primary, secondary), out, device)


def less_than_or_equal_to(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary <= secondary, with broadcasting.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result is bool. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: lessThanOrEqualToWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("less_than_or_equal_to", (primary, secondary), out, device)


def greater_than(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary > secondary, with broadcasting.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result is bool. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

    MPSGraph: greaterThanWithPrimaryTensor:secondaryTensor:name: (macOS 11.0).
    """
    return call("greater_than", (primary, secondary), out, device)


def greater_than_or_equal_to(
    primary: Array, secondary: Array, *, out: ResultT | None = None, device: DeviceLike | None = None
) -> ResultT:
    """primary >= secondary, with broadcasting.

    Shapes broadcast; both have one dtype: floating (float32, float16, bfloat16; float64 on cpu), int32 or int64.
    The result is bool. Raises ShapeError or DTypeError, naming secondary, where they do not fit.

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

    Shapes broadcast; predicate is bool, the two values have one dtype, which may be any, and so has the result.
    Raises ShapeError or DTypeError naming the argument that does not fit.

    MPSGraph: selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name: (macOS 11.0).
    """
    return call("select", (predicate, true_value, false_value), out, device)
