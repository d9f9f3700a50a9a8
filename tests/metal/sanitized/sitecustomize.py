"""Read by every Python process of a run with sanitizers (run_stand_in.sh puts this folder on PYTHONPATH)."""

import ctypes

process = ctypes.CDLL(None)
if hasattr(process, "__lsan_disable"):
    # NumPy drops some tuples while it is imported. No suppression by name would be as narrow as this one by time.
    process.__lsan_disable()
    import numpy  # noqa: F401

    process.__lsan_enable()
