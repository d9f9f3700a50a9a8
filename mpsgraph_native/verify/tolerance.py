"""How far correct arithmetic may be from a float64 reference."""

import numpy as np

__all__ = ["ACCUMULATOR", "EPSILON", "FLOAT_DTYPES", "SMALLEST", "error_bound", "relative_errors", "ulp_errors"]

# Stored bits of the significand and exponent of the smallest normal number.
_FORMATS = {"float32": (23, -126), "float64": (52, -1022), "float16": (10, -14), "bfloat16": (7, -126)}
FLOAT_DTYPES = tuple(_FORMATS)
EPSILON = {name: 2.0**-bits for name, (bits, _) in _FORMATS.items()}
SMALLEST = {name: 2.0 ** (exponent - bits) for name, (bits, exponent) in _FORMATS.items()}
ACCUMULATOR = {name: "float64" if name == "float64" else "float32" for name in FLOAT_DTYPES}


def error_bound(result_dtype, expected, magnitude, length):
    """Largest error that correct arithmetic may show, elementwise.

    Let u = eps / 2 be the unit roundoff of the accumulator (float32 for half types). The rigorous bound of a sum of n products,
    |error| <= n u / (1 - n u) * sum |a b|, holds for every order of summation, but is so wide that it would hide a sum kept in too
    narrow a type. Rounding errors are close to independent and centred, and then (Higham and Mary, 2019)
    |error| <= lambda sqrt(n) u * sum |a b| fails with probability below 2 n exp(-lambda^2 / 2).
    lambda = 10 leaves no false alarm in any number of runs; its excess over what is ever seen covers algorithms that mix neighbouring
    elements before they multiply (Winograd), whose constant is several times that of a plain sum. The +4 stands for the
    handful of operations around a short sum (division, square root).

        bound = (5 sqrt(n) + 4) eps(accumulator) * magnitude + eps(result) * |expected| + smallest subnormal(result)

    The second term is the final rounding to the result's type (half of it would do for one rounding to nearest).
    """
    name = str(result_dtype)
    factor = (5.0 * np.sqrt(length) + 4.0) * EPSILON[ACCUMULATOR[name]]
    return factor * magnitude + EPSILON[name] * np.abs(expected) + SMALLEST[name]


def relative_errors(actual, expected, magnitude, length):
    """The errors of a floating result as fractions of `error_bound`; infinities and NaN must agree: else infinite."""
    given, expected = np.asarray(actual).astype(np.float64), np.asarray(expected, np.float64)
    finite = np.isfinite(expected)
    target = np.where(finite, expected, 0.0)
    bound = error_bound(actual.dtype, target, np.broadcast_to(magnitude, expected.shape), length)
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs(given - target) / bound
        same = (given == expected) | (np.isnan(given) & np.isnan(expected))
    errors = np.where(np.isnan(errors), np.inf, errors)
    return np.where(finite, errors, np.where(same, 0.0, np.inf))


def ulp_errors(actual, expected):
    """The errors of a floating result in units of the last place of the expected value, as the result's dtype spaces numbers.

    Where terms cancel, the unit is small and the number large, with nothing wrong: that is what `error_bound` is for.
    """
    name = str(actual.dtype)
    given, expected = np.asarray(actual).astype(np.float64), np.asarray(expected, np.float64)
    with np.errstate(all="ignore"):
        _, exponents = np.frexp(expected)
        unit = np.maximum(np.ldexp(EPSILON[name], exponents - 1), SMALLEST[name])
        errors = np.abs(given - expected) / unit
        same = (given == expected) | (np.isnan(given) & np.isnan(expected))
    return np.where(same, 0.0, np.where(np.isfinite(errors), errors, np.inf))
