"""Input files of a shard: sections of the files of the plan."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ..io.mapper.bam_reads import BamReads
from ..io.mapper.mapped import MappedFiles
from ..io.mapper.mapper import MapperFiles
from ..io.read.reader import PairFiles
from ..io.read.section import Section
from ..io.read.sources import Source
from .plan import Plan


def _sections(plan: Plan, shard: int, paths: Sequence[str]) -> list[Source]:
    """Open the sections of a shard. Raises InputError, with all files closed."""
    opened: list[Source] = []
    try:
        for path in paths:
            opened.append(Section(path, *plan.section(shard, path)))
    except InputError:
        for source in opened:
            source.close()
        raise
    return opened


class ShardPairFiles(PairFiles):
    """Pairs of a shard; see PairFiles."""

    def __init__(self, plan: Plan, shard: int, files: PairFiles) -> None:
        """Take a plan, the number of the shard from 1, and the files of the whole run."""
        super().__init__(files.query, files.target)
        self._plan, self._shard = plan, shard

    @property
    def pairs_before(self) -> tuple[int, int]:
        """See PairFiles."""
        return self._plan.cuts[self._shard - 1].records, self._plan.columns if self._shard > 1 else 0

    def layout(self, sources: tuple[Source, ...]) -> str:
        """See PairFiles."""
        del sources
        return self._plan.layout

    def open(self) -> tuple[Source, ...]:
        """See PairFiles."""
        paths = [self.query] if self.target is None else [self.query, self.target]
        return tuple(_sections(self._plan, self._shard, paths))


class _ShardReads(MappedFiles):
    """Reads of a shard; those in BAM or SAM are converted by a process that gets the shard's section."""

    _plan: Plan
    _shard: int

    def _bam_reads(self, regular: bool) -> BamReads:
        del regular
        section = Section(self.query, *self._plan.section(self._shard, self.query))
        return BamReads(self.query, True, section)


class ShardMappedFiles(_ShardReads):
    """Reads of a shard with their mappings, and the whole reference; see MappedFiles."""

    def __init__(self, plan: Plan, shard: int, files: MappedFiles, threads: int) -> None:
        """Take a plan, the number of the shard from 1, the files of the whole run, and the threads for open()."""
        super().__init__(files.query, files.reference, files.mappings, files.mates, threads=threads)
        self._plan, self._shard = plan, shard

    def open(self) -> tuple[Source, ...]:
        """See MappedFiles."""
        paths = [self.query, self.mappings, *([self.mates] if self.mates else [])]
        reads, mappings, *mates = _sections(self._plan, self._shard, paths)
        try:
            reads = self._fastq(reads)
            return reads, mappings, Source(self.reference), *mates
        except InputError:
            for source in (reads, mappings, *mates):
                source.close()
            raise


class ShardMapperFiles(_ShardReads, MapperFiles):
    """Reads of a shard, which this process maps, and the whole reference; see MapperFiles."""

    def __init__(self, plan: Plan, shard: int, files: MapperFiles, threads: int) -> None:
        """Take a plan, the number of the shard from 1, the files of the whole run, and the mapper's threads."""
        # Of several files the mapper gets those that the shard has reads of.
        reads = [path for path in (files.query, *files.more) if not plan.is_empty(shard, path)] or [files.query]
        super().__init__(reads[0], files.reference, files.preset, threads, files.mates, reads[1:])
        self._plan, self._shard = plan, shard

    def _stream(self, path: str) -> Source:
        return Section(path, *self._plan.section(self._shard, path))

    def _readable(self, source: Source) -> str:
        # The mapper cannot read a section of a file, so it gets the bytes through a pipe.
        return self._pipe(self._stream(source.path)) if isinstance(source, Section) else super()._readable(source)
