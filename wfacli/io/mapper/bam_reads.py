"""Reads from BAM or SAM, mapped or not: a child process converts them to FASTQ with their tags."""

from __future__ import annotations

from ..._native import max_line_bytes
from ...errors import InputError
from ..read.sources import Source
from ..write.operand import operand
from ..write.python_child import python_command
from .process import Process

_MAGIC = b"BAM\1"
_LINES = 64  # maximum size of a header, in lines of maximum length
BY_HAND = "samtools fastq -T '*' FILE"
# Writes each read once, on the sequenced strand; names of mates end in /1 and /2.
_CHILD = """
import os, pysam
try:
    pysam.fastq("-T", "*", os.fsencode(sys.argv[1]), catch_stdout=False)  # bytes: see wfacli.io.write.hts
except pysam.SamtoolsError as error:
    sys.exit(str(error.value).split("stderr=")[-1].strip().split("\\n")[0])
"""


def is_bam(source: Source) -> bool:
    """Return True if a stream is BAM; consumes nothing."""
    return source.peek(len(_MAGIC)).startswith(_MAGIC)


def header_of(source: Source) -> bytes:
    """Return the text of BAM's header (SAM specification, 4.2), or what there is of it; consumes nothing.

    Raises InputError.
    """
    start = len(_MAGIC) + 4
    length = int.from_bytes(source.peek(start)[len(_MAGIC) : start], "little")
    if length > _LINES * max_line_bytes():
        raise InputError(
            source.path, f"has a header of {length:,} bytes, which --max-line {length // _LINES + 1} allows"
        )
    return source.peek(start + length)[start : start + length].rstrip(b"\0")


class BamReads(Process):
    """The converting process; its source is the reads as FASTQ."""

    def __init__(self, path: str, regular: bool) -> None:
        """Start the process. Raises InputError if it cannot be started."""
        if not regular or path == "-":
            raise InputError(
                path, f"reads in BAM and SAM are read from a file, not a pipe ({BY_HAND} | … converts them to FASTQ)"
            )
        try:
            import pysam  # noqa: F401
        except ModuleNotFoundError:
            raise InputError(
                path,
                f"reads in BAM and SAM are read by pysam, which is missing: pip install 'wfacli[bam]', or {BY_HAND}",
            ) from None
        super().__init__(python_command(_CHILD, [operand(path)]), path, subject="the process that reads it")
