"""Mapping by minimap2 or its library in a child process that writes PAF, or SAM for paired reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from ...core.stats import counted
from ...errors import InputError, UsageError
from ..read.joined import Joined
from ..read.reader import refuse_alignments
from ..read.sources import Source
from .bam_reads import BamReads
from .mapped import MappedFiles
from .piped import Piped
from .presets import PAIRING, check_preset, refuse_spliced
from .process import Process
from .provenance import Program, command_of, version_of
from .start import MAPPINGS, EarlyMapper, is_read_once, mapper_command, start
from .swapped import check_order, short_reads
from .tee import Tee

_TWO_PLACES = "mappings of a read are in two places of the file"
_NOT_IN_ORDER = "wrote about this read in two places: its lines are not in the order of the reads"


def program_of(command: list[str], preset: str, names: dict[str, str]) -> Program:
    """Return the program that writes mappings; names: the user's names of files, by their names in the command."""
    if shutil.which("minimap2"):
        return Program("minimap2", version_of(command[0]), command_of(["minimap2", *command[1:]], names))
    import mappy

    return Program("mappy", str(getattr(mappy, "__version__", "")), f"mappy.Aligner(preset={preset!r})")


def check_alike(reads: Sequence[Source]) -> None:
    """Raise InputError if some files of reads are FASTA and others FASTQ, or one is neither."""
    for source in reads:
        refuse_alignments(source)
        if (start := source.peek(1)) != (first := reads[0].peek(1)) and start and first:
            one, other = ("FASTQ" if mark == b"@" else "FASTA" for mark in (start, first))
            raise InputError(source.path, f"is {one}, and {reads[0].path} is {other}: several files are of one kind")


class MapperFiles(MappedFiles):
    """READS (and MATES) and REFERENCE, with mappings computed by a mapper.

    Attributes:
        swap_warning: why READS and REFERENCE may have been swapped, or None; set by open().
        short_read_length: length of the longest of the first reads if all are short, otherwise 0; set by open().
        preset: preset of minimap2.
        more: files with further reads.
    """

    swap_warning: str | None = None
    short_read_length = 0
    runs_mapper = True

    def __init__(
        self,
        reads: str,
        reference: str,
        preset: str,
        threads: int,
        mates: str | None = None,
        more: Sequence[str] = (),
        early: EarlyMapper | None = None,
    ) -> None:
        """Take paths; "-" is standard input.

        Args:
            reads: the reads, or the first ones of pairs.
            reference: what they are mapped to.
            preset: preset of minimap2.
            threads: number of its threads.
            mates: the second reads of pairs.
            more: files with further reads, appended to the first.
            early: the mapper, which may have been started with these files; None: open() starts it.

        Raises:
            UsageError: standard input in more than one place, or as the reference, which is read twice; mates with a
                preset that does not pair reads, or the same file as the reads; an unknown preset.
            WfacliError: no mapper is installed.
        """
        refuse_spliced(preset)
        if "" in (reference, reads, mates, *more):
            raise UsageError("the name of an input file is empty")
        if reference == "-":
            raise UsageError("REFERENCE is read twice, so it is a file and not standard input; READS may be -")
        if (reads, *more).count("-") > 1:
            raise UsageError("only one of READS can be standard input")
        if reads == mates == "-":
            raise UsageError(
                "only one of READS and MATES can be standard input; mates that follow one another in it are read by: "
                f"wfacli map {reference} - --preset {PAIRING[0]}"
            )
        if mates is not None and preset not in PAIRING:
            raise UsageError(f"--mates: minimap2 pairs reads with --preset {PAIRING[0]} alone, not with {preset}")
        if mates is not None and "-" not in (reads, mates) and os.path.realpath(mates) == os.path.realpath(reads):
            raise UsageError("READS and --mates are the same file")
        super().__init__(reads, reference, MAPPINGS, mates, threads=threads)
        self.preset, self.more, self._early = preset, tuple(more), early
        mapper_command(preset, threads, reference, [reads])  # raises if no mapper is installed
        check_preset(preset, shutil.which("minimap2"))
        self._process: Process | None = None
        self._piped: list[Piped] = []
        self._tees: dict[str, Tee] = {}
        self._mapper_reads: BamReads | None = None

    @property
    def paths(self) -> tuple[str | None, ...]:
        """See MappedFiles; there is no file of mappings."""
        return self.query, *self.more, self.reference, self.mates

    def planned_mapper(self) -> Program:
        """Return the program that open() would start, without starting it."""
        paths = [self.query, *self.more, *filter(None, [self.mates])]
        return program_of(mapper_command(self.preset, self._threads, self.reference, paths), self.preset, {})

    def open(self) -> tuple[Source, ...]:
        """Open reads, reference and mates, and start the mapper. Raises InputError."""
        if is_read_once(self.reference):
            raise InputError(self.reference, "is a pipe, and the reference is read twice: write it to a file")
        reference = Source(self.reference)
        reads, *mates = (self._stream(path) for path in (self.query, self.mates) if path)
        all_reads = [reads, *map(self._stream, self.more)]
        for source in mates:
            self._refuse_bam(source)
        fastq = self._fastq(reads) if len(all_reads) == 1 else self._joined(all_reads)
        self.swap_warning = check_order(reference, (fastq, *mates), self.preset)
        self.short_read_length = short_reads(fastq)
        if self._bam:
            if mates:
                raise InputError(self.query, "is BAM, which has both mates: give it without --mates")
            self._mapper_reads = self._bam_reads(True)
            paths = [self._pipe(self._mapper_reads.source)]
        else:
            paths = [self._readable(source) for source in (*all_reads, *mates)]
        mapped_to = self._readable(reference)
        command = mapper_command(self.preset, self._threads, mapped_to, paths)
        named = (self.reference, self.query, *self.more, *filter(None, [self.mates]))
        names = dict(zip((mapped_to, *paths), named, strict=True))
        self.mapper = program_of(command, self.preset, names)
        tees = self._tees.values()
        own = [piped.reader for piped in self._piped] + [tee.readers[0] for tee in tees if tee.readers[0] >= 0]
        begun = self._early.taken(command) if self._early else None
        self._process = begun or start(command, own)
        for piped in self._piped:
            piped.close_reader()
        for tee in tees:
            tee.close_reader(0)
        return fastq, self._process.source, reference, *mates

    @staticmethod
    def _joined(reads: list[Source]) -> Joined:
        """Return files of reads as one stream. Raises InputError."""
        check_alike(reads)
        return Joined(reads)

    def _stream(self, path: str) -> Source:
        if not is_read_once(path):
            return Source(path)
        tee = Tee(path)
        source = Source(f"/dev/fd/{tee.readers[1]}", path)
        tee.close_reader(1)
        self._tees[path] = tee
        return source

    def _readable(self, source: Source) -> str:
        """Return a path from which the mapper can read an open stream."""
        tee = self._tees.get(source.path)
        path = f"/dev/fd/{tee.readers[0]}" if tee else source.path
        if source.common and not source.remote:
            return path
        piped = self._pipe(Source(path))
        if tee:
            tee.close_reader(0)
        return piped

    def _pipe(self, source: Source) -> str:
        self._piped.append(Piped(source))
        return f"/dev/fd/{self._piped[-1].reader}"

    def read_mappings_header(self, mappings: Source) -> None:
        """Do nothing, unlike MappedFiles: the mapper's own header is not needed."""

    def mappings_ended(self) -> None:
        """Wait for the mapper. Raises InputError if it has failed, since mappings may be missing."""
        assert self._process
        for tee in self._tees.values():
            tee.check()
        self._process.finished()

    def finished(self) -> None:
        """See MappedFiles."""
        super().finished()
        self.mappings_ended()

    def check_reported(self, reads: int, reported: int) -> None:
        """See MappedFiles. The mapper writes a line for each read, so missing lines prove that output was lost."""
        if reported < reads:
            lost, more = counted(reads - reported, "read"), len(self.more) + (self.mates is not None)
            files = f"{self.query} and {counted(more, 'more file')}" if more else self.query
            message = f"wrote no line about {lost} of {reads:,} in {files}: it read only a part, or output is lost"
            raise InputError(self.mappings, message)

    def check_cause(self, fault: InputError) -> None:
        """See MappedFiles."""
        super().check_cause(fault)
        for tee in self._tees.values():
            tee.check()
        # The reads are not at fault: the names of all are different (MappedReader::find_read).
        if fault.path == self.mappings and _TWO_PLACES in str(fault):
            raise InputError(self.mappings, _NOT_IN_ORDER, fault.record)

    def cancel(self) -> None:
        """See MappedFiles. The mapper may take minutes to its first line."""
        if self._process:
            self._process.stop()

    def close(self) -> None:
        """Stop the mapper if it still runs, and close pipes and processes."""
        if self._process:
            self._process.close()
        if self._mapper_reads:
            self._mapper_reads.close()
        for piped in self._piped:
            piped.close()
        for tee in self._tees.values():
            tee.close()
        super().close()
