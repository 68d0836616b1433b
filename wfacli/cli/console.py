"""Lines on standard error."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

console = Console(stderr=True, highlight=False, soft_wrap=True)


def error(message: str) -> None:
    """Prints why the command fails."""
    console.print(Text.assemble(("wfacli: error: ", "bold red"), message))


def warning(message: str) -> None:
    """Prints what the user should know although the command goes on."""
    console.print(Text.assemble(("wfacli: warning: ", "bold yellow"), message))


def note(message: str) -> None:
    """Prints a plain message."""
    console.print(Text.assemble(("wfacli: ", "bold"), message))
