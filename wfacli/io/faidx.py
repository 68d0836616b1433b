"""A reference left in its file: where its lines are, says the index beside it (FILE.fai, of samtools faidx)."""

from __future__ import annotations

import os
from pathlib import Path

from .._native import Reference
from .sources import Source

_MOST_BETWEEN = 1 << 16  # bytes of a header


def indexed(source: Source) -> Reference | None:
    """The sequences of a file that an index fits, whose letters are read where a window of them is wanted.

    Looks at every header and first line. None where the file is compressed or no file, or there is no index, or one
    that is older than the file or does not fit it: then the file is to be read whole.
    """
    if not source.stored_as_is:
        return None
    index = Path(source.path + ".fai")
    try:
        with Path(source.path).open("rb") as file:
            mode = os.fstat(file.fileno())
            if index.stat().st_mtime_ns < mode.st_mtime_ns:
                return None
            return _reference(file.fileno(), mode.st_size, index.read_bytes())
    except (OSError, ValueError):  # of what is no number, and of names that are none or come twice
        return None


def _reference(descriptor: int, size: int, index: bytes) -> Reference | None:
    reference, end = Reference(), 0
    reference.leave_in(descriptor)
    for line in index.splitlines():
        name, *numbers = line.split(b"\t")
        length, offset, letters, width = map(int, numbers[:4])
        if length == 0:
            letters, width = 1, 2
        between = os.pread(descriptor, min(max(offset - end, 0), _MOST_BETWEEN), end)
        if width - letters not in (1, 2) or len(between) != offset - end or not _is_header(between, name):
            return None
        if length > letters and os.pread(descriptor, width - letters, offset + letters) not in (b"\n", b"\r\n"):
            return None
        reference.add_place(name, length, offset, letters, width)
        lines, rest = divmod(length, letters)
        end = min(offset + lines * width + rest, size)
    behind = os.pread(descriptor, _MOST_BETWEEN, end)
    return None if behind.strip() or len(behind) == _MOST_BETWEEN or not len(reference) else reference


def _is_header(between: bytes, name: bytes) -> bool:
    """Whether what lies before a sequence's first letter is no more than the header of this name."""
    header = between.lstrip(b"\r\n")
    return (
        header.endswith(b"\n") and header.count(b"\n") == 1 and header[:1] == b">" and header[1:].split()[:1] == [name]
    )
