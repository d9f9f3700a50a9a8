"""Runs cases on an engine and compares what comes out with what is expected."""

import re
import statistics
import time
from typing import NamedTuple

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.data import dtype
from mpsgraph_native.verify.tolerance import relative_errors, ulp_errors

__all__ = ["Row", "check", "compare", "needed_macos", "refusal"]

CALLS = 7
ENOUGH_SECONDS = 0.02


class Row(NamedTuple):
    """One case on one engine. Errors and time are None when the case raised or gave another shape or dtype.

    `needs_macos` is the version that the engine asked for instead of computing; `passed` is None then.
    """

    engine: str
    operation: str
    case: str
    dtype: str
    passed: bool | None
    max_error_ulp: float | None = None
    max_error_relative_to_tolerance: float | None = None
    seconds_per_call: float | None = None
    message: str = ""
    needs_macos: str | None = None


class _Mismatch(Exception):
    """A result of another kind than expected."""


def needed_macos(error):
    """The version of macOS that a refusal asks for; None for every other error."""
    if not isinstance(error, mg.DeviceError):
        return None
    found = re.search(r"\b(?:needs|before) macOS (\d+\.\d+)", str(error))
    return found and found.group(1)


def refusal(dtype_name, device):
    """Why the engine cannot be asked about this dtype, or None. float32 and int32 every engine must have."""
    if dtype_name in ("float32", "int32"):
        return None
    try:
        ones = np.ones(1, dtype(dtype_name))
        mg.addition(ones, ones, device=device)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except (mg.DTypeError, mg.DeviceError) as error:
        return str(error)
    return None


def _errors(actual, expected, dtype_name):
    """The largest errors of one result: in ulp, and relative to the tolerance."""
    value = np.asarray(expected.value)
    # A float64 reference stands for the dtype of the row; other values have the result's own.
    wanted = dtype(dtype_name) if value.dtype == np.float64 else value.dtype
    if not isinstance(actual, np.ndarray) or actual.dtype != wanted or actual.shape != value.shape:
        given = f"{actual.dtype} {actual.shape}" if isinstance(actual, np.ndarray) else type(actual).__name__
        raise _Mismatch(f"expected {wanted} {value.shape}, got {given}")
    floating = wanted.kind not in "iub"
    ulp = ulp_errors(actual, value) if floating else np.abs(actual.astype(np.float64) - value.astype(np.float64))
    if expected.magnitude is None:
        relative = np.where(ulp == 0, 0.0, np.inf)
    else:
        relative = relative_errors(actual, value, expected.magnitude, expected.length)
    return float(ulp.max(initial=0.0)), float(relative.max(initial=0.0))


def compare(results, expected, dtype_name):
    """The largest errors of all results of a call."""
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(expected):
        raise _Mismatch(f"expected {len(expected)} results, got {len(results)}")
    errors = [
        _errors(actual, wanted, dtype_name)
        for actual, wanted in zip(results, expected, strict=True)
        if wanted is not None
    ]
    return tuple(map(max, zip(*errors, strict=True)))


def _seconds_per_call(call):
    """The median of several calls, fewer where calls are long. Compilation is over by then."""
    times = []
    while len(times) < CALLS and (len(times) < 3 or sum(times) < ENOUGH_SECONDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def check(case, dtype_name, device):
    """The row of a case. What it raises is the row's message and not the end of the run."""

    def row(passed, *numbers, **rest):
        return Row(device, case.operation, case.name, dtype_name, passed, *numbers, **rest)

    try:
        problem = case.build(dtype_name, device)
        function = getattr(mg, case.operation)

        def call():
            return function(*problem.arguments, **problem.keywords, device=device)

        ulp, relative = compare(call(), problem.expected, dtype_name)
        passed = relative <= 1
        message = "" if passed else f"the error is {relative:.3g} of the tolerance"
        return row(passed, ulp, relative, _seconds_per_call(call), message=message)
    except _Mismatch as error:
        return row(False, message=str(error))
    except Exception as error:
        needs = needed_macos(error)
        return row(None if needs else False, message=f"{type(error).__name__}: {error}", needs_macos=needs)
