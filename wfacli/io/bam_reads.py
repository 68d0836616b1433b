"""Reads out of BAM, mapped or not: a process beside this one that writes them as FASTQ, with their tags."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile

from ..errors import InputError
from .sources import Source

_MAGIC = b"BAM\1"
BY_HAND = "samtools fastq -n -T '*' FILE"
# Each read once, on the strand that was sequenced.
_CHILD = """
import sys
import pysam
try:
    pysam.fastq("-n", "-T", "*", sys.argv[1], catch_stdout=False)
except pysam.SamtoolsError as error:
    sys.exit(str(error.value).split("stderr=")[-1].strip().split("\\n")[0])
"""


def is_bam(source: Source) -> bool:
    """Whether a stream is BAM; nothing of it is taken."""
    return source.peek(len(_MAGIC)) == _MAGIC


def header_of(source: Source) -> bytes:
    """The text of BAM's header (SAM specification, 4.2), as much of it as there is; nothing of the stream is taken."""
    start = len(_MAGIC) + 4
    length = int.from_bytes(source.peek(start)[len(_MAGIC) : start], "little")
    return source.peek(start + length)[start : start + length].rstrip(b"\0")


class BamReads:
    """The process, and what it writes.

    Attributes:
        source: the reads as FASTQ.
    """

    def __init__(self, path: str, regular: bool) -> None:
        """Starts it. Raises InputError where it cannot."""
        if not regular or path == "-":
            raise InputError(
                path, f"reads in BAM are read from a file, not a pipe ({BY_HAND} | … makes FASTQ of them)"
            )
        try:
            import pysam  # noqa: F401
        except ImportError:
            raise InputError(
                path, f"reads in BAM are read by pysam, which is missing: pip install 'wfacli[bam]', or {BY_HAND}"
            ) from None
        self._path = path
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )
        assert self._process.stdout
        self.source = Source(f"/dev/fd/{self._process.stdout.fileno()}")
        self.source.path = path

    def finished(self, seconds: float | None = None) -> None:
        """Waits for its end, or so long. Raises InputError where it has failed, so that reads may be missing."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        if status:
            self._said.seek(0)
            words = self._said.read().decode(errors="replace").strip().splitlines()
            raise InputError(self._path, words[-1] if words else f"the process that reads it ended with {status}")

    def close(self) -> None:
        """Ends it where it still runs."""
        assert self._process.stdout
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.stdout.close()
        self._process.wait()
        self._said.close()
