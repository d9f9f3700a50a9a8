"""The command `mpsgraph-native verify`."""

import faulthandler
import json
import sys
from argparse import Namespace

import mpsgraph_native as mg
from mpsgraph_native.verify import report
from mpsgraph_native.verify.check import Row, check, needed_macos, refusal
from mpsgraph_native.verify.probes import PROBES, Answer
from mpsgraph_native.verify.table import cases

__all__ = ["main"]

USAGE_ERROR = 2


def _engines(name):
    """The engines to run: the one named, or every available one. None, with a message, when the name is of no use."""
    available = [device.name for device in mg.devices() if device.available]
    if name is None:
        return available
    if name in available:
        return [name]
    known = next((device for device in mg.devices() if device.name == name), None)
    reason = "there is no such engine" if known is None else known.reason
    print(f"mpsgraph-native verify: --device {name}: {reason} (available: {', '.join(available)})", file=sys.stderr)
    return None


def _find(probe, engine):
    """The answer on an engine; what a probe raises is its message."""
    try:
        return Answer(engine, probe, probe.find(engine))
    except Exception as error:
        return Answer(engine, probe, None, f"{type(error).__name__}: {error}", needed_macos(error))


def _verify(engine, text, *, quick):
    """(skipped, rows, answers) of one engine."""
    table = list(cases(quick=quick))
    refusals = {name: refusal(name, engine) for name in dict.fromkeys(name for case in table for name in case.dtypes)}
    skipped = [
        {"engine": engine, "dtype": name, "reason": reason} for name, reason in refusals.items() if reason is not None
    ]
    text.table(engine, table)
    for entry in skipped:
        text.skipped(entry)
    rows = []
    for case in table:
        for name in case.dtypes:
            if refusals[name] is None:
                text.begin_row(case, name)
                rows.append(check(case, name, engine))
                text.end_row(rows[-1])
    text.probes(engine)
    answers = []
    for probe in PROBES:
        text.begin_probe(probe)
        answers.append(_find(probe, engine))
        text.end_probe(answers[-1])
    return skipped, rows, answers


def _summary(engine, rows, answers):
    summary = {"engine": engine}
    for name, entries in (("rows", rows), ("probes", answers)):
        summary[name] = len(entries)
        summary[f"{name}_failed"] = sum(entry.passed is False for entry in entries)
        summary[f"{name}_not_available"] = sum(entry.passed is None for entry in entries)
    summary["passed"] = not summary["rows_failed"] and not summary["probes_failed"]
    return summary


def main(arguments: Namespace) -> int:
    """Runs the command; gives the exit status: 0 when every engine passes, 1 when one fails, 2 for unusable arguments."""
    engines = _engines(arguments.device)
    if engines is None:
        return USAGE_ERROR
    output = None
    if arguments.json is not None:
        try:
            output = open(arguments.json, "w", encoding="utf-8")  # noqa: SIM115  before minutes of work
        except OSError as error:
            print(f"mpsgraph-native verify: --json {arguments.json}: {error.strerror}", file=sys.stderr)
            return USAGE_ERROR
    # A framework that asserts ends the process: then at least with the place.
    if not faulthandler.is_enabled():
        faulthandler.enable(sys.__stderr__ or sys.stderr)

    text = report.Text(sys.stdout)
    head = report.header(engines, quick=arguments.quick)
    text.head(head)
    skipped: list[dict[str, str]] = []
    rows: list[Row] = []
    answers: list[Answer] = []
    summary = []
    for engine in engines:
        parts = _verify(engine, text, quick=arguments.quick)
        skipped += parts[0]
        rows += parts[1]
        answers += parts[2]
        summary.append(_summary(engine, *parts[1:]))
    text.summary(summary, rows, answers)
    whole = report.as_json(head, skipped, rows, answers, summary)
    if output is not None:
        with output:
            json.dump(whole, output, indent=2, allow_nan=False)
            output.write("\n")
    return 0 if whole["passed"] else 1
