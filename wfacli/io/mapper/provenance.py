"""Origin of mappings: headers of SAM and BAM, and the program that wrote them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from ..._native import max_line_bytes
from ...errors import InputError, shown
from ..read.sources import Source
from .answer import answer_of
from .bam_reads import header_of, is_bam

_BEGINNING = 1 << 12
_LINES = 64  # maximum size of a header, in lines of maximum length
_HEADER_LINE = re.compile(rb"@[A-Za-z][A-Za-z0-9]\t")


@dataclass(frozen=True)
class Program:
    """A program, as in SAM's @PG lines.

    Attributes:
        name: common name of the program.
        version: as the program reports it, or "".
        command: its command line, or "".
    """

    name: str
    version: str = ""
    command: str = ""

    def line(self, previous: bytes) -> bytes:
        """Return the @PG line; previous: the ID of the preceding program, or b""."""
        fields = [f"@PG\tID:{self.name}\tPN:{self.name}"]
        if self.version:
            fields.append(f"VN:{self.version}")
        if self.command:
            fields.append(f"CL:{shown(self.command)}")
        made = "\t".join(fields).encode()
        return made + (b"\tPP:" + previous if previous else b"")


def version_of(program: str) -> str:
    """Return the version that a program reports, "" if it does not report one."""
    status, text = answer_of([program, "--version"]) or (1, b"")
    said = text.decode(errors="replace").split("\n")[0].strip()
    return said if status == 0 and re.fullmatch(r"[0-9][0-9A-Za-z.+_-]{0,40}", said) else ""


def command_of(command: list[str], names: dict[str, str]) -> str:
    """Return a command line with the user's file names; names: the user's names by those in the command."""
    return shlex.join([names.get(word, word) for word in command])


def header_of_mappings(source: Source) -> bytes:
    """Return the header lines of a stream of SAM, BAM or PAF; consumes nothing.

    Raises InputError.
    """
    if is_bam(source):
        return header_of(source)
    if not _HEADER_LINE.match(source.peek(4)):
        return b""
    size = _BEGINNING
    while True:
        text = source.peek(size)
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.splitlines(keepends=True)
        other = next((i for i, line in enumerate(lines) if not _HEADER_LINE.match(line)), None)
        if other is not None:
            return b"".join(lines[:other])
        if len(text) < size or len(text) - len(whole) > max_line_bytes():  # the reader reports a line that is too long
            return whole
        if size > _LINES * max_line_bytes():
            raise InputError(source.path, f"has a header of more than {size:,} bytes: raise --max-line")
        size *= 2


def last_program(header: bytes) -> Program | None:
    """Return the program of the last @PG line, or None."""
    lines = [line for line in header.splitlines() if line.startswith(b"@PG\t")]
    if not lines:
        return None
    said = {f[:2]: f[3:].decode(errors="replace") for f in lines[-1].split(b"\t")[1:]}
    return Program(said.get(b"PN", said.get(b"ID", "")), said.get(b"VN", ""), said.get(b"CL", ""))
