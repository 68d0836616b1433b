"""Where reads lie, found by minimap2 or its library: a process beside this one that writes PAF."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading

import numpy as np

from ..errors import InputError, UsageError, WfacliError
from .bam_reads import BamReads
from .mapped import MappedFiles
from .process import Process
from .sources import Source

# By mappy, which always aligns what it maps; so it takes longer than minimap2 does. Reads go to its threads some at a
# time, and hits come out in their order.
_BY_MAPPY = """
import collections, concurrent.futures, itertools, sys
import mappy
preset, threads, reference, reads = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
aligner = mappy.Aligner(reference, preset=preset, n_threads=threads)
if not aligner:
    sys.exit("the reference cannot be read, or there is no preset " + preset)
buffers = collections.defaultdict(mappy.ThreadBuffer)
def lines(read):
    name, letters, _ = read
    return "".join(
        f"{name}\\t{len(letters)}\\t{h.q_st}\\t{h.q_en}\\t{'+' if h.strand > 0 else '-'}\\t{h.ctg}\\t{h.ctg_len}\\t"
        f"{h.r_st}\\t{h.r_en}\\t{h.mlen}\\t{h.blen}\\t{h.mapq}\\ttp:A:{'P' if h.is_primary else 'S'}\\n"
        for h in aligner.map(letters)
    )
records = mappy.fastx_read(reads)
with concurrent.futures.ThreadPoolExecutor(threads) as pool:
    while some := list(itertools.islice(records, 16 * threads)):
        sys.stdout.write("".join(pool.map(lines, some)))
"""
_ONE_INDEX = "1000G"  # letters of the reference in one index: of several each would give its own mappings of a read
_AT_ONCE = 1 << 18
_HINT = "put minimap2 on PATH (conda install -c bioconda minimap2), or pip install 'wfacli[map]'"


def mapper_command(preset: str, threads: int, reference: str, reads: str) -> list[str]:
    """What writes PAF: minimap2 where it is on PATH, else its library. Raises WfacliError where neither is there."""
    if found := shutil.which("minimap2"):
        return [found, "-x", preset, "-I", _ONE_INDEX, "-t", str(threads), "--", reference, reads]
    try:
        import mappy  # noqa: F401
    except ImportError:
        raise WfacliError(f"neither minimap2 nor its library, mappy, is here: {_HINT}") from None
    return [sys.executable, "-c", _BY_MAPPY, preset, str(threads), reference, reads]


class _Piped:
    """What a mapper cannot read as it is stored, written to a pipe by a thread."""

    def __init__(self, source: Source) -> None:
        """Takes a stream that nobody else reads, and begins."""
        self._source = source
        self.reader, self._writer = os.pipe()
        self._thread = threading.Thread(target=self._write, name="wfacli-mapper-input", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        room = np.empty(_AT_ONCE, np.uint8)
        # A mapper may end early. A fault ends the pipe here: who reads the same file beside the mapper reports it.
        with contextlib.suppress(InputError, BrokenPipeError):
            while got := self._source.readinto(room):
                view = room[:got].data
                while len(view):
                    view = view[os.write(self._writer, view) :]
        os.close(self._writer)

    def taken(self) -> None:
        """The mapper has the pipe's other end, or there will be none."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def close(self) -> None:
        """Nobody reads any more."""
        self.taken()
        self._thread.join()
        self._source.close()


class MapperFiles(MappedFiles):
    """READS and REFERENCE, and the mappings that a mapper finds between them."""

    def __init__(self, reads: str, reference: str, preset: str, threads: int) -> None:
        """Takes paths of files.

        Raises:
            UsageError: standard input, which a mapper and this program cannot both read.
            WfacliError: there is no mapper.
        """
        if "-" in (reads, reference):
            raise UsageError("wfacli map reads both files twice: give files, not standard input")
        super().__init__(reads, reference, "minimap2")
        self._preset, self._threads = preset, threads
        mapper_command(preset, threads, reference, reads)  # or there is none
        self._process: Process | None = None
        self._piped: list[_Piped] = []
        self._copy: BamReads | None = None

    def open(self) -> tuple[Source, ...]:
        """Opens reads and reference, and starts the mapper. Raises InputError."""
        reads, reference = self._fastq(Source(self.query)), Source(self.reference)
        paths = [self.reference if reference.common else self._pipe(Source(self.reference)), self.query]
        if self._bam:
            self._copy = BamReads(self.query, True)
            paths[1] = self._pipe(self._copy.source)
        elif not reads.common:
            paths[1] = self._pipe(Source(self.query))
        command = mapper_command(self._preset, self._threads, *paths)
        self._process = Process(command, self.mappings, [piped.reader for piped in self._piped])
        for piped in self._piped:
            piped.taken()
        return reads, self._process.source, reference

    def _pipe(self, source: Source) -> str:
        self._piped.append(_Piped(source))
        return f"/dev/fd/{self._piped[-1].reader}"

    def finished(self) -> None:
        """Waits for the mapper. Raises InputError where it has failed, so that there may be mappings missing."""
        super().finished()
        assert self._process
        self._process.finished()

    def close(self) -> None:
        """Ends the mapper where it still runs."""
        if self._process:
            self._process.close()
        if self._copy:
            self._copy.close()
        for piped in self._piped:
            piped.close()
        super().close()
