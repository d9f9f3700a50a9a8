"""Measures rows in this process: the same work first, then interleaved rounds."""

import statistics
import time

import numpy as np
import peers

import mpsgraph_native as mg

from .limits import Limits, NoCompiler

# Workers spin on after a call and would hold the processors of the next library's.
PAUSE = 0.05
# Longer calls fill the caches by themselves.
WARM_UP_BELOW = 0.1
# A peer that takes longer than both, in seconds and as a multiple of ours, decides nothing: it is timed once.
SLOW_SECONDS, SLOW_FACTOR = 1.0, 4.0
# Of the largest value of a result: sums of 400,000 float32 products in another order differ by about a tenth of that.
TOLERANCE = 1e-4


def difference(ours, theirs):
    """The largest difference between results of one name, over the largest value of that result."""
    if not theirs or not set(theirs) <= set(ours):
        raise KeyError(f"results {sorted(theirs)}, expected some of {sorted(ours)}")
    worst = 0.0
    for name, array in theirs.items():
        if array.shape != ours[name].shape:
            raise ValueError(f"{name} has shape {array.shape}, expected {ours[name].shape}")
        largest = float(np.abs(ours[name]).max()) or 1.0
        gap = float(np.abs(array.astype(np.float64) - ours[name]).max()) / largest
        worst = max(worst, gap if np.isfinite(gap) else np.inf)
    return worst


def _timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def interleaved(calls, probes, rounds, seconds):
    """Per call its seconds, per probe its values, from rounds in which everything has its turn."""
    once = {name: _timed(call)[0] for name, call in calls.items()}
    repeats = {name: max(1, min(1000, int(seconds / max(value, 1e-7)))) for name, value in once.items()}
    ours = once["ours"]
    slow = {name for name, value in once.items() if value > max(SLOW_SECONDS, SLOW_FACTOR * ours)}
    times = {name: [once[name]] if name in slow else [] for name in calls}
    values = {name: [] for name in probes}
    for _ in range(rounds):
        for name, call in calls.items():
            if name in slow:
                continue
            time.sleep(PAUSE)
            if once[name] < WARM_UP_BELOW:
                call()
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter() - start) / repeats[name])
        time.sleep(PAUSE)
        for name, probe in probes.items():
            values[name].append(probe())
    return times, values


def _spread(values):
    return {
        "median": statistics.median(values), "fastest": min(values), "slowest": max(values), "rounds": len(values),
    }  # fmt: skip


def _measure_row(row, modules, probes, settings):
    arrays = row.arrays()
    ours = row.ours(arrays)
    mg.clear_cache()
    our_seconds, given = _timed(ours.call)
    expected = {name: array.copy() for name, array in ours.results(given).items()}
    # What the executables of this row hold: their scratch, and a plan of some hundred bytes.
    result = row.description() | {"scratch_bytes": mg.cache_info().bytes, "differences": {}, "wrong": [], "notes": []}
    calls = {"ours": ours.call}
    for module in modules.values():
        for peer in module.contenders(row, arrays):
            seconds, given = _timed(peer.call)
            gap = difference(expected, peer.results(given))
            result["differences"][peer.name] = gap
            if gap > TOLERANCE:
                result["wrong"].append(peer.name)
                result["notes"].append(f"{peer.name} gives other results, by {gap:.1e} of the largest: left out")
            elif seconds > max(settings.patience, SLOW_FACTOR * our_seconds):
                result["notes"].append(f"{peer.name} took {seconds:.1f} s for its first call: left out")
            else:
                calls[peer.name] = peer.call
    times, values = interleaved(calls, probes, settings.rounds, settings.seconds)
    result["seconds"] = {name: _spread(spent) for name, spent in times.items()}
    # A limit is the most that was seen: a disturbed probe must not raise this package's share of it.
    result["limits"] = {name: max(found) for name, found in values.items()}
    return result


def prepare(settings):
    """Gives this package and the peers their threads; gives the peers' modules by name, and notes on those that lack."""
    mg.set_default_device("cpu")
    mg.set_num_threads(settings.threads)
    modules, notes = peers.load(settings.peers)
    for module in modules.values():
        module.set_threads(settings.threads)
    return modules, notes


def measure_rows(rows, settings):
    """Gives ("start", facts) and then ("row", result) per row."""
    modules, notes = prepare(settings)
    probes = {}
    if settings.limits:
        try:
            limits = Limits(settings.threads)
            probes = {"multiply_add": limits.multiply_add, "triad": limits.triad}
        except NoCompiler as error:
            notes.append(str(error))
    yield (
        "start",
        {
            "threads": settings.threads,
            "instruction_set": mg.instruction_sets()[1],
            "precision": mg.precision(),
            "peers": list(modules),
            "notes": notes,
            "limits": {name: max(probe() for _ in range(5)) for name, probe in probes.items()},
        },
    )
    for row in rows:
        yield "row", _measure_row(row, modules, probes, settings)
