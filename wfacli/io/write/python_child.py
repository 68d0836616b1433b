"""Command lines of Python child processes that do not import modules from the working directory."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

_ROOT = str(Path(__file__).parents[3])  # folder that contains the package


def python_command(code: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs Python code in a child process.

    The process is isolated (`-I`): the working directory and the environment do not affect its imports. It uses the
    import paths of this process, including PYTHONPATH and the user's site-packages, because pysam or mappy may be
    installed there.

    Args:
        code: Python source; `sys` is imported.
        arguments: `sys.argv[1:]` of the process.
    """
    # ascii(): folder names are not necessarily UTF-8.
    return [sys.executable, "-I", "-c", f"import sys\nsys.path[:] = {import_places()!a}\n{code}", *arguments]


def scratch_environment(scratch: str) -> dict[str, str]:
    """Return the environment of a child process that creates its temporary files in a scratch folder.

    pysam creates a named file for the messages of each samtools command, which stays if the process is killed.
    """
    return {**os.environ, "TMPDIR": scratch}


def import_places() -> list[str]:
    """Return sys.path without the working directory; the package's own folder is last if it was removed by that."""
    here = _working_directory()
    places = [place for place in sys.path if place and os.path.realpath(place) != here]
    return places if _ROOT in places else [*places, _ROOT]


def _working_directory() -> str | None:
    with contextlib.suppress(FileNotFoundError):  # the directory was deleted
        return os.path.realpath(Path.cwd())
    return None
