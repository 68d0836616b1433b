"""Limit on the length of lines other than sequences, which are held in memory until they are complete."""

from __future__ import annotations

from ..._native import max_line_bytes
from ...errors import InputError


def too_long(path: str, what: str, record: str = "", line: int = 0) -> InputError:
    """Return the error for a line that is longer than max_line_bytes()."""
    return InputError(
        path, f"{what} is longer than {max_line_bytes()} bytes; --max-line allows longer ones", record, line
    )
