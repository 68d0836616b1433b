"""Signals that end a command: one exception for the first, and a quick end for one that comes later.

`timeout` signals a process and then its group, so that a command receives the same signal twice within milliseconds.
The second one must not interrupt the cleanup that the first one started.
"""

from __future__ import annotations

import atexit
import os
import signal
import stat
import sys
import threading
import time
from types import FrameType

from ..core.interruption import raise_or_defer
from .early import end_at_once

REPEAT_SECONDS = 1.0  # signals that arrive so soon after the first one repeat it
_RESEND_SECONDS = 0.01  # long enough for a destructor, or the like, to end

_ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

_begun: float | None = None  # time of the first signal, or of the end of the command
_received = False


class Terminated(BaseException):
    """Raised by SIGTERM and SIGHUP; not an Exception, so that no handler swallows it.

    Attributes:
        signal: number of the signal.
    """

    def __init__(self, number: int) -> None:
        self.signal = number


def catch() -> None:
    """Install the handlers of a running command; signals that are ignored, as SIGHUP under nohup, stay ignored.

    Once Python begins to exit, all are ignored.
    """
    global _begun, _received
    _begun, _received = None, False
    for number in _ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, end_at_once, signal.default_int_handler):
            signal.signal(number, _end)
    sys.unraisablehook = _resend
    atexit.register(_ignore_all)


def ignore() -> None:
    """Ignore the signals that arrive while the command ends, and all if one has ended it.

    Python resets its handlers before it exits, so that a signal would change the exit status: see catch().
    """
    global _begun
    if not _received:
        _begun = time.monotonic()
    else:
        _ignore_all()


def _ignore_all() -> None:
    for number in _ENDING:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_IGN)


def _resend(unraisable: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose exception was raised where Python discards it, as in a destructor."""
    global _begun
    problem = unraisable.exc_value
    if isinstance(problem, KeyboardInterrupt | Terminated):
        number = problem.signal if isinstance(problem, Terminated) else signal.SIGINT
        _begun = None
        again = threading.Timer(_RESEND_SECONDS, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def _end(number: int, frame: FrameType | None) -> None:
    """Raise on the first signal, ignore its repetitions, and exit at once on a later one, which will not wait."""
    global _begun, _received
    now = time.monotonic()
    if _begun is None:
        _begun, _received = now, True
        raise_or_defer(lambda: _raise(number))
    elif now - _begun > REPEAT_SECONDS:
        end_at_once(number, frame)


def _raise(number: int) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    if number == signal.SIGHUP and not _is_kept(2):
        _silence_stderr()  # the terminal is closed
    raise Terminated(number)


def _is_kept(descriptor: int) -> bool:
    """Return True if a descriptor is a file or a pipe, whose content outlives the terminal."""
    try:
        return not stat.S_ISCHR(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def _silence_stderr() -> None:
    from .console import silence_stderr

    silence_stderr()
