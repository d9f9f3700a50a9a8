"""Times the stages of one call in this process: this package's by stages, torch's as a whole, in interleaved rounds.

The clock is that of this thread's own processor time, so that other work on the machine moves it little.
"""

import statistics
import time

from rows.row import written_out

import mpsgraph_native as mg
from mpsgraph_native._core import stages
from mpsgraph_native._core.graph_site import GraphSite

from .timing import TOLERANCE, difference, prepare

CALIBRATION = 100  # calls


class _Recorded(Exception):
    """Ends an array function's call where it knows its native operation, which is the second argument."""


class _Recorder(GraphSite):
    def add(self, operation, inputs):
        raise _Recorded(operation, inputs)


def _recorded(call):
    """The native operation, inputs and results of a call that was written out."""
    function, operands, keywords = call.parts
    try:
        function(*operands, **keywords | {"device": _Recorder(None, None)})
    except _Recorded as recorded:
        return *recorded.args, keywords["out"]
    raise AssertionError(f"{function.__name__} called nothing")


def _looped(call):
    def repeat(times):
        for _ in range(times):
            call()

    return repeat


def _native(count, operation, inputs, out):
    return lambda times: stages.repeat(count, operation, inputs, out, None, times)


def _nanoseconds(repeat, times):
    start = time.thread_time_ns()
    repeat(times)
    return (time.thread_time_ns() - start) / times


def _medians(repeated, rounds, seconds):
    repeats = {
        name: max(1, int(seconds * 1e9 / max(1.0, _nanoseconds(repeat, CALIBRATION))))
        for name, repeat in repeated.items()
    }
    found = {name: [] for name in repeated}
    for _ in range(rounds):
        for name, repeat in repeated.items():
            found[name].append(_nanoseconds(repeat, repeats[name]))
    return {name: statistics.median(values) for name, values in found.items()}


def by_stage(medians):
    """From calls that end after each stage, what each stage takes; "python" is what remains of the whole call."""
    ends = [medians[name] for name in stages.STAGES]
    found = {name: end - begin for name, begin, end in zip(stages.STAGES, [0, *ends[:-1]], ends, strict=True)}
    found["lock"] = found.pop("run") - medians["engine"]
    return {
        "empty": medians["empty"],
        "python": medians["whole"] - ends[-1],
        **found,
        "engine": medians["engine"],
        "whole": medians["whole"],
        "torch": medians.get("torch"),
    }


def _measure_row(row, modules, settings):
    arrays = row.arrays()
    ours = row.ours(arrays)
    expected = {name: array.copy() for name, array in ours.results(ours.call()).items()}
    operation, inputs, out = _recorded(ours.call)
    repeated = {
        "empty": _looped(written_out(stages.nothing)),
        **{name: _native(index + 1, operation, inputs, out) for index, name in enumerate(stages.STAGES)},
        "engine": lambda times: stages.repeat_engine(operation, inputs, out, None, times),
        "whole": _looped(ours.call),
    }
    result = row.description() | {"wrong": []}
    for module in modules.values():
        torch = next(contender for contender in module.contenders(row, arrays) if contender.name == "torch")
        if difference(expected, torch.results(torch.call())) > TOLERANCE:
            result["wrong"].append("torch")
        else:
            repeated["torch"] = _looped(torch.call)
    return result | {"nanoseconds": by_stage(_medians(repeated, settings.rounds, settings.seconds))}


def measure_rows(rows, settings):
    """Gives ("start", facts) and then ("row", result) per row."""
    modules, notes = prepare(settings)
    yield (
        "start",
        {"instruction_set": mg.instruction_sets()[1], "peers": list(modules), "notes": notes},
    )
    for row in rows:
        yield "row", _measure_row(row, modules, settings)
