# cython: freethreading_compatible=True
"""What ends a run before its next step: a signal handler that raises, or the interpreter's exit."""

from libcpp cimport bool

import os
import threading

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()
    int PyErr_CheckSignals() noexcept

cdef extern from *:
    """
    #include <atomic>
    static std::atomic<bool> mpsgraph_native_exiting{false};
    """
    cppclass AtomicFlag "std::atomic<bool>":
        bool load() nogil
        void store(bool)
    AtomicFlag _exiting "mpsgraph_native_exiting"


def interrupt_runs():
    """Ends the runs of all threads but the main one at their next step: the interpreter exits."""
    _exiting.store(True)


cdef bool _is_exiting() noexcept nogil:
    return _exiting.load()


cdef bool _has_raised() noexcept with gil:
    # What a handler raises stays with this thread, which lets go of the GIL and of nothing else until it is seen.
    return PyErr_CheckSignals() != 0


cdef unsigned long _main_thread = threading.main_thread().ident


def _become_main_thread():
    global _main_thread
    _main_thread = PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_become_main_thread)


cdef InterruptionCheck check_of_this_thread() noexcept:
    # Python runs signal handlers in the main thread alone.
    return _has_raised if PyThread_get_thread_ident() == _main_thread else _is_exiting
