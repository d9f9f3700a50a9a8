"""Run under failing.cpp: prints, as JSON, what becomes of every call whose n-th allocation fails, for every n.

Each call compiles anew, on memory that has gone back to the system.
"""

import ctypes
import functools
import gc
import json
import sys

import numpy as np
from operations import cases, compiled

import mpsgraph_native as mg

allocator = ctypes.PyDLL(None)  # preloaded; of the calling thread, and so with the GIL
for _function in (allocator.allocations_seen, allocator.live_blocks):
    _function.restype = ctypes.c_long
MOST = 10_000


def arrays_of(results):
    results = results if isinstance(results, tuple) else (results,)
    return [np.array(result) for result in results if result is not None]


def same(results, expected):
    return all(np.array_equal(actual, wanted) for actual, wanted in zip(arrays_of(results), expected, strict=True))


def fresh():
    """As before the first call; gives what lives."""
    gc.collect()  # an exception's frames may refer to each other
    mg.clear_cache()
    mg.trim_memory()
    return allocator.live_blocks(), mg.memory_statistics()["live_bytes"]


def swept(call):
    """What came of the call for each allocation that failed."""
    expected = arrays_of(call())
    fresh()
    call()
    before = fresh()
    found = {"failures": 0, "survived": 0, "faults": []}
    for number in range(1, MOST):
        results = None
        allocator.fail_allocation(number)
        try:
            results = call()
            outcome = "survived"
        except MemoryError:
            outcome = "failures"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        seen = allocator.allocations_seen()
        allocator.fail_allocation(0)
        if seen < number:  # there is no such allocation
            break
        if outcome in found:
            found[outcome] += 1
        else:
            found["faults"].append(f"{number}: {outcome}")
        if results is not None and not same(results, expected):
            found["faults"].append(f"{number}: other results")
        if not same(call(), expected):
            found["faults"].append(f"{number}: the next call gave other results")
        results = None
        if fresh() != before:
            found["faults"].append(f"{number}: {before} became {fresh()} blocks and bytes that live")
            before = fresh()
    return found


def graph_call(name, operands, fields):
    executable, values = compiled(name, operands, fields)
    return executable.run(values)


def main(threads):
    mg.set_default_device("cpu")
    mg.set_num_threads(threads)
    found = {}
    for label, name, operands, fields in cases(8):
        found[f"{label} function"] = swept(functools.partial(getattr(mg, name), *operands, **fields))
        found[f"{label} graph"] = swept(functools.partial(graph_call, name, operands, fields))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
