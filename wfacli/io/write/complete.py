"""Checks that a CRAM file written by another process is complete: its end marker, header and records."""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

# Container at the end of every file of CRAM 3 (CRAM specification, section 9).
_CRAM_END = bytes.fromhex("0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b")
_CRAM_HEAD = 26  # bytes of the file before its first container
_LONGEST_HEAD = 1 << 16  # maximum bytes of a container header; no container written here has more slices than fit


class LineCount:
    """Counts the records in a stream of SAM text.

    Attributes:
        records: number of lines after the header.
    """

    def __init__(self) -> None:
        self.records = 0
        self._in_header, self._at_line = True, True

    def add(self, text: memoryview) -> None:
        """Process the next bytes of the text, whose last line is terminated."""
        skipped = self._of_header(text) if self._in_header and len(text) else 0
        self.records += int(np.count_nonzero(np.frombuffer(text, np.uint8)[skipped:] == ord("\n")))

    def _of_header(self, text: memoryview) -> int:
        if self._at_line and text[0] != ord("@"):
            self._in_header = False
            return 0
        if found := re.search(rb"\n[^@]", text):
            self._in_header = False
            return found.start() + 1
        self._at_line = text[-1] == ord("\n")
        return len(text)


def fault_of(path: str, records: int | None) -> str:
    """Return what is wrong with a CRAM file, or "".

    Args:
        path: a regular file.
        records: expected number of records; None checks the end marker and the header, without reading the file.
    """
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - len(_CRAM_END), 0))
            if file.read() != _CRAM_END:
                return "it has no end of CRAM" if size else "it is empty"
        _check_opens(path)
        if records is None:
            return ""
        found = _records_of(path)
    except (OSError, ValueError) as error:
        return f"it cannot be read back: {error}"
    return "" if found == records else f"it contains {found:,} of {records:,} records"


def _check_opens(path: str) -> None:
    """Open a file as its readers do, by htslib, which parses the header. Raises ValueError or OSError."""
    import pysam

    # The name of a descriptor, since pysam opens no file whose name is not UTF-8.
    with _quiet(), Path(path).open("rb") as file:
        pysam.AlignmentFile(f"/dev/fd/{file.fileno()}", "rc", check_sq=False).close()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep htslib's messages, which may repeat lines of the header, from standard error."""
    import pysam

    before = pysam.set_verbosity(0)
    try:
        yield
    finally:
        pysam.set_verbosity(before)


def _records_of(path: str) -> int:
    """Return the sum of the record counts in the container headers; nothing else is read."""
    records, at = 0, _CRAM_HEAD
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while at < size:
            file.seek(at)
            length, own, behind = _container(file.read(_LONGEST_HEAD))
            records, at = records + own, at + behind + length
    if at != size:
        raise ValueError("a container is not whole")
    return records


def _container(head: bytes) -> tuple[int, int, int]:
    """Return (bytes of blocks, records, bytes of the header) of a container (CRAM specification, section 7)."""
    try:
        (length,), at = struct.unpack_from("<i", head), 4
        for _ in range(3):  # reference, start position, alignment span
            _, at = _itf8(head, at)
        records, at = _itf8(head, at)
        for _ in range(2):  # record counter, bases: up to 9 bytes each
            at += min(_leading_ones(head[at], 8), 8) + 1
        _, at = _itf8(head, at)  # number of blocks
        landmarks, at = _itf8(head, at)
        for _ in range(landmarks):
            _, at = _itf8(head, at)
    except (struct.error, IndexError):
        raise ValueError("a container is not whole") from None
    if length < 0:
        raise ValueError("a container has no length")
    return length, records, at + 4  # its checksum


def _itf8(data: bytes, at: int) -> tuple[int, int]:
    """Decode an integer of 1 to 5 bytes; return (value, offset of its end) (CRAM specification, section 2.3)."""
    more = _leading_ones(data[at], 4)
    if at + more >= len(data):
        raise IndexError
    value = data[at] & 0xFF >> more + 1 if more < 4 else data[at] & 0x0F
    for byte in data[at + 1 : at + more]:
        value = value << 8 | byte
    if more:
        last = data[at + more]
        value = value << 4 | last & 0x0F if more == 4 else value << 8 | last
    return value, at + more + 1


def _leading_ones(byte: int, width: int) -> int:
    return next((n for n in range(width) if not byte & 0x80 >> n), width)
