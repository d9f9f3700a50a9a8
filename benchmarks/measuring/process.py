"""A fresh process per number of threads: some libraries settle their threads when they start."""

import contextlib
import dataclasses
import importlib
import multiprocessing
import os

from .machine import processors


@dataclasses.dataclass(frozen=True)
class Settings:
    threads: int
    rounds: int = 7
    seconds: float = 0.02  # least time of one library in one round
    patience: float = 5.0  # a peer whose first call takes longer, and much longer than ours, is left out
    peers: tuple[str, ...] = ()
    limits: bool = True


@contextlib.contextmanager
def _confined(threads):
    """What is started meanwhile sees `threads` processors and is told to use so many."""
    told = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    flags = os.environ.get("XLA_FLAGS", "")
    if threads == 1:
        flags += " --xla_cpu_multi_thread_eigen=false"
    told |= {"XLA_FLAGS": flags.strip(), "NPROC": str(threads), "JAX_PLATFORMS": "cpu"}
    before = {name: os.environ.get(name) for name in told}
    confine = getattr(os, "sched_setaffinity", None)
    whole = os.sched_getaffinity(0) if confine else None
    os.environ.update(told)
    if confine:
        confine(0, processors()[:threads])
    try:
        yield
    finally:
        if confine:
            confine(0, whole)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(connection, rows, settings, module):
    # Imported here: in a process whose processors and environment are settled.
    for message in importlib.import_module(module).measure_rows(rows, settings):
        connection.send(message)
    connection.send(("end", None))


def measured(rows, settings, module="measuring.timing"):
    """Gives ("start", facts) and then a ("row", result) per row, as the module measures them in a process of their own."""
    if settings.threads > len(processors()):
        raise SystemExit(f"{settings.threads} threads asked, this process may use {len(processors())} processors")
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, rows, settings, module), daemon=True)
    with _confined(settings.threads):
        process.start()
    sender.close()
    try:
        while (message := receiver.recv())[0] != "end":
            yield message
    except EOFError:
        process.join()
        raise SystemExit(f"the measuring process ended with status {process.exitcode}") from None
    process.join()
