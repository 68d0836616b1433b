"""CRAM: SAM piped to htslib in a child process, which sorts and indexes it, too."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import subprocess
from pathlib import Path

from ...config import OutputSpec
from ...core.batch import U8
from ...errors import OutputClosed, OutputError, UsageError, WfacliError, text_of
from ..read.unnamed import unnamed_file
from ..read.urls import is_url
from .complete import LineCount, fault_of
from .cram_reference import cram_reference
from .operand import operand
from .output import Output
from .python_child import python_command, scratch_environment
from .scratch import Scratch
from .temporary import new_beside

# pysam includes samtools, whose commands block the interpreter while they run, so they run in a child process.
_CHILD = """
import signal
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
import os, pysam
try:
    # Bytes, since pysam encodes text as UTF-8, and file names may have other bytes. Its `index` accepts only text.
    words = sys.argv[2:] if sys.argv[1] == "index" else map(os.fsencode, sys.argv[2:])
    getattr(pysam, sys.argv[1])(*words, catch_stdout=False)
except pysam.SamtoolsError as error:
    said = str(error.value).split("stderr=")[-1].strip().split("\\n")
    sys.exit(next((line for line in said if line.startswith("samtools")), said[0]))  # sort begins with its progress
"""
_MAX_THREADS = 8  # more threads hardly speed up one file
INDEX_SUFFIXES = (".bai", ".csi", ".crai")  # of indexes beside an output, which are replaced


_ROOM = 1 << 16  # bytes; a file system with less free space counts as full


def require_pysam() -> None:
    """Raise WfacliError if pysam, which writes CRAM, is not installed."""
    try:
        import pysam  # noqa: F401
    except ModuleNotFoundError:  # not one that cannot be loaded for lack of memory
        raise WfacliError(
            "CRAM is written by pysam, which is missing: pip install pysam, or pipe BAM to samtools"
        ) from None


class HtsOutput(Output):
    """Converts SAM, header and records, to CRAM, sorted and indexed if the specification says so; see Output."""

    def __init__(self, path: str | None, spec: OutputSpec, threads: int, reference: str) -> None:
        """Open a path and start htslib; None or "-" is standard output.

        Args:
            path: path of the output file.
            spec: sort, index, compression.
            threads: number of threads that compress and sort.
            reference: FASTA, plain or bgzip, that CRAM refers to.

        Raises:
            UsageError: the path is a URL.
            OutputError: the file cannot be written.
            WfacliError: pysam is missing, or htslib cannot use the reference of CRAM.
        """
        require_pysam()
        if is_url(path):
            raise UsageError(f"{path}: CRAM is written to a file, not to a URL: copy it, or write BAM")
        self._scratch = Scratch()
        try:
            if spec.index and path:
                operand(path)  # raises if the name does not allow an index
            reference = cram_reference(reference, self._scratch.name, threads)
            super().__init__(path)
        except BaseException:
            self._scratch.cleanup()
            raise
        self._index, self._sort = spec.index, spec.sort
        self._failed, self._threads = False, min(threads, _MAX_THREADS)
        self._fed = LineCount()
        try:
            self._start(self._command(spec, self._threads, reference))
        except BaseException as error:
            super().abandon()
            self._scratch.cleanup()
            if isinstance(error, OSError):
                raise OutputError(f"{self.name}: htslib cannot be started: {error.strerror}") from None
            raise

    def _start(self, command: list[str]) -> None:
        self._complaints = unnamed_file()  # closed by _ended()
        try:
            self._child = subprocess.Popen(
                python_command(_CHILD, command),
                stdin=subprocess.PIPE,
                stdout=self._fd,
                stderr=self._complaints,
                env=scratch_environment(self._scratch.name),
            )
        except BaseException:
            self._complaints.close()
            raise

    def _command(self, spec: OutputSpec, threads: int, reference: str) -> list[str]:
        common = ["-@", str(threads), "--no-PG", "-O", "cram", "--reference", reference]
        if spec.compression is not None:
            common += ["--output-fmt-option", f"level={spec.compression}"]
        if not spec.sort:
            return ["view", "-h", *common, "-o", "-", "-"]
        scratch = str(Path(self._scratch.name) / "sort")
        memory = max(1, (spec.sort_memory >> 20) // threads)  # of each thread; htslib takes no less than a megabyte
        return ["sort", *common, "-m", f"{memory}M", "-T", scratch, "-o", "-", "-"]

    def write(self, data: bytes | U8) -> None:
        """Pass SAM to htslib. Raises OutputError, or OutputClosed if the reader has closed the pipe."""
        view = memoryview(data) if isinstance(data, bytes) else data.data
        assert self._child.stdin
        try:
            self._child.stdin.write(view)
        except BrokenPipeError:
            self._ended(False)
            raise OutputError(f"{self.name}: htslib ended early") from None
        self._fed.add(view)
        self.written += len(view)

    def add(self, *packed: U8) -> None:
        """See Output."""
        for records in packed:
            self.write(records)

    def finish(self) -> None:
        """Wait until the file is complete, rename it, and make its index. Raises OutputError."""
        self._ended(True)
        super().finish()
        if self._index:
            _make_index(self.name)

    def abandon(self, worth: bool = True) -> Path | None:
        """See Output. The records so far are a complete file, unless htslib failed.

        In that case the file is truncated; it is removed if it was to be sorted, since it is not known which records
        it has.
        """
        with contextlib.suppress(OutputError, OutputClosed):
            self._ended(False)
        if self._failed and self._partial:
            self.broken = True
            worth = worth and not self._sort and self._partial.stat().st_size > 0
        return super().abandon(worth)

    def _ended(self, counted: bool) -> None:
        """Wait for htslib and check the file. Raises its error, once.

        Args:
            counted: also count the records, which takes as long as reading the file.
        """
        if self._complaints.closed:
            return
        assert self._child.stdin
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()
        status = self._child.wait()
        self._complaints.seek(0)
        words = text_of(self._complaints.read()).strip()
        self._complaints.close()
        full = self._full_places() if status else []
        self._scratch.cleanup()
        fault = "" if status else self._fault(counted)
        if status == 0 and not fault:
            return
        self._failed = True
        if fault:
            raise OutputError(f"{self.name}: htslib ended without an error, but {fault}")
        if self._reader_gone:
            raise OutputClosed(self.name)
        silent = f"htslib was ended by signal {-status}" if status < 0 else f"htslib ended with {status}"
        lines = words.splitlines() or [silent]
        raise OutputError(f"{self.name}: {lines[-1]}" + (f" (no space left in {' and '.join(full)})" if full else ""))

    def _fault(self, counted: bool) -> str:
        """Return what is wrong with the file, or "". An exit status of 0 alone does not prove that it is complete."""
        if self._partial:
            records = self._fed.records if counted else None
            return fault_of(str(self._partial), records)
        if stat.S_ISREG(os.fstat(self._fd).st_mode):  # standard output; records before ours are not counted
            return fault_of(f"/dev/fd/{self._fd}", None)
        return ""

    def _full_places(self) -> list[str]:
        """Return the folders without free space, since htslib reports other reasons, or none."""
        file, temporary = os.fstatvfs(self._fd), os.statvfs(self._scratch.name)
        there = stat.S_ISREG(os.fstat(self._fd).st_mode) and file.f_bavail * file.f_frsize < _ROOM
        here = temporary.f_bavail * temporary.f_frsize < _ROOM
        places = [(there, str(Path(self.name).parent)), (here, str(Path(self._scratch.name).parent))]
        return list(dict.fromkeys(place for full, place in places if full))

    @property
    def _reader_gone(self) -> bool:
        """True if the output is a pipe whose reader has closed it."""
        poll = select.poll()
        poll.register(self._fd, 0)
        return stat.S_ISFIFO(os.fstat(self._fd).st_mode) and bool(poll.poll(0))


def _make_index(path: str) -> None:
    """Write the index (.crai) of a sorted file beside it. Raises OutputError. It gets its name when it is complete."""
    try:
        index = Path(f"{path}.crai")
        index.unlink(missing_ok=True)  # an index of an earlier file could be used instead of the new one
        with Path(path).open("rb") as file:
            reason = _write_index(file.fileno(), index)
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise OutputError(f"{path} is complete, but has no index: {reason}")


def _write_index(source: int, final: Path) -> str:
    """Write the index of an open file; return htslib's reason if it failed, or "". Raises OSError."""
    descriptor, partial = new_beside(final, "partial")
    try:
        # Names of descriptors, since pysam indexes no file whose name is not UTF-8.
        command = ["index", "-o", f"/dev/fd/{descriptor}", f"/dev/fd/{source}"]
        with Scratch() as scratch:
            done = subprocess.run(
                python_command(_CHILD, command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(descriptor, source),
                env=scratch_environment(scratch),
                check=False,
            )
        messages = text_of(done.stderr).strip().splitlines()
        if done.returncode:
            return messages[-1] if messages else f"htslib ended with {done.returncode}"
        partial.replace(final)
        return ""
    finally:
        partial.unlink(missing_ok=True)
        os.close(descriptor)
