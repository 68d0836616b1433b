"""Mapped reads as batches of pairs: a part of a read and a window of the reference."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ..._native import MappedReader, Reference
from ...config import MappingSpec, Penalties
from ...core.batch import U8
from ...errors import InputError, UsageError
from ..read.faidx import indexed
from ..read.names import NO_TARGET
from ..read.reader import alignment_format, read_batches, refuse_alignments
from ..read.sam_header import InputHeader, is_bam, read_header
from ..read.sources import Source
from ..read.unnamed import temporary_folder
from .bam_reads import BamReads
from .grouping import grouped_mappings
from .provenance import Program, last_program

_READ_WEIGHT = 16_000_000
_ENDS_WITHIN = 1.0  # seconds to wait for the exit of a process that has written everything
_DIGESTED = 1 << 20  # bases hashed at a time
_LINES = 1 << 14  # @SQ lines made at a time


class MappedFiles:
    """READS, REFERENCE and MAPPINGS as the user named them, and MATES if READS has only first mates.

    Attributes:
        reads_header: header of reads in BAM or SAM; set by open().
        mappings_header: header of mappings in SAM or BAM; set by look().
        mapper: the program that made the mappings, if it is known; set by look().
        runs_mapper: True if this process starts the mapper, so that no header has its @PG line.
    """

    runs_mapper = False

    def __init__(
        self, reads: str, reference: str, mappings: str, mates: str | None = None, *, threads: int = 1
    ) -> None:
        """Take paths; "-" is standard input. `threads`: number of threads for open(). Raises UsageError."""
        if (reads, reference, mappings, mates).count("-") > 1:
            raise UsageError("only one of READS, --mates, REFERENCE and --mappings can be standard input")
        self.query, self.reference, self.mappings, self.mates = reads, reference, mappings, mates
        self._threads = threads
        self._bam: BamReads | None = None
        self.reads_header = self.mappings_header = InputHeader()
        self.mapper: Program | None = None

    @property
    def paths(self) -> tuple[str | None, ...]:
        """All files, as the user named them."""
        return self.query, self.reference, self.mappings, self.mates

    def open(self) -> tuple[Source, ...]:
        """Open reads, mappings, reference and, if there are any, mates. Raises InputError."""
        opened: list[Source] = []
        try:
            for path in filter(None, (self.query, self.mappings, self.reference, self.mates)):
                opened.append(Source(path))
            opened[1] = grouped_mappings(opened[1], self._threads)
            opened[0] = self._fastq(opened[0])
            for mates in opened[3:]:
                self._refuse_bam(mates)
        except InputError:
            for source in opened:
                source.close()
            raise
        return tuple(opened)

    def _fastq(self, reads: Source) -> Source:
        """Return the reads as FASTQ; BAM and SAM are converted by a child process. Raises InputError."""
        if alignment_format(reads) not in ("BAM", "SAM"):
            refuse_alignments(reads)
            return reads
        self.reads_header = read_header(reads)
        reads.check_end()
        reads.close()
        self._bam = self._bam_reads(reads.regular)
        return self._bam.source

    def _bam_reads(self, regular: bool) -> BamReads:
        """Start a process that converts reads in BAM or SAM. Raises InputError."""
        return BamReads(self.query, regular)

    @staticmethod
    def _refuse_bam(mates: Source) -> None:
        if is_bam(mates):
            raise InputError(mates.path, "is BAM; BAM has both mates: give it as READS, without --mates")
        refuse_alignments(mates)

    def mappings_ended(self) -> None:
        """Check for failures after the last mapping. Raises InputError if mappings may be missing."""

    def read_mappings_header(self, mappings: Source) -> None:
        """Read the header of the mappings, which may block until they begin. Raises InputError."""
        self.mappings_header = read_header(mappings)
        self.mapper = last_program(self.mappings_header)

    def finished(self) -> None:
        """Check for failures after the last read and mapping. Raises InputError if any may be missing."""
        if self._bam:
            self._bam.finished()

    def check_reported(self, reads: int, reported: int) -> None:
        """Check that the mappings are complete, where that can be known. Raises InputError if lines are missing.

        Args:
            reads: number of reads.
            reported: number of reads with at least one line among the mappings, mapped or not.
        """

    def check_cause(self, fault: InputError) -> None:
        """Look for the cause of a fault in reads or mappings. Raises InputError if another failure caused it."""
        if self._bam:
            self._bam.finished(_ENDS_WITHIN)

    def cancel(self) -> None:
        """End what a thread that reads mappings may wait for."""

    def close(self) -> None:
        """Stop the processes and threads that open() started; sources stay open."""
        if self._bam:
            self._bam.close()


def read_reference(source: Source, threads: int = 1) -> Reference:
    """Return all sequences of a file: read on demand if it has an index, otherwise in memory, one byte a base.

    `threads`: see read_batches. Raises InputError.
    """
    from_index = indexed(source, threads)
    if from_index is not None:
        return from_index
    reference = Reference()
    for batch in read_batches((source,), "targets", _READ_WEIGHT, threads=threads):
        try:
            reference.add(batch)
        except ValueError as error:
            (name,) = error.args  # bytes
            what = "two sequences have this name" if name else f"sequence {len(reference) + 1:,} has no name"
            raise InputError(source.path, what, name) from None
    if not len(reference):
        raise InputError(source.path, "has no sequence")
    return reference


def reference_lines(reference: Reference, checksums: bool, path: str) -> Iterator[bytes | U8]:
    """Yield @SQ lines of the sequences that are not empty.

    Args:
        reference: the sequences.
        checksums: add MD5 checksums as SAM defines them (M5).
        path: of the reference, for error messages.

    Raises:
        InputError: a name that SAM does not allow.
    """
    step = 1 if checksums else _LINES
    for first in range(0, len(reference), step):
        try:
            lines = reference.sam_lines(first, first + step)
        except ValueError as error:
            (name,) = error.args  # bytes
            raise InputError(path, NO_TARGET, name) from None
        if checksums and len(lines):
            yield lines.tobytes()[:-1] + b"\tM5:" + _md5(reference, first) + b"\n"
        else:
            yield lines


def _md5(reference: Reference, number: int) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    for first in range(0, reference.length(number), _DIGESTED):
        digest.update(reference.bases(number, first, first + _DIGESTED).tobytes().upper())
    return digest.hexdigest().encode()


def check_fits(reference: Reference, path: str) -> None:
    """Raise InputError if a window of an indexed file did not match its index."""
    if not reference.matches_index:
        raise InputError(path, f"does not match its index: rebuild {path}.fai, or remove it")


def mapped_reader(
    reference: Reference, spec: MappingSpec, whole_reads: bool, read_group: bool = False, copy_group: bool = False
) -> MappedReader:
    """Return a reader of (reads, mappings), for reader.batches_of.

    Args:
        reference: sequences that the mappings refer to.
        spec: options for the mappings.
        whole_reads: whether records have the whole read and its qualities.
        read_group: whether records get a read group from the options, whatever the reads' own tags say.
        copy_group: whether the reads' own read group is copied even if other tags are not.
    """
    ends = spec.ends
    scores = ends.penalties if ends else Penalties()
    reach = (scores.match, ends.bonus, scores.gaps, ends.max_extension, ends.band) if ends else None
    return MappedReader(
        reference,
        span=spec.span.value,
        pad=spec.pad,
        whole_reads=whole_reads,
        keep_unmapped=spec.keep_unmapped,
        copy_tags=spec.copy_tags,
        copy_group=copy_group,
        read_group=read_group,
        skip=spec.skip,
        mates=spec.mates,
        mates_in_order=spec.mates_in_order,
        in_order=spec.in_order,
        reach=reach,
        folder=temporary_folder(),
        spill_threshold=spec.spill_threshold,
    )
