"""Reads with the places to which they are mapped, as batches of pairs: a part of a read, a window of the reference."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator

from ..._native import MappedReader, Reference, fits_rname
from ...config import MappingSpec, Penalties
from ...errors import InputError, UsageError
from ..read.faidx import indexed
from ..read.names import NO_TARGET
from ..read.reader import alignment_format, read_batches, refuse_alignments
from ..read.sources import Source
from .bam_reads import BamReads, is_bam
from .grouping import grouped_mappings
from .provenance import Program, header_of_mappings, last_program

_READ_WEIGHT = 16_000_000
_ENDS_WITHIN = 1.0  # seconds, a process that has written all
_DIGESTED = 1 << 20  # letters at a time


class MappedFiles:
    """READS, REFERENCE and MAPPINGS, as the user named them, and MATES, where READS has the first mates alone.

    Attributes:
        reads_header: the header of reads in BAM or SAM, once they are open.
        mappings_header: that of mappings in SAM or BAM, after look().
        mapper: what made the mappings, if they or who started it say so; after look().
        runs_mapper: whether it is started here, so that no header has it.
    """

    runs_mapper = False

    def __init__(self, reads: str, reference: str, mappings: str, mates: str | None = None) -> None:
        """Takes paths; "-" is standard input. Raises UsageError."""
        if (reads, reference, mappings, mates).count("-") > 1:
            raise UsageError("only one of READS, --mates, REFERENCE and --mappings can be standard input")
        self.query, self.reference, self.mappings, self.mates = reads, reference, mappings, mates
        self._bam: BamReads | None = None
        self.reads_header = self.mappings_header = b""
        self.mapper: Program | None = None

    @property
    def paths(self) -> tuple[str | None, ...]:
        """All files, as the user named them."""
        return self.query, self.reference, self.mappings, self.mates

    def open(self) -> tuple[Source, ...]:
        """Opens reads, mappings, reference and, where there are any, mates. Raises InputError."""
        opened: list[Source] = []
        try:
            for path in filter(None, (self.query, self.mappings, self.reference, self.mates)):
                opened.append(Source(path))
            opened[1] = grouped_mappings(opened[1])
            opened[0] = self._fastq(opened[0])
            for mates in opened[3:]:
                self._refuse_bam(mates)
        except InputError:
            for source in opened:
                source.close()
            raise
        return tuple(opened)

    def _fastq(self, reads: Source) -> Source:
        """Reads, through a process that makes FASTQ of BAM and SAM. Raises InputError."""
        if alignment_format(reads) not in ("BAM", "SAM"):
            refuse_alignments(reads)
            return reads
        self.reads_header = header_of_mappings(reads)
        reads.close()
        self._bam = BamReads(self.query, reads.regular)
        return self._bam.source

    @staticmethod
    def _refuse_bam(mates: Source) -> None:
        if is_bam(mates):
            raise InputError(mates.path, "is BAM; BAM has both mates: give it as READS, without --mates")
        refuse_alignments(mates)

    def mappings_ended(self) -> None:
        """Called when all mappings were read. Raises InputError where some may be missing."""

    def look(self, mappings: Source) -> None:
        """Looks at the beginning of the mappings, which may wait for it. Raises InputError."""
        self.mappings_header = header_of_mappings(mappings)
        self.mapper = last_program(self.mappings_header)

    def finished(self) -> None:
        """Called when all reads and mappings were read. Raises InputError where some may be missing."""
        if self._bam:
            self._bam.finished()

    def blame(self, fault: InputError) -> None:
        """Called for a fault in the reads or mappings. Raises InputError where something else is the reason for it."""
        if self._bam:
            self._bam.finished(_ENDS_WITHIN)

    def close(self) -> None:
        """Ends what open() began, beside the sources."""
        if self._bam:
            self._bam.close()


def read_reference(source: Source, threads: int = 1) -> Reference:
    """All sequences of a file: left there where an index says how they lie, else in memory, a byte a letter.

    `threads`: see read_batches. Raises InputError.
    """
    left = indexed(source, threads)
    if left is not None:
        return left
    reference = Reference()
    for batch in read_batches((source,), "targets", _READ_WEIGHT, threads=threads):
        try:
            reference.add(batch)
        except ValueError as error:
            (name,) = error.args  # bytes
            what = "two sequences have this name" if name else "a sequence has no name"
            raise InputError(source.path, what, name) from None
    if not len(reference):
        raise InputError(source.path, "has no sequence")
    return reference


def reference_lines(reference: Reference, checksums: bool, path: str) -> Iterator[bytes]:
    """Yields an @SQ line for each sequence with letters.

    Args:
        reference: the sequences.
        checksums: with MD5 sums as SAM wants them (M5).
        path: of the reference, for messages.

    Raises:
        InputError: a name that SAM cannot hold.
    """
    for number in range(len(reference)):
        if not reference.length(number):
            continue
        if not fits_rname(reference.name(number)):
            raise InputError(path, NO_TARGET, reference.name(number))
        line = b"@SQ\tSN:%s\tLN:%d" % (reference.name(number), reference.length(number))
        if checksums:
            line += b"\tM5:" + _md5(reference, number)
        yield line + b"\n"


def _md5(reference: Reference, number: int) -> bytes:
    digest = hashlib.md5(usedforsecurity=False)
    for first in range(0, reference.length(number), _DIGESTED):
        digest.update(reference.letters(number, first, first + _DIGESTED).tobytes().upper())
    return digest.hexdigest().encode()


def check_fits(reference: Reference, path: str) -> None:
    """Raises InputError where a window of a file was not as its index says."""
    if not reference.fits:
        raise InputError(path, f"is not as its index says: make {path}.fai anew, or remove it")


def mapped_reader(
    reference: Reference, spec: MappingSpec, whole_reads: bool, read_group: bool = False, copy_group: bool = False
) -> MappedReader:
    """A reader of (reads, mappings), for reader.batches_of.

    Args:
        reference: what mappings speak of.
        spec: what becomes of them.
        whole_reads: whether records shall have whole reads and qualities.
        read_group: whether they get a read group, whatever reads' own tags say.
        copy_group: whether the reads' own goes to their records, where no other tag does.
    """
    ends = spec.ends
    scores = ends.penalties if ends else Penalties()
    reach = (scores.match, ends.bonus, scores.gaps, ends.reach, ends.band) if ends else None
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
        in_step=spec.in_step,
        in_order=spec.in_order,
        reach=reach,
        folder=tempfile.gettempdir(),
        shelf=spec.shelf,
    )
