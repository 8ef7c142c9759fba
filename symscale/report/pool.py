"""The same function on many items, in several processes at once."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from symscale.errors import SymscaleError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")
#: So long a process that was told to end may take [s].
PATIENCE = 2.0


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
    open. They are served by this thread alone, so that an interrupt ends all of them at once. Of the items that fail
    the first raises what a loop over them would.
    """
    if min(workers, len(items)) < 2:
        return [function(each) for each in items]
    from multiprocessing import get_context

    context = get_context("spawn")
    processes, idle = [], []
    try:
        with _later():
            for _ in range(min(workers, len(items))):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, function), daemon=True)
                process.start()
                theirs.close()
                processes.append(process)
                idle.append(ours)
        done = _served(idle, items, sorted(range(len(items)), key=lambda n: -size(items[n])))
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(PATIENCE)
            if process.is_alive():
                process.kill()
    return [done[n] for n in range(len(items))]


def _served(idle: list[Connection], items: Sequence[Any], order: list[int]) -> dict[int, Any]:
    """Give the items out, one to each process that is idle, and return the results by number."""
    from multiprocessing.connection import wait

    done: dict[int, Any] = {}
    failed: dict[int, BaseException] = {}
    busy: dict[Connection, int] = {}
    while order or busy:
        while order and idle:
            number = order.pop(0)
            busy[connection := idle.pop()] = number
            connection.send(items[number])
        for ready in wait(list(busy)):
            connection = next(each for each in busy if each is ready)
            number, (well, found) = busy.pop(connection), _received(connection)
            idle.append(connection)
            (done if well else failed)[number] = found
            order = [each for each in order if not failed or each < min(failed)]
    if failed:
        raise failed[min(failed)]
    return done


def _received(connection: Connection) -> tuple[bool, Any]:
    try:
        well, found = connection.recv()
    except (EOFError, OSError) as error:
        raise SymscaleError(
            "A process that rendered a part of the reports was ended from outside.",
            hint="If the machine has little memory, `--workers 1` needs less at once.",
        ) from error
    return well, found


def _serve(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Apply a function to what comes in, until nobody asks any more; interrupts are left to the process that asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(200_000, 20, 100)
    with suppress(EOFError, OSError):  # whoever asked has ended
        while True:
            item = connection.recv()
            try:
                answer = True, function(item)
            except Exception as error:
                answer = False, error
            connection.send(answer)


@contextmanager
def _later() -> Iterator[None]:
    """Put off interrupts, where the system can; processes begun meanwhile inherit that, and never see one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # which lets interrupts through when it begins, and would undo this
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
