"""Temporary files without a name, of which nothing is left however the process ends."""

from __future__ import annotations

import tempfile
from typing import IO

from ...core.interruption import deferred


def unnamed_file(buffering: int = -1) -> IO[bytes]:
    """Return a new temporary file, open for reading and writing. Raises OSError.

    Some file systems cannot create one without a name; a signal must not end the process before that is removed.
    """
    with deferred():
        return tempfile.TemporaryFile(buffering=buffering)


def temporary_folder() -> str:
    """Return the folder of temporary files (TMPDIR). Raises OSError if there is none.

    Python looks for one that a file can be written to, which a signal must not interrupt either.
    """
    with deferred():
        return tempfile.gettempdir()
