"""The command of a Python process beside this one, in which no code from the working directory runs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

_ROOT = str(Path(__file__).parents[3])  # the folder that holds the package


def python_command(code: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs Python code in a process of its own.

    The process is isolated (`-I`): neither the working directory nor the environment says where modules are. It
    imports from the places of this process instead, among them PYTHONPATH and the user's site-packages, because
    pysam or mappy may be installed there.

    Args:
        code: Python source; `sys` is imported.
        arguments: what `sys.argv[1:]` holds there.
    """
    # ascii(): names of folders need not be UTF-8.
    return [sys.executable, "-I", "-c", f"import sys\nsys.path[:] = {import_places()!a}\n{code}", *arguments]


def import_places() -> list[str]:
    """Return sys.path without the working directory; the folder of this package comes last where it was that."""
    here = _working_directory()
    places = [place for place in sys.path if place and os.path.realpath(place) != here]
    return places if _ROOT in places else [*places, _ROOT]


def _working_directory() -> str | None:
    with contextlib.suppress(FileNotFoundError):  # it was removed
        return os.path.realpath(Path.cwd())
    return None
