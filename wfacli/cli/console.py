"""Lines on standard error. What colours them is imported only where it shows, on a terminal."""

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
    """Standard error as rich has it."""
    from rich.console import Console

    # NO_COLOR: rich would still write bold and the like; who sets it wants plain text.
    return Console(
        stderr=True, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto"
    )


def is_terminal() -> bool:
    """Whether standard error is a terminal, or the environment wants it taken for one."""
    seen = sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
    asked = any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return (seen or asked) and console().is_terminal


def fall_silent() -> None:
    """From here on nothing is said, and nothing that fails because of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


@contextlib.contextmanager
def heard_or_not() -> Iterator[None]:
    """What the block prints may be lost: a full disk or a reader that has gone is no reason to lose the work too."""
    try:
        yield
    except OSError:
        fall_silent()


def error(message: str) -> None:
    """Prints why the command fails."""
    _say("wfacli: error: ", "bold red", message)


def warning(message: str) -> None:
    """Prints what the user should know although the command goes on."""
    _say("wfacli: warning: ", "bold yellow", message)


def note(message: str) -> None:
    """Prints a plain message."""
    _say("wfacli: ", "bold", message)


def _say(head: str, style: str, message: str) -> None:
    message = shown(message)
    with heard_or_not():
        if is_terminal():
            from rich.text import Text

            console().print(Text.assemble((head, style), message))
        elif sys.stderr is not None:
            print(f"{head}{message}", file=sys.stderr, flush=True)
