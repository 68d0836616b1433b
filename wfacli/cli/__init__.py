"""The command line. Only here are messages printed and exit codes chosen."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import warnings
from io import TextIOWrapper
from types import FrameType
from typing import Any

EXIT_FAILURE, EXIT_USAGE, EXIT_SIGNAL = 1, 2, 128
EXIT_PIPE = EXIT_SIGNAL + signal.SIGPIPE


def _end_at_once(number: int, _frame: FrameType | None) -> None:
    os._exit(EXIT_SIGNAL + number)


def _catch_early() -> None:
    """Until entry() runs, a signal shall end the program quietly, with its status, not in the middle of an import."""
    with contextlib.suppress(ValueError):  # in another thread than the first, where no command is run
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end_at_once)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end_at_once)


_catch_early()

# Before numpy is imported: its linear algebra is not used here, and its threads would only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from ..errors import OutputClosed, UsageError, WfacliError  # noqa: E402
from .console import error, fall_silent, warning  # noqa: E402

# Python's words, and the C library's, where memory or a limit is the reason.
_NO_THREAD = ("can't start new thread", "Resource temporarily unavailable", "Cannot allocate memory")


class _Terminated(BaseException):
    """A signal arrived that ends the program; not an Exception, so that nothing swallows it.

    Attributes:
        signal: which.
    """

    def __init__(self, number: int) -> None:
        self.signal = number


def _terminate(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGHUP and not _is_kept(2):
        fall_silent()  # the terminal has gone
    raise _Terminated(number)


def _is_kept(descriptor: int) -> bool:
    """Whether it is a file or a pipe, whose content outlives a terminal."""
    try:
        return not stat.S_ISCHR(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def _drop_stdout() -> None:
    # What is still buffered can go nowhere, and Python must not complain about that while it shuts down.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _keep_closed_streams_closed() -> None:
    # Else the next file that is opened would be standard input, or output. The wrong way round it is as if closed.
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, mode), descriptor)


def _is_expected(problem: BaseException) -> bool:
    """Whether it is of inputs or limits; else it is a defect, whose traceback is wanted."""
    if isinstance(problem, SystemError):  # of an import for which there is no memory
        return "error return without exception set" in str(problem)
    return not isinstance(problem, RuntimeError) or any(words in str(problem) for words in _NO_THREAD)


def _reason(problem: BaseException) -> str:
    """Why the command fails, in words."""
    if isinstance(problem, SystemError):
        return "out of memory"
    if isinstance(problem, RuntimeError):
        return f"no thread can be started ({problem}): there is a limit of memory or of threads"
    if isinstance(problem, MemoryError):
        return f"out of memory: {problem}" if str(problem) else "out of memory"
    if isinstance(problem, ImportError):
        while isinstance(problem.__context__, ImportError):  # numpy's says pages on what may be the reason
            problem = problem.__context__
        return f"a part of wfacli cannot be loaded: {problem} (too little memory, or a broken installation)"
    return str(problem) or type(problem).__name__


def _warn(message: Warning | str, category: type[Warning], *_place: Any, **_more: Any) -> None:
    """Prints a warning of wfacli's as a line; what others warn of is nothing for users."""
    if category.__module__.startswith("wfacli.") and not {"-q", "--quiet"} & set(sys.argv):
        warning(str(message))


def _catch() -> None:
    """Has signals end the command in its own way."""
    early = (signal.SIG_DFL, _end_at_once)
    if signal.getsignal(signal.SIGINT) in early:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) in early:  # else it is nohup that has called
        signal.signal(signal.SIGHUP, _terminate)


def entry() -> None:
    """Runs the command that the arguments name, and exits: 0 done, 1 failure, 2 usage, 129, 130, 141, 143 signals."""
    _keep_closed_streams_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # help has letters that not every terminal's encoding has
    warnings.showwarning = _warn
    try:
        from .app import app  # what takes most of a start's time

        _catch()
        app(prog_name="wfacli")
    except OutputClosed:
        _drop_stdout()
        sys.exit(EXIT_PIPE)
    except _Terminated as end:
        sys.exit(EXIT_SIGNAL + end.signal)
    except (WfacliError, MemoryError, OSError, ImportError, RuntimeError, SystemError) as problem:
        if "--debug" in sys.argv or not _is_expected(problem):
            raise
        error(_reason(problem))
        if isinstance(problem, OSError):
            _drop_stdout()
        sys.exit(EXIT_USAGE if isinstance(problem, UsageError) else EXIT_FAILURE)
