"""Messages on standard error; rich is imported only for a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import shown

if TYPE_CHECKING:
    from rich.console import Console


@lru_cache
def console() -> Console:
    """Return rich's console of standard error."""
    from rich.console import Console

    # With NO_COLOR rich would still write bold and other styles; users who set it expect plain text.
    return Console(
        stderr=True, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto"
    )


def is_terminal() -> bool:
    """Return True if standard error is a terminal, or the environment forces that."""
    is_tty = sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
    forced = any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return (is_tty or forced) and console().is_terminal


def silence_stderr() -> None:
    """Redirect standard error to /dev/null, so that further messages are lost without an error."""
    redirect_to_null(2)


def redirect_to_null(descriptor: int) -> None:
    """Redirect an open descriptor to /dev/null, even if no further descriptor can be opened."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
    except OSError:  # too many open files: free one
        os.close(descriptor)
        null = os.open(os.devnull, os.O_WRONLY)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)


@contextlib.contextmanager
def ignoring_output_errors() -> Iterator[None]:
    """Ignore errors of printing in the block: a full disk or a closed pipe must not end a run."""
    try:
        yield
    except OSError:
        silence_stderr()


def error(message: str) -> None:
    """Print an error message."""
    _say("wfacli: error: ", "bold red", message)


def warning(message: str) -> None:
    """Print a warning."""
    _say("wfacli: warning: ", "bold yellow", message)


def note(message: str) -> None:
    """Print an informational message."""
    _say("wfacli: ", "bold", message)


def _say(head: str, style: str, message: str) -> None:
    message = shown(message)
    with ignoring_output_errors():
        if is_terminal():
            from rich.text import Text

            console().print(Text.assemble((head, style), message))
        elif sys.stderr is not None:
            print(f"{head}{message}", file=sys.stderr, flush=True)
