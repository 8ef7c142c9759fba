"""The same function on many items, in several processes at once."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from symscale.errors import SymscaleError

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many processes can run at once."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int, size: Callable[[Item], int]
) -> list[Result]:
    """Return `function(item)` of every item, in their order; the largest are begun first.

    The processes are new ones: a copy of this one, made by fork, could hold a lock that no thread of its own will
    open. The first item that fails, in order, raises what a loop over them would, and the processes end with it.
    """
    if min(workers, len(items)) < 2:
        return [function(each) for each in items]
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    others = set(active_children())
    executor = ProcessPoolExecutor(min(workers, len(items)), get_context("spawn"), _quiet)
    try:
        with _later():
            order = sorted(range(len(items)), key=lambda n: -size(items[n]))
            begun = {n: executor.submit(function, items[n]) for n in order}
        found = [begun[n].result() for n in range(len(items))]
    except BaseException as error:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - others:
            child.terminate()
        if isinstance(error, BrokenProcessPool):
            raise SymscaleError(
                "A process that rendered a part of the reports was ended from outside.",
                hint="If the machine has little memory, `--workers 1` needs less at once.",
            ) from error
        raise
    executor.shutdown()
    return found


def _quiet() -> None:
    """Leave interrupts to the process that asked, and collect garbage rarely, as commands do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(200_000, 20, 100)


@contextmanager
def _later() -> Iterator[None]:
    """Put off interrupts, where the system can; processes begun meanwhile inherit that, and never see one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
