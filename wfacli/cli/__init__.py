"""The command line. Only here are messages printed and exit codes chosen."""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from types import FrameType

# Until entry() runs, an interrupt shall end the program quietly and not in the middle of an import.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# Before numpy is imported: its linear algebra is not used here, and its threads would only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from ..errors import OutputClosed, UsageError, WfacliError
from .app import app
from .console import error

EXIT_FAILURE, EXIT_USAGE, EXIT_TERMINATED, EXIT_PIPE = 1, 2, 128 + signal.SIGTERM, 128 + signal.SIGPIPE


class _Terminated(BaseException):
    """SIGTERM arrived; not an Exception, so that nothing swallows it."""


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _drop_stdout() -> None:
    # What is still buffered can go nowhere, and Python must not complain about that while it shuts down.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def entry() -> None:
    """Runs the command that the arguments name, and exits: 0 done, 1 failure, 2 usage, 130, 141, 143 signals."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # help has letters that not every terminal's encoding has
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(prog_name="wfacli")
    except OutputClosed:
        _drop_stdout()
        sys.exit(EXIT_PIPE)
    except _Terminated:
        sys.exit(EXIT_TERMINATED)
    except (WfacliError, MemoryError, OSError) as problem:
        if "--debug" in sys.argv:
            raise
        error(str(problem) or type(problem).__name__)
        if isinstance(problem, OSError):
            _drop_stdout()
        sys.exit(EXIT_USAGE if isinstance(problem, UsageError) else EXIT_FAILURE)
