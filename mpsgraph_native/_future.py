"""Futures of asynchronous runs."""

import os

__all__ = ["Future", "submit"]


class Future:
    """The result of a run that was started; can be waited for and awaited."""

    __slots__ = ("_future",)

    def __init__(self, future):
        self._future = future

    def result(self, timeout=None):
        """The run's results; waits at most `timeout` seconds, then raises TimeoutError. Raises what the run raised."""
        try:
            return self._future.result(timeout)
        finally:
            del self  # the traceback of what it raises holds this frame: they would keep each other

    def exception(self, timeout=None):
        """What the run raised, or None."""
        return self._future.exception(timeout)

    def done(self):
        """Whether the run has ended or was cancelled."""
        return self._future.done()

    def cancel(self):
        """Cancels a run that has not started; gives whether it did."""
        return self._future.cancel()

    def cancelled(self):
        """Whether the run was cancelled."""
        return self._future.cancelled()

    def add_done_callback(self, function):
        """Calls function(self) when the run has ended."""
        self._future.add_done_callback(lambda _: function(self))

    def __await__(self):
        import asyncio  # imported late: who awaits has it, others need not wait for it

        return asyncio.wrap_future(self._future).__await__()


_executor = None


def submit(run):
    """Queues `run` behind the earlier ones: one worker, since a run uses all threads by itself."""
    global _executor
    if _executor is None:
        from concurrent.futures import ThreadPoolExecutor

        _executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mpsgraph_native")
    return Future(_executor.submit(run))


def _forget_executor():
    # The worker thread does not exist in a forked child.
    global _executor
    _executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_executor)
