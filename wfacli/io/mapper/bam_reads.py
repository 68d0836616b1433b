"""Reads from BAM or SAM, mapped or not: a child process converts them to FASTQ with their tags."""

from __future__ import annotations

from ...errors import InputError
from ..read.sources import Source
from ..read.urls import is_url
from ..write.operand import operand
from ..write.python_child import python_command, scratch_environment
from ..write.scratch import Scratch
from .piped import Piped
from .process import Process

BY_HAND = "samtools fastq -T '*' FILE"
# Writes each read once, on the sequenced strand; names of mates end in /1 and /2.
_CHILD = """
import os, pysam
try:
    pysam.fastq("-T", "*", os.fsencode(sys.argv[1]), catch_stdout=False)  # bytes: see wfacli.io.write.hts
except pysam.SamtoolsError as error:
    sys.exit(str(error.value).split("stderr=")[-1].strip().split("\\n")[0])
"""


class BamReads(Process):
    """The converting process; its source is the reads as FASTQ."""

    def __init__(self, path: str, regular: bool, section: Source | None = None) -> None:
        """Start the process.

        Args:
            path: as the user named it.
            regular: True if it is a file.
            section: what the process reads instead of the file: decompressed BAM or SAM; closed when it is read.

        Raises:
            InputError: it cannot be started.
        """
        self._piped: Piped | None = None
        if is_url(path):
            raise InputError(
                path, "reads in BAM and SAM are read from a file, not a URL: copy it, or convert it to FASTQ"
            )
        if not regular or path == "-":
            raise InputError(
                path, f"reads in BAM and SAM are read from a file, not a pipe ({BY_HAND} | … converts them to FASTQ)"
            )
        try:
            import pysam  # noqa: F401
        except ModuleNotFoundError:
            raise InputError(
                path,
                f"reads in BAM and SAM are read by pysam, which is missing: pip install pysam, or {BY_HAND}",
            ) from None
        try:
            self._scratch = Scratch()
        except OSError as error:
            raise InputError(path, f"no temporary folder can be made: {error}") from None
        try:
            if section:
                self._piped = Piped(section)
            fds = [self._piped.reader] if self._piped else []
            super().__init__(
                python_command(_CHILD, [f"/dev/fd/{fds[0]}" if fds else operand(path)]),
                path,
                fds,
                subject="the process that reads it",
                environment=scratch_environment(self._scratch.name),
            )
        except BaseException:
            self._end()
            raise
        if self._piped:
            self._piped.close_reader()

    def close(self) -> None:
        """See Process."""
        super().close()
        self._end()

    def _end(self) -> None:
        if self._piped:
            self._piped.close()
        self._scratch.cleanup()
