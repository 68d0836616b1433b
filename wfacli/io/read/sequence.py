"""One record of any length from a FASTA or FASTQ file, one byte a base; other records take no memory.

The native reader makes batches, whose sequence lengths have 32 bits; sequences here may be longer. Errors are those of
the native reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..._native import max_line_bytes
from ...errors import InputError, text_of
from .long_lines import too_long
from .reader import refuse_alignments
from .sources import Source

_BLOCK = 1 << 20
_LEGAL = bytes(range(0x21, 0x7F))
_SHOWN = 3  # maximum names in a message


@dataclass(frozen=True)
class Record:
    """Position of a sequence in the buffer to which it was appended.

    Attributes:
        name: name of the record.
        start, length: in bytes.
        plain: True if all bases, after folding, are A, C, G or T.
    """

    name: str
    start: int
    length: int
    plain: bool


def read_record(
    source: Source, wanted: str | None, option: str, into: bytearray, fold: bytes, keep_symbols: bool = False
) -> Record:
    """Append the bases of one record to `into`.

    Args:
        source: FASTA (lines of any length) or FASTQ.
        wanted: name of the record; None if the file has only one.
        option: command-line option that selects a record by name, for error messages.
        into: buffer that the bases are appended to.
        fold: 256-byte translation table applied to the bases; it maps A, C, G and T to themselves.
        keep_symbols: append the bases without folding; `plain` still refers to folded bases.

    Raises:
        InputError: the record is missing, ambiguous or empty, or has a byte that is not allowed in a sequence.
    """
    refuse_alignments(source)
    reader = _Reader(source, wanted, into, fold, keep_symbols)
    reader.run()
    names, start = reader.names, reader.start
    if not names:
        raise InputError(source.path, "has no sequence")
    if reader.found is None:
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        if wanted is not None:
            raise InputError(source.path, f"has no record {wanted}; it has {shown}")
        raise InputError(source.path, f"has more than one record ({shown}): choose one with {option} NAME")
    length = len(into) - start
    if not length:
        raise InputError(source.path, "the sequence is empty", reader.found)
    return Record(reader.found, start, length, reader.plain)


class _Reader:
    """Parser of the blocks of a file; a line may span blocks, and a block has many lines."""

    def __init__(self, source: Source, wanted: str | None, into: bytearray, fold: bytes, keep_symbols: bool) -> None:
        self._source, self._wanted, self._into, self._fold = source, wanted, into, fold
        self._folding = not keep_symbols
        self._line = 1  # number of the line that the next byte belongs to
        self._count = 0  # bases of the record so far
        self._keep = False
        self._name = ""  # of the record
        self._blank = False  # whether the part of the current line in earlier blocks ends with a blank
        self.start = len(into)
        self.names: list[str] = []
        self.found: str | None = None
        self.plain = True

    def run(self) -> None:
        """Read until the end of the record, or of the file if the name has to be unique."""
        blocks = _Blocks(self._source)
        mark = self._first(blocks)
        while mark:
            self._name = self._header(blocks, mark)
            if len(self.names) <= _SHOWN:
                self.names.append(self._name)
            if self._wanted is None and len(self.names) > 1:
                self._keep, self.found = False, None
                if len(self.names) > _SHOWN:
                    return
            elif self._wanted in (None, self._name):
                self._keep, self.found = True, self._name
            self._count, self._blank = 0, False
            mark = self._fasta(blocks) if mark == b">" else self._fastq(blocks)
            if self._wanted is not None and self._keep:
                return

    def _first(self, blocks: _Blocks) -> bytes:
        """Skip empty lines; return the first byte of the first header, or nothing at the end of the file."""
        while byte := blocks.peek():
            if byte in (b">", b"@"):
                return byte
            line = self._line_of(blocks, "a line before the first header").strip(b" \t\r\n")
            if line:
                raise self._fault(
                    "sequence before a header: FASTA starts with '>', FASTQ with '@', this file with "
                    + _shown(line[:1])
                )
            self._line += 1
        return b""

    def _header(self, blocks: _Blocks, mark: bytes) -> str:
        line = self._line_of(blocks, "a header").rstrip(b" \t\r\n")
        if line[:1] != mark:
            raise self._fault(f"expected a header that starts with '{mark.decode()}', found {_shown(line[:1])}")
        if bad := line.translate(None, _LEGAL + b" \t" + bytes(range(0x80, 0x100))):
            raise self._fault(f"{_shown(bad[:1])} in a header")
        self._line += 1
        name = line[1:].replace(b"\t", b" ").split(b" ", 1)[0]
        return text_of(name)

    def _line_of(self, blocks: _Blocks, what: str) -> bytes:
        """Return a line with its line end, which may be missing at the end of the file."""
        pieces, size = [], 0
        for piece in blocks.pieces():
            pieces.append(piece)
            size += len(piece)
            if size > max_line_bytes() + piece.endswith(b"\n"):
                raise too_long(self._source.path, what, "", self._line)
        return b"".join(pieces)

    def _fasta(self, blocks: _Blocks) -> bytes:
        """Read bases until the next header; return its first byte, or nothing at the end of the file."""
        fresh = True  # whether a line starts here
        while not (fresh and blocks.peek() == b">"):
            piece = blocks.until(b">")
            if not piece:
                return b""
            self._add(piece)
            self._line += piece.count(b"\n")
            fresh = piece.endswith(b"\n")
        return b">"

    def _fastq(self, blocks: _Blocks) -> bytes:
        for piece in blocks.pieces():
            self._add(piece)
        self._line += 1
        if self._line_of(blocks, "the '+' line of a FASTQ record")[:1] != b"+":
            if blocks.ended:
                raise self._fault("the file ends inside a FASTQ record")
            raise self._fault(
                "expected the '+' line of a FASTQ record (sequences over several lines are not FASTQ here)"
            )
        self._line += 1
        quality = sum(len(piece.rstrip(b" \t\r\n")) for piece in blocks.pieces())
        if quality != self._count:
            if blocks.ended and quality < self._count:
                raise self._fault("the file ends inside a FASTQ record")
            raise self._fault(f"the quality has {quality} characters, the sequence {self._count}")
        self._line += 1
        while blocks.peek() in (b"\n", b"\r"):
            self._line_of(blocks, "an empty line")
            self._line += 1
        return b"@" if blocks.peek() else b""

    def _add(self, piece: bytes) -> None:
        others = piece.translate(None, b"ACGT\r\n")
        if self._blank or (others and others.translate(None, _LEGAL)):
            piece = self._without_blanks(piece)
        symbols = piece.replace(b"\n", b"").replace(b"\r", b"")
        self._count += len(symbols)
        if not self._keep:
            return
        if others:
            folded = symbols.translate(self._fold)
            self.plain = self.plain and not folded.translate(None, b"ACGT")
            symbols = folded if self._folding else symbols
        self._into += symbols

    def _without_blanks(self, piece: bytes) -> bytes:
        """Remove blanks at line ends; raise InputError for any other byte that is not allowed in a sequence."""
        lines = [line.rstrip(b" \t\r") for line in piece.split(b"\n")]
        if self._blank and lines[0]:
            raise self._fault("a blank in the sequence")
        self._blank = not piece.endswith(b"\n") and piece[-1:] in (b" ", b"\t", b"\r")
        for number, line in enumerate(lines):
            if bad := line.translate(None, _LEGAL):
                self._line += number
                raise self._fault(f"{_shown(bad[:1])} in the sequence")
        return b"\n".join(lines)

    def _fault(self, message: str) -> InputError:
        return InputError(self._source.path, message, self._name, self._line)


class _Blocks:
    """A source's data, in lines or larger pieces.

    Attributes:
        ended: True after the last byte.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._buffer = np.empty(_BLOCK, np.uint8)
        self._data, self._at = b"", 0
        self.ended = False

    def peek(self) -> bytes:
        """Return the next byte without consuming it; nothing at the end."""
        return self._data[self._at : self._at + 1] if self._more() else b""

    def pieces(self) -> Iterator[bytes]:
        """Yield a line, including its line end, in pieces."""
        while self._more():
            end = self._data.find(b"\n", self._at) + 1
            yield self._take(end or len(self._data))
            if end:
                return

    def until(self, mark: bytes) -> bytes:
        """Return lines before the next one that starts with a mark, at most the buffered ones; nothing at the end."""
        if not self._more():
            return b""
        # Searching for the single byte first takes a fraction of the time of searching for both.
        end = self._data.find(b"\n" + mark, self._at) + 1 if self._data.find(mark, self._at) >= 0 else 0
        if not end:
            # Stop at a line end, so that the next piece starts a line; a line longer than a block comes in parts.
            end = self._data.rfind(b"\n", self._at) + 1
        return self._take(end or len(self._data))

    def _take(self, end: int) -> bytes:
        piece, self._at = self._data[self._at : end], end
        return piece

    def _more(self) -> bool:
        if self._at < len(self._data):
            return True
        got = 0 if self.ended else self._source.readinto(self._buffer)
        self._data, self._at = self._buffer[:got].tobytes(), 0
        self.ended = got == 0
        return got > 0


def _shown(byte: bytes) -> str:
    value = byte[0]
    if 0x20 < value < 0x7F:
        return f"'{byte.decode()}'"
    return {0x20: "a blank", 0: "a NUL byte"}.get(value, f"byte 0x{value:02x}")


def read_bytes(path: str) -> bytearray:
    """Return the bytes of a file, or of standard input ("-"), without decompression. Raises InputError."""
    found = bytearray()

    def add(block: bytes) -> None:
        found.extend(block)

    each_block(path, add)
    return found


def each_block(path: str, take: Callable[[bytes], None]) -> None:
    """Pass the bytes of a file to `take`, block by block, without decompression. Raises InputError."""
    if not path:
        raise InputError("input", "the file name is empty")
    try:
        with open(0 if path == "-" else path, "rb", buffering=0, closefd=path != "-") as file:
            while block := file.read(_BLOCK):
                take(block)
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
