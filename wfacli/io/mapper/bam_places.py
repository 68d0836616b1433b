"""Places of reads in BAM and SAM, for readers that see only the FASTQ made of them."""

from __future__ import annotations

import struct

import numpy as np

from ...errors import InputError
from ..read.sam_header import is_bam
from ..read.section import Position
from ..read.sources import Source

_BLOCK = 1 << 20
_NO_READ = 0x900  # flags of records that repeat a read: secondary and supplementary ones
_SIZE = struct.Struct("<I")
_FLAGS, _FLAGS_AT = struct.Struct("<H"), 18  # offset in a record of BAM with its size
_MAGIC_BYTES = 4


class BamPlaces:
    """A pass over BAM or SAM that counts reads, each of which becomes a record of FASTQ.

    Attributes:
        source: the file.
        prefix: bytes of the header.
    """

    def __init__(self, path: str, threads: int = 1) -> None:
        """Open a file, and read its header. `threads`: number of threads that inflate. Raises InputError."""
        self.source = Source(path)
        try:
            self._binary = is_bam(self.source)
            self.source.keep_places()
            self.source.inflate_ahead(threads - 1)
            self._buffer = bytearray()
            self._at = 0  # of the buffer: the next record
            self._base = 0  # offset of the buffer in the stream
            self._reads = self._records = 0
            self._skip_header()
        except BaseException:
            self.source.close()
            raise
        self.prefix = self._at + self._base

    def close(self) -> None:
        """Close the file."""
        self.source.close()

    def position(self, reads: int) -> Position:
        """Return the position behind this number of reads, which must not decrease. Raises InputError."""
        while self._reads < reads:
            if self._at > _BLOCK:
                del self._buffer[: self._at]
                self._base, self._at = self._base + self._at, 0
            record = self._binary_record() if self._binary else self._line()
            if record is None:
                raise InputError(self.source.path, "has changed while it was read")
            self._records += 1
            self._reads += not record & _NO_READ
        offset = self._base + self._at
        return Position(*self.source.stored_place(offset), offset, self._records)

    def _skip_header(self) -> None:
        if self._binary:
            self._at = 2 * _MAGIC_BYTES + self._number(_MAGIC_BYTES)
            targets = self._number(self._at)
            self._at += _MAGIC_BYTES
            for _ in range(targets):
                self._at += 2 * _MAGIC_BYTES + self._number(self._at)
            self._fill(self._at)
            return
        while self._fill(self._at + 1) and self._buffer[self._at] == ord("@"):
            self._at = self._line_end()
            self._records += 1  # lines of the header are lines of the file

    def _number(self, at: int) -> int:
        """Return the 32-bit number at an offset of the buffer. Raises InputError."""
        if not self._fill(at + _SIZE.size):
            raise InputError(self.source.path, "truncated: it ends in its header")
        number: int = _SIZE.unpack_from(self._buffer, at)[0]
        return number

    def _binary_record(self) -> int | None:
        """Skip a record of BAM; return its flags, or None at the end."""
        if not self._fill(self._at + _FLAGS_AT + _FLAGS.size):
            return None
        end = self._at + _SIZE.size + _SIZE.unpack_from(self._buffer, self._at)[0]
        flags: int = _FLAGS.unpack_from(self._buffer, self._at + _FLAGS_AT)[0]
        if not self._fill(end):
            return None
        self._at = end
        return flags

    def _line(self) -> int | None:
        """Skip a line of SAM; return its flags, or None at the end."""
        if not self._fill(self._at + 1):
            return None
        end = self._line_end()
        fields = bytes(self._buffer[self._at : end]).split(b"\t", 2)
        self._at = end
        if len(fields) < 2 or not fields[1].isdigit():
            raise InputError(self.source.path, "is no SAM", line=self._records + 1)
        return int(fields[1])

    def _line_end(self) -> int:
        """Return the offset in the buffer behind the line that begins at the next record."""
        searched = self._at
        while (found := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if not self._fill(searched + 1):
                return searched
        return found + 1

    def _fill(self, end: int) -> bool:
        """Have the buffer reach an offset in it; return False if the file ends before. Raises InputError."""
        while len(self._buffer) < end:
            block = np.empty(_BLOCK, np.uint8)
            got = self.source.readinto(block)
            if not got:
                return False
            self._buffer += block[:got].data
        return True
