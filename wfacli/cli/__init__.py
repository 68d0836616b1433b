"""The command line. Only here are messages printed and exit codes chosen."""

from __future__ import annotations

import os
import signal
import stat
import sys
import warnings
from io import TextIOWrapper
from types import FrameType
from typing import Any

# Until entry() runs, an interrupt shall end the program quietly and not in the middle of an import.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# Before numpy is imported: its linear algebra is not used here, and its threads would only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from ..errors import OutputClosed, UsageError, WfacliError
from .app import app
from .console import error, fall_silent, warning

EXIT_FAILURE, EXIT_USAGE, EXIT_SIGNAL = 1, 2, 128
EXIT_PIPE = EXIT_SIGNAL + signal.SIGPIPE


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


def _warn(message: Warning | str, category: type[Warning], *_place: Any, **_more: Any) -> None:
    """Prints a warning of wfacli's as a line; what others warn of is nothing for users."""
    if category.__module__.startswith("wfacli.") and not {"-q", "--quiet"} & set(sys.argv):
        warning(str(message))


def entry() -> None:
    """Runs the command that the arguments name, and exits: 0 done, 1 failure, 2 usage, 129, 130, 141, 143 signals."""
    _keep_closed_streams_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # help has letters that not every terminal's encoding has
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # else it is nohup that has called
        signal.signal(signal.SIGHUP, _terminate)
    warnings.showwarning = _warn
    try:
        app(prog_name="wfacli")
    except OutputClosed:
        _drop_stdout()
        sys.exit(EXIT_PIPE)
    except _Terminated as end:
        sys.exit(EXIT_SIGNAL + end.signal)
    except (WfacliError, MemoryError, OSError) as problem:
        if "--debug" in sys.argv:
            raise
        error(str(problem) or type(problem).__name__)
        if isinstance(problem, OSError):
            _drop_stdout()
        sys.exit(EXIT_USAGE if isinstance(problem, UsageError) else EXIT_FAILURE)
