"""Lines on standard error."""

from __future__ import annotations

import os

from rich.console import Console
from rich.text import Text

# NO_COLOR: rich would still write bold and the like; who sets it wants plain text.
console = Console(
    stderr=True, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto"
)


def error(message: str) -> None:
    """Prints why the command fails."""
    console.print(Text.assemble(("wfacli: error: ", "bold red"), message))


def warning(message: str) -> None:
    """Prints what the user should know although the command goes on."""
    console.print(Text.assemble(("wfacli: warning: ", "bold yellow"), message))


def note(message: str) -> None:
    """Prints a plain message."""
    console.print(Text.assemble(("wfacli: ", "bold"), message))
