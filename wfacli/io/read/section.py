"""A section of an input file as a source of its own."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from .inflate import BLOCK, MAX_BLOCK, Bgunzip
from .remote import RemoteFile
from .sources import Source, StoredBytes, opened

_SKIPPED = 1 << 16  # bytes inflated at a time before a section


@dataclass(frozen=True)
class Position:
    """A place between two records of a file.

    Attributes:
        stored: offset in the file, of a byte or, in a BGZF file, of a block.
        within: offset in the data of the block; 0 in an uncompressed file.
        offset: offset in the decompressed file.
        lines: number of lines before it (of BAM: of records).
    """

    stored: int
    within: int
    offset: int
    lines: int


class Section(Source):
    """The bytes of an uncompressed or BGZF file between two positions; see Source.

    What precedes the records of the whole file, such as a header, may come first.
    """

    def __init__(self, path: str, begin: Position, end: Position, prefix: int = 0) -> None:
        """Open a path.

        Args:
            path: as the user named it.
            begin: position of the first byte.
            end: position behind the last byte.
            prefix: number of decompressed bytes from the beginning of the file that precede the section; 0 if it
                begins before them.

        Raises:
            InputError: the file cannot be read, or not at an offset.
        """
        super().__init__(path)
        if not self.seekable:
            raise InputError(path, "is not an uncompressed or BGZF file, as it was when the plan was made")
        first = b"" if begin.offset < prefix else self.peek(prefix)[:prefix]
        self._prefix_lines, self._lines_before = first.count(b"\n"), begin.lines
        self._stream.close()
        self._raw.close()
        self.size = end.stored - begin.stored
        self._head = bytearray(first)
        self._open(path, begin, end)

    def _open(self, path: str, begin: Position, end: Position) -> None:
        try:
            file = opened(path)
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from None
        if isinstance(file, RemoteFile):
            file.limit = min(file.size, end.stored + (MAX_BLOCK if end.within else 0))
        if self._plain:
            self._raw = StoredBytes(file, begin.stored, end.stored)
            self._stream = self._raw
            return
        self._raw = StoredBytes(file, begin.stored)
        self._blocks = Bgunzip(io.BufferedReader(self._raw, BLOCK))
        span = _Span(self._blocks, begin.within, end.offset - begin.offset)
        self._stream = io.BufferedReader(span, BLOCK)

    def place_of(self, line: int) -> tuple[str, int]:
        """See Source."""
        if line > self._prefix_lines:
            line += self._lines_before - self._prefix_lines
        return self.path, line

    def _misses_end(self) -> bool:
        return False  # the section ends before the end of the file


class _Span(io.RawIOBase):
    """A part of another stream."""

    def __init__(self, stream: io.RawIOBase, skipped: int, size: int) -> None:
        """Take the bytes to skip, and the number of those that follow them."""
        self._whole, self._skipped, self._left = stream, skipped, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._skipped:
            self._skipped -= self._read(memoryview(bytearray(min(self._skipped, _SKIPPED))))
        got = self._read(memoryview(buffer)[: self._left]) if self._left else 0
        self._left -= got
        return got

    def _read(self, view: memoryview) -> int:
        got = self._whole.readinto(view) or 0
        if not got:
            raise EOFError
        return got

    def close(self) -> None:
        with contextlib.suppress(AttributeError):  # io.RawIOBase closes objects whose __init__ has failed, too
            self._whole.close()
        super().close()
