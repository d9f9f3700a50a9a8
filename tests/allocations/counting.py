"""Run under counter.c: prints, as JSON, what every founding operation allocates once its first calls are over.

Arguments: the number of threads, the size (of images, channels, steps and units) and how often each is called.
"""

import ctypes
import functools
import json
import resource
import sys
from pathlib import Path

from operations import cases, compiled

import mpsgraph_native as mg

counter = ctypes.CDLL(None)  # preloaded
for _function in (counter.counted_allocations, counter.counted_releases):
    _function.restype = ctypes.c_long


def state():
    pages = mg.memory_statistics()
    return {
        "resident bytes": int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize(),
        "Python blocks": sys.getallocatedblocks(),
        "mappings": pages["mappings"],
        "live page bytes": pages["live_bytes"],
    }


def heap():
    return {"allocations": counter.counted_allocations(), "releases": counter.counted_releases()}


def measured(call, times):
    """By how much each count grows with so many calls: the least of three rounds.

    What the first work of a thread or of the interpreter allocates comes once; what a call allocates, in every round.
    """
    for _ in range(3):  # the first compiles and finds memory
        call()
    least = {}
    for _ in range(3):
        before = state() | heap()
        for _ in range(times):
            call()
        after = heap() | state()  # in this order: to look at the state allocates
        grown = {name: after[name] - before[name] for name in before}
        least = {name: min(value, least.get(name, value)) for name, value in grown.items()}
        if not any(least.values()):
            break
    return least


def main(threads, size, times):
    mg.set_default_device("cpu")
    mg.set_num_threads(threads)
    found = {"control": measured(lambda: bytearray(1 << 16), times)}
    for label, name, operands, fields in cases(size):
        function = getattr(mg, name)
        results = function(*operands, **fields)
        out = results
        if isinstance(results, tuple):
            out = results = tuple(result for result in results if result is not None)
        executable, values = compiled(name, operands, fields)
        targets = list(results) if isinstance(results, tuple) else [results]
        ways = {
            "function": functools.partial(function, *operands, **fields, out=out),
            "executable": functools.partial(executable.run, values, results=targets),
        }
        for way, call in ways.items():
            found[f"{label} {way}"] = measured(call, times)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
