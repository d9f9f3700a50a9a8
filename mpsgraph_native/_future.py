"""Asynchronous runs: their futures, and the thread that runs them."""

import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

__all__ = ["Future", "submit"]

_ResultT = TypeVar("_ResultT")

# How long the interpreter's exit waits for the step that is running: a device that hangs must not keep it.
_patience_at_exit = 10.0


class Future(concurrent.futures.Future[_ResultT]):
    """The results of a run that was started.

    A concurrent.futures.Future, so that concurrent.futures.wait and as_completed take it; it can be awaited as well.
    """

    def __await__(self) -> Generator[Any, None, _ResultT]:
        import asyncio  # imported late: who awaits has it, others need not wait for it

        return asyncio.wrap_future(self).__await__()


class _Worker:
    """One thread that makes one run after another: a run uses all threads by itself."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        # A daemon: the interpreter's exit would wait for other threads before it tells anybody.
        self.thread = threading.Thread(target=self.work, name="mpsgraph_native", daemon=True)
        self.thread.start()

    def work(self) -> None:
        while (entry := self.queue.get()) is not None:
            self.run(*entry)
            del entry  # what waits for the next run must not keep the last one's memory

    @staticmethod
    def run(future: Future[_ResultT], run: Callable[[], _ResultT]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            results = run()
        except BaseException as error:
            future.set_exception(error)
            del future, run  # the error's traceback holds this frame: they would keep each other
        else:
            future.set_result(results)

    def end(self) -> None:
        """Cancels what waits; gives up on what runs when it does not end in time."""
        from mpsgraph_native._core.interruption import interrupt_runs

        with contextlib.suppress(Empty):
            while (entry := self.queue.get_nowait()) is not None:
                entry[0].cancel()
        self.queue.put(None)
        interrupt_runs()
        self.thread.join(_patience_at_exit)


_lock = threading.Lock()
_worker: _Worker | None = None
_exiting = False


def submit(run: Callable[[], _ResultT]) -> Future[_ResultT]:
    """Queues `run` behind the earlier ones; gives its Future."""
    global _worker
    future: Future[_ResultT] = Future()
    with _lock:
        if _exiting:
            raise RuntimeError("run_async: no run can be started any more, the interpreter exits")
        if _worker is None:
            _worker = _Worker()
        _worker.queue.put((future, run))
    return future


def _exit() -> None:
    global _exiting
    with _lock:
        _exiting = True
        worker = _worker
    if worker is not None:
        worker.end()


def _forget_worker() -> None:
    # Neither the thread nor whoever held the lock exists in a forked child.
    global _lock, _worker
    _lock = threading.Lock()
    _worker = None


atexit.register(_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_worker)
