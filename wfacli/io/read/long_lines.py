"""Limit on the length of lines other than sequences, which are held in memory until they are complete."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._native import max_line_bytes
from ...errors import InputError
from .sources import Source

_BLOCK = 1 << 20


def too_long(path: str, what: str, record: str = "", line: int = 0) -> InputError:
    """Return the error for a line that is longer than max_line_bytes()."""
    return InputError(
        path, f"{what} is longer than {max_line_bytes()} bytes; --max-line allows longer ones", record, line
    )


def read_lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file without line ends; the last one may lack its end.

    Raises InputError: a line is longer than max_line_bytes(), or the file is damaged.
    """
    buffer = np.empty(_BLOCK, np.uint8)
    parts: list[bytes] = []  # of a line that is not complete yet
    size, number = 0, 1
    while count := source.readinto(buffer):
        *ends, rest = buffer[:count].tobytes().split(b"\n")
        for end in ends:
            if size + len(end) > max_line_bytes():
                raise too_long(source.path, "a line", line=number)
            yield b"".join((*parts, end)).removesuffix(b"\r")
            parts, size, number = [], 0, number + 1
        parts.append(rest)
        size += len(rest)
        if size > max_line_bytes():
            raise too_long(source.path, "a line", line=number)
    if size:
        yield b"".join(parts).removesuffix(b"\r")
