"""Headers of inputs in SAM and BAM: the lines that outputs keep, and the first malformed one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..._native import max_line_bytes
from ...errors import InputError, text_of
from .long_lines import too_long
from .sources import Source

_MAGIC = b"BAM\1"
_TEXT = len(_MAGIC) + 4  # offset of the text in BAM, behind its length
_LINES = 64  # maximum size of a header, in lines of maximum length

_START = rb"@[A-Za-z][A-Za-z0-9]\t"
_FIRST = re.compile(_START)
_START_BYTES = 4
_END = re.compile(rb"\n(?!" + _START + rb")")  # of a header: a line feed, and no further header line behind it

# SAM specification, 1.3. Values may have any character of UTF-8; the specification names the fields that may.
# Possessive quantifiers would match too much in Python before 3.11.5; a tab ends a field, so there is little to try.
_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9]:[ -~\x80-\xff]+")
_WELL_FORMED = rb"(?:@CO\t|@[A-Za-z][A-Za-z](?:\t" + _FIELD.pattern + rb")+\r?$)"
_WELL = re.compile(_WELL_FORMED, re.MULTILINE)
_MALFORMED = re.compile(rb"\n(?!" + _WELL_FORMED + rb"|\Z)", re.MULTILINE)
_HINT = "correct it (samtools reheader), or write --format paf, or SAM with --no-header"
_SHOWN = 40  # bytes of a faulty line in a message


@dataclass(frozen=True)
class InputHeader:
    """The part of an input's header that outputs keep.

    Attributes:
        present: True if the input has a header.
        groups: @RG lines without line ends, each once.
        programs: @PG lines, likewise.
        fault: the first line that the SAM specification does not allow, or None.
    """

    present: bool = False
    groups: tuple[bytes, ...] = ()
    programs: tuple[bytes, ...] = ()
    fault: InputError | None = None

    def checked(self) -> InputHeader:
        """Return the header itself. Raises InputError if a line is malformed."""
        if self.fault:
            raise self.fault
        return self


def is_bam(source: Source) -> bool:
    """Return True if a stream is BAM; consumes nothing."""
    return source.peek(len(_MAGIC)).startswith(_MAGIC)


def read_header(source: Source) -> InputHeader:
    """Return the header of a stream of SAM, BAM or PAF; consumes nothing.

    Takes memory for the stream up to the end of its header, and for the lines that are kept.

    Raises:
        InputError: the stream cannot be read, or its header is too long.
    """
    start, end = _span_of_bam(source) if is_bam(source) else (0, _end_of_sam(source))
    if start == end:
        return InputHeader()
    faults = _Faults(source, start, end)
    faults.find_malformed()
    groups, programs = (faults.distinct(kind) for kind in (b"@RG", b"@PG"))
    return InputHeader(True, groups, programs, faults.first())


def field_of(line: bytes, tag: bytes) -> bytes:
    """Return the value of a field of a header line, b"" if there is none."""
    return next((f[3:] for f in line.split(b"\t")[1:] if f[:3] == tag + b":"), b"")


def _limit() -> int:
    return _LINES * max_line_bytes()


def _end_of_sam(source: Source) -> int:
    """Return the size of the complete header lines of SAM text. Raises InputError."""
    if not _FIRST.match(source.peek(_START_BYTES)):
        return 0
    searched = line = 0  # offsets: lines up to the first are known; the last line begins at the second
    while True:
        found = _END.search(source.head, searched)
        if found and found.end() + _START_BYTES <= len(source.head):
            return _allowed(source, found.end())
        line = source.head.rfind(b"\n", searched) + 1 or line
        searched = found.start() if found else len(source.head)
        if len(source.head) - line > max_line_bytes():
            raise too_long(source.path, "a header line", line=source.head.count(b"\n", 0, line) + 1)
        _allowed(source, line)
        if not source.read_ahead():
            return line


def _allowed(source: Source, size: int) -> int:
    """Return the size of a header. Raises InputError if that is too large."""
    if size > _limit():
        raise InputError(source.path, f"has a header of more than {_limit():,} bytes: raise --max-line")
    return size


def _span_of_bam(source: Source) -> tuple[int, int]:
    """Return the offsets of the text of BAM's header (SAM specification, 4.2), or of what there is of it.

    Raises InputError.
    """
    length = int.from_bytes(source.peek(_TEXT)[len(_MAGIC) : _TEXT], "little")
    if length > _limit():
        raise InputError(
            source.path, f"has a header of {length:,} bytes, which --max-line {length // _LINES + 1} allows"
        )
    while len(source.head) < _TEXT + length and source.read_ahead():
        pass
    end = min(_TEXT + length, len(source.head))
    padding = source.head.find(b"\0", _TEXT, end)
    return min(_TEXT, end), end if padding < 0 else padding


class _Faults:
    """Collects malformed lines of the header between two offsets of a stream's head."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._source, self._start, self._end = source, start, end
        self._found: list[tuple[int, str]] = []  # (offset, reason)

    def first(self) -> InputError | None:
        """Return the first fault, or None."""
        if not self._found:
            return None
        place, reason = min(self._found)
        line = self._source.head.count(b"\n", self._start, place) + 1
        return InputError(self._source.path, f"{reason} (SAM specification, 1.3): {_HINT}", line=line)

    def find_malformed(self) -> None:
        """Look for a line that is not made of fields TAG:VALUE."""
        head, place = self._source.head, self._start
        if _WELL.match(head, place, self._end):
            if not (found := _MALFORMED.search(head, place, self._end)):
                return
            place = found.end()
        self._found.append((place, _reason(self._line_at(place))))

    def distinct(self, kind: bytes) -> tuple[bytes, ...]:
        """Return the lines of one kind, equal ones once, up to the first that lacks an ID or has that of another."""
        lines: dict[bytes, bytes] = {}  # by ID
        for place, line in self._lines(kind):
            identity = field_of(line, b"ID")
            if lines.get(identity) == line:
                continue
            if reason := _reason_of_kept(line) or ("another line has this ID" if identity in lines else ""):
                self._found.append((place, f"header line {kind.decode()}: {reason}"))
                break
            lines[identity] = line
        return tuple(lines.values())

    def _lines(self, kind: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, line) of the lines of one kind."""
        head, wanted, place = self._source.head, kind + b"\t", self._start
        while place >= 0:
            if head.startswith(wanted, place, self._end):
                yield place, self._line_at(place)
            found = head.find(b"\n" + wanted, place, self._end)
            place = found + 1 if found >= 0 else -1

    def _line_at(self, place: int) -> bytes:
        end = self._source.head.find(b"\n", place, self._end)
        return bytes(self._source.head[place : self._end if end < 0 else end]).removesuffix(b"\r")


def _reason(line: bytes) -> str:
    """Return what is wrong with a line that is not made of fields."""
    kind, *fields = line.split(b"\t")
    if not re.fullmatch(rb"@[A-Za-z]{2}", kind):
        return f"{text_of(line[:_SHOWN])} is not a header line"
    wrong = next((field for field in fields if not _FIELD.fullmatch(field)), b"")
    what = f"{text_of(wrong[:_SHOWN])} is not a field TAG:VALUE" if wrong else "a field is empty"
    return f"header line {kind.decode()}: {what}"


def _reason_of_kept(line: bytes) -> str:
    """Return what is wrong with an @RG or @PG line, "" if nothing is."""
    tags = [field[:2] for field in line.split(b"\t")[1:]]
    if b"ID" not in tags:
        return "ID is missing"
    if repeated := next((tag for tag in tags if tags.count(tag) > 1), b""):
        return f"{text_of(repeated)} occurs twice"
    try:
        line.decode()
    except UnicodeDecodeError:
        return "a value is not UTF-8"
    return ""
