"""Where reads lie, found by minimap2 or its library: a process beside this one that writes PAF."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile

from ..errors import InputError, UsageError, WfacliError
from .bam_reads import BY_HAND, is_bam
from .mapped import MappedFiles
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
_HINT = "put minimap2 on PATH (conda install -c bioconda minimap2), or pip install 'wfacli[map]'"


def mapper_command(preset: str, threads: int, reference: str, reads: str) -> list[str]:
    """What writes PAF: minimap2 where it is on PATH, else its library. Raises WfacliError where neither is there."""
    if found := shutil.which("minimap2"):
        return [found, "-x", preset, "-t", str(threads), "--", reference, reads]
    try:
        import mappy  # noqa: F401
    except ImportError:
        raise WfacliError(f"neither minimap2 nor its library, mappy, is here: {_HINT}") from None
    return [sys.executable, "-c", _BY_MAPPY, preset, str(threads), reference, reads]


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
        self._command = mapper_command(preset, threads, reference, reads)
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> tuple[Source, ...]:
        """Opens reads and reference, and starts the mapper. Raises InputError."""
        reads, reference = Source(self.query), Source(self.reference)
        if is_bam(reads):
            raise InputError(self.query, f"minimap2 does not read BAM: {BY_HAND} > reads.fq makes FASTQ of it")
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True
        )
        assert self._process.stdout
        mappings = Source(f"/dev/fd/{self._process.stdout.fileno()}")
        mappings.path = self.mappings
        return reads, mappings, reference

    def finished(self) -> None:
        """Waits for the mapper. Raises InputError where it has failed, so that there may be mappings missing."""
        assert self._process
        status = self._process.wait()
        if status:
            self._said.seek(0)
            words = self._said.read().decode(errors="replace").strip().splitlines()
            raise InputError(self.mappings, words[-1] if words else f"ended with status {status}")

    def close(self) -> None:
        """Ends the mapper where it still runs."""
        if not self._process:
            return
        assert self._process.stdout
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.stdout.close()
        self._process.wait()
        self._said.close()
