"""Bounds on what a template may take: its own time, memory, text and requests; a derivation's time is not its own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from symscale.errors import SymscaleError

#: Seconds of a template's own loops, bytes of memory beside what Python has, letters of output, pieces asked for.
SECONDS, MEMORY, LETTERS, PIECES = 5.0, 1 << 30, 20_000_000, 20_000


class OutOfTimeError(Exception):
    """What ends a loop."""


@contextmanager
def timed() -> Iterator[None]:
    """Raise OutOfTimeError inside what runs here once its own seconds are over, where the system has such a clock."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    _clocks(SECONDS)
    try:
        yield
    finally:
        _clocks(0)
        signal.signal(signal.SIGALRM, before)


#: Whether this process may be ended: one operation on numbers of a million digits lets nothing else run.
_mortal = False


def _clocks(seconds: float) -> float:
    """Set the clock of a template, 0 to stop it, and return what it had left."""
    if _mortal:
        signal.setitimer(signal.ITIMER_PROF, 2 * seconds)
    return signal.setitimer(signal.ITIMER_REAL, seconds)[0]


def _ring(number: int, frame: FrameType | None) -> None:
    raise OutOfTimeError


@contextmanager
def paused() -> Iterator[None]:
    """Stop the clock of `timed` while a derivation is written."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    left = _clocks(0)
    try:
        yield
    finally:
        if left:
            _clocks(left)


def limit_process() -> None:
    """Bound the memory of this process, and let what does not end end it, where the system can."""
    global _mortal
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _mortal = True

    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # a system without it: what Python needs to start is little beside the bound
        now = 1 << 30
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = now + MEMORY
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def too_long(letters: int) -> SymscaleError | None:
    """Return what is said of a text of so many letters, None if it is short enough."""
    if letters <= LETTERS:
        return None
    return SymscaleError(
        f"The text is longer than {LETTERS // 10**6} million letters.", hint="Let its loops end earlier."
    )
