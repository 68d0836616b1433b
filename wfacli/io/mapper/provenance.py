"""Origin of mappings: the program that wrote them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from ...errors import shown
from ..read.sam_header import InputHeader
from .answer import answer_of


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


def last_program(header: InputHeader) -> Program | None:
    """Return the program of the last @PG line, or None."""
    if not header.programs:
        return None
    said = {f[:2]: f[3:].decode(errors="replace") for f in header.programs[-1].split(b"\t")[1:]}
    return Program(said.get(b"PN", said.get(b"ID", "")), said.get(b"VN", ""), said.get(b"CL", ""))
