"""The report, as text while it comes about and as JSON."""

import math
import platform
import sys

import numpy as np

from mpsgraph_native import _information

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Text", "as_json", "header", "on_apple_hardware"]

SCHEMA = "mpsgraph_native.verify"
SCHEMA_VERSION = 2


def on_apple_hardware(engine):
    """Whether this engine (its name and description) is MPSGraph itself on a Mac."""
    return engine["name"] == "mps" and sys.platform == "darwin" and "stand-in" not in engine["description"]


def header(engines, *, quick):
    """What ran and where; `engines` are the names of those that ran."""
    information = _information.collect()
    for engine in information["engines"]:
        engine["ran"] = engine["name"] in engines
        engine["apple_hardware"] = engine["ran"] and on_apple_hardware(engine)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "quick": quick,
        "versions": information["versions"],
        "operating_system": _operating_system(),
        "machine": platform.machine(),
        "threads": information["threads"],
        "engines": information["engines"],
        "scope": _scope(information["engines"]),
    }


def _operating_system():
    macos = platform.mac_ver()[0]
    return f"macOS {macos}" if macos else platform.platform()


def _scope(engines):
    """What may be concluded about Apple hardware."""
    ran = [engine for engine in engines if engine["ran"]]
    if any(engine["apple_hardware"] for engine in ran):
        return "The rows of mps say what MPSGraph does on this Mac."
    reason = (
        "the mps engine of this build is a stand-in for Apple's frameworks"
        if any(engine["name"] == "mps" for engine in ran)
        else "no mps engine ran"
    )
    return f"Nothing about Apple hardware follows from this report: {reason}."


def _plain(value):
    """JSON has no infinities and no NaN: they become strings."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def as_json(head, skipped, rows, answers, summary):
    """The whole report as plain values."""
    return _plain(
        {
            **head,
            "skipped": skipped,
            "rows": [row._asdict() for row in rows],
            "probes": [_probe(answer) for answer in answers],
            "summary": summary,
            "passed": all(engine["passed"] for engine in summary),
        }
    )


def _probe(answer):
    probe, finding = answer.probe, answer.finding
    return {
        "engine": answer.engine,
        "name": probe.name,
        "question": probe.question,
        "answers": [{"answer": name, "value": np.asarray(value)} for name, value in probe.answers.items()],
        "documented": probe.documented,
        "promised": probe.promised,
        "value": None if finding is None else finding.value,
        "answer": None if finding is None else finding.answer,
        "passed": answer.passed,
        "message": answer.message,
        "needs_macos": answer.needs_macos,
    }


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def _duration(seconds):
    unit, scale = next((entry for entry in _UNITS if seconds >= entry[1]), _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def _number(value):
    return f"{value:.2f}" if value < 1000 else f"{value:.1e}"


def _value(value):
    return np.array2string(np.asarray(value), precision=6, separator=", ", max_line_width=200).replace("\n", "")


def _missing(count):
    return f", {count} not available on this macOS" if count else ""


def _outcome(entry):
    """Of a row or an answer, in words."""
    if entry.needs_macos:
        return f"not available (needs macOS {entry.needs_macos})"
    return "passed" if entry.passed else f"FAILED: {entry.message}"


class Text:
    """The report as text, written while it comes about: if a framework ends the process, the last line names the case."""

    def __init__(self, stream):
        self._stream = stream
        # A terminal without Greek letters must not end a run half way.
        stream.reconfigure(errors="replace")

    def _line(self, text=""):
        print(text, file=self._stream, flush=True)

    def _begin(self, text):
        print(text, end="", file=self._stream, flush=True)

    def head(self, head):
        self._line(f"mpsgraph_native {head['versions']['mpsgraph_native']} verify{', quick' if head['quick'] else ''}")
        self._line(f"{head['operating_system']}, {head['machine']}, {head['threads']} threads")
        for engine in head["engines"]:
            if engine["ran"]:
                state = f"ran: {engine['description']}"
            else:
                state = "not asked for" if engine["available"] else f"not available: {engine['reason']}"
            self._line(f"engine {engine['name']}: {state}")
        self._line(head["scope"])

    def skipped(self, entry):
        self._line(f"skipped: {entry['dtype']}: {entry['reason']}")

    def table(self, engine, cases):
        """The columns of an engine's table."""
        self._widths = max(len(case.operation) for case in cases), max(len(case.name) for case in cases)
        self._line()
        self._line(f"Operations on {engine}: largest error in ulp of the result and as a fraction of the tolerance")
        title = self._columns("operation", "case", "dtype")
        self._line(f"{title}  {'ulp':>9}  {'tolerance':>9}  {'per call':>8}")

    def _columns(self, operation, case, dtype_name):
        return f"{operation:<{self._widths[0]}}  {case:<{self._widths[1]}}  {dtype_name:<8}"

    def begin_row(self, case, dtype_name):
        self._begin(self._columns(case.operation, case.name, dtype_name))

    def end_row(self, row):
        if row.seconds_per_call is not None:
            errors = _number(row.max_error_ulp), _number(row.max_error_relative_to_tolerance)
            numbers = f"  {errors[0]:>9}  {errors[1]:>9}  {_duration(row.seconds_per_call):>8}"
        else:
            numbers = ""
        self._line(f"{numbers}  {_outcome(row)}")

    def probes(self, engine):
        self._line()
        self._line(f"Questions on {engine}: possible answers with what they predict, and what came out (>)")

    def begin_probe(self, probe):
        self._begin(f"{probe.name}: {probe.question}")

    def end_probe(self, entry):
        probe, finding = entry.probe, entry.finding
        self._line()
        answer = None if finding is None else finding.answer
        for candidate, predicted in probe.answers.items():
            note = " (documented)" if candidate == probe.documented and probe.promised else ""
            self._line(f"  {'>' if candidate == answer else ' '} {candidate}{note}: {_value(predicted)}")
        if finding is None:
            self._line(f"  {_outcome(entry)}")
        elif not finding.passed:
            came = "another answer" if answer is not None else "none of these"
            self._line(f"  FAILED: {came} came out: {_value(finding.value)}")
        elif answer is None:
            self._line(f"  > none of these: {_value(finding.value)}")

    def summary(self, summary, rows, answers):
        self._line()
        for row in rows:
            if row.passed is False:
                self._line(f"FAILED: {row.engine} {row.operation}, {row.case}, {row.dtype}: {row.message}")
        for engine, probe, finding, message, _ in (answer for answer in answers if answer.passed is False):
            came = message if finding is None else finding.answer or f"none of the answers: {_value(finding.value)}"
            self._line(f"FAILED: {engine} {probe.name}: documented {probe.documented!r}, came out {came!r}")
        for engine in summary:
            self._line(
                f"{engine['engine']}: {'passed' if engine['passed'] else 'FAILED'}; {engine['rows']} rows, "
                f"{engine['rows_failed']} failed{_missing(engine['rows_not_available'])}; {engine['probes']} questions, "
                f"{engine['probes_failed']} not answered as documented{_missing(engine['probes_not_available'])}"
            )
