"""Read by every Python process of a run with sanitizers (run_stand_in.sh puts this folder on PYTHONPATH)."""

import ctypes

process = ctypes.CDLL(None)
if hasattr(process, "__lsan_disable"):
    # NumPy drops some tuples while it is imported. Their stacks end in Python's allocator, which has no frame pointers:
    # a suppression by name would hide leaks of ours, this one by time does not.
    process.__lsan_disable()
    import numpy  # noqa: F401

    process.__lsan_enable()
