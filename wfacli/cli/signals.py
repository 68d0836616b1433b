"""Signals that end a command: one exception for the first, and a quick end for one that comes later.

`timeout` signals a process and then its group, so that a command receives the same signal twice within milliseconds.
The second one must not interrupt the cleanup that the first one started.

Python runs a handler between any two steps of the main thread. An exception that it raises within the Python code of a
lock would leave the lock held, and the command would wait for it forever: the handler is then called again later.
"""

from __future__ import annotations

import atexit
import os
import signal
import stat
import sys
import time
from types import FrameType

from ..core.interruption import is_deferring, raise_or_defer
from .early import end_at_once

REPEAT_SECONDS = 1.0  # signals that arrive so soon after the first one repeat it
_RETRY_SECONDS = 0.002  # long enough for a destructor, or the like, to end

_ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

# Packages whose code is not interrupted, and their functions that wait, which are: they end properly by an exception.
# Of Condition.wait() this holds once it has the variable _WAITS, which is when it begins to wait.
_FRAGILE = frozenset(
    {"_weakrefset", "concurrent", "contextlib", "importlib", "queue", "subprocess", "tempfile", "threading", "weakref"}
)
_FROZEN = "_frozen_importlib"
_WAITING = frozenset({"_communicate", "_try_wait", "_wait", "_wait_for_tstate_lock", "communicate", "join"})
_WAITS = "gotit"

_begun: float | None = None  # time of the first signal, or of the end of the command
_received = False
_retried: int | None = None  # the signal whose handler is called again


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
    global _begun, _received, _retried
    _begun, _received, _retried = None, False, None
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
    if _retried is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number in _ENDING:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_IGN)


def _resend(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat a signal whose exception was raised where Python discards it, as in a destructor."""
    global _begun
    problem = unraisable.exc_value
    if isinstance(problem, KeyboardInterrupt | Terminated):
        _begun = None
        _retry(problem.signal if isinstance(problem, Terminated) else signal.SIGINT)
    else:
        sys.__unraisablehook__(unraisable)


def _retry(number: int) -> None:
    """Call the handler of a signal again soon. By a timer: starting a thread would need locks that may be held."""
    global _retried
    _retried = number
    signal.signal(signal.SIGALRM, _end_after_all)
    signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)


def _end_after_all(_alarm: int, frame: FrameType | None) -> None:
    if _retried is not None:
        _end(_retried, frame)


def _end(number: int, frame: FrameType | None) -> None:
    """Raise on the first signal, ignore its repetitions, and exit at once on a later one, which will not wait."""
    global _begun, _received
    now = time.monotonic()
    if _begun is None and not is_deferring() and _is_fragile(frame):
        _retry(number)
    elif _begun is None:
        _begun, _received = now, True
        raise_or_defer(lambda: _raise(number))
    elif now - _begun > REPEAT_SECONDS:
        end_at_once(number, frame)


def _is_fragile(frame: FrameType | None) -> bool:
    """Return True if an exception in this frame could leave a lock held or a cleanup undone."""
    if frame is None:
        return False
    module = str(frame.f_globals.get("__name__"))
    if module.startswith(_FROZEN) or module in (__name__, raise_or_defer.__module__):
        return True
    waits = frame.f_code.co_name in _WAITING or _WAITS in frame.f_locals
    return module.partition(".")[0] in _FRAGILE and not waits


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
