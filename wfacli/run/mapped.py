"""The run of an `align --mappings` command: mapped reads against a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from .._native import MappedReader, Reference
from ..config import Config, Format, MappingSpec
from ..core.batch import AlignmentBatch, PairBatch
from ..core.stats import counted
from ..errors import InputError, text_of
from ..io.mapper.mapped import MappedFiles, check_fits, mapped_reader, read_reference, reference_lines
from ..io.read.ahead import Ahead
from ..io.read.reader import batches_of
from ..io.write.format import Formatter
from ..io.write.header import header_around
from .align import AlignRun
from .ends import Extender


class MappedRun(AlignRun):
    """Run that aligns reads at the positions given by mappings."""

    def __init__(
        self,
        config: Config,
        mapping: MappingSpec,
        files: MappedFiles,
        output: str | None,
        version: str,
        report: str | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """See BatchRun; config.spec has the mode that mapping.span requires, and mapping.ends implies EXTENDED."""
        self._mapping, self._mapped_files = mapping, files
        self._reader: MappedReader | None = None
        self._all_mapped = False
        self._skipped_line = 0
        super().__init__(config, files, output, version, report, tell, Formatter.of(config, mapped=True))
        ends = mapping.ends
        self._extender = ends and Extender(ends, config.spec, config.limits, config.threads, self.stats)

    def _begun_header(self) -> Ahead[bytes] | None:
        return None  # needs the reference, which _prepare reads

    def _begun_reading(self) -> None:
        return None  # same as above

    def _prepare(self) -> None:
        with self.stats.timed("reference"):
            self._reference: Reference = read_reference(self._sources[2], self.settings.threads)
        self._mapped_files.read_mappings_header(self._sources[1])
        if self._has_sam_header:
            lines = reference_lines(self._reference, self.config.output.checksums, self._sources[2].path)
            files = self._mapped_files
            before = (files.reads_header, files.mappings_header)
            mapper = files.mapper.line if files.mapper and files.runs_mapper else None
            self._header = Ahead(header_around(lines, self.config, self._version, before, mapper), 2)

    def _batches(self, most: int) -> Iterator[PairBatch]:
        out = self.config.output
        sam = out.format is Format.SAM
        groups = sam and bool(self._mapped_files.reads_header)
        self._reader = mapped_reader(self._reference, self._mapping, sam, bool(out.read_group), groups)
        # With an extender, the engine aligns copies of parts, so the batch's own bases need no pinned memory.
        lend = self.engine.batch_memory if self.on_gpu and not self._extender else None
        streams = (*self._sources[:2], *self._sources[3:])
        batches = batches_of(
            self._reader, streams, self.batch_bases, lend, threads=self.settings.threads, ended=self._has_more
        )
        try:
            for batch in batches:
                check_fits(self._reference, self._sources[2].path)
                yield batch
            check_fits(self._reference, self._sources[2].path)  # windows read for checksums must match as well
        except InputError as fault:
            self._mapped_files.check_cause(fault)
            raise
        self._mapped_files.finished()
        self._skipped_line = self._sources[1].place_of(self._reader.first_skipped()[1])[1]

    def _has_more(self) -> bool:
        """Return True once, after the last mapping, if further reads follow it.

        Raises InputError if the mappings are incomplete.
        """
        assert self._reader
        if not self._mapping.in_order or self._all_mapped:
            return False
        self._mapped_files.mappings_ended()
        self._reader.resume_unmapped()
        self._all_mapped = True
        return True

    def _records(self, pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
        if not self._extender:
            return super()._records(pairs)
        lend = self.engine.batch_memory if self.on_gpu else None
        return self._extender.aligned(pairs, self._aligned, lend)

    def _cancel(self) -> None:
        super()._cancel()
        if self._extender:
            self._extender.cancel()

    def run(self) -> None:
        """See BatchRun."""
        try:
            super().run()
        finally:
            if self._extender:
                self._extender.close()
            self._mapped_files.close()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of reads, mappings, records and soft-clipped bases, by name; empty before the run.

        A read with a primary record counts as mapped; soft-clipped bases are those that primary records do not align.
        """
        if self._reader is None:
            return {}
        found, written = self._reader.counts(), self.stats.counts
        mapped = written["primary"]
        return {
            **found,
            "mapped_reads": mapped,
            "unmapped_reads": found["reads"] - mapped,
            "secondary": written["secondary"],
            "supplementary": written["supplementary"],
            "soft_clipped_bases": written["clipped"],
        }

    @property
    def subject(self) -> str:
        """See BatchRun."""
        c = self.counts
        if not c:
            return "no mappings"
        left_out = "" if self._mapping.keep_unmapped or not c["unmapped_reads"] else " (left out)"
        return (
            f"{counted(c['reads'], 'read')}, {c['mapped_reads']:,} mapped, "
            f"{c['unmapped_reads']:,} unmapped{left_out}, "
            f"{c['secondary']:,} secondary, {c['supplementary']:,} supplementary, "
            f"{counted(c['soft_clipped_bases'], 'base')} soft-clipped"
        )

    @property
    def skipped(self) -> str:
        """Message about skipped mappings; empty if there are none."""
        if self._reader is None or not self.counts["skipped"]:
            return ""
        what, _ = self._reader.first_skipped()
        line, where = self._skipped_line, self._mapped_files.mappings
        where += f", line {line}" if line else ""
        return f"{counted(self.counts['skipped'], 'faulty mapping')} left out; the first: {where}: {text_of(what)}"

    @property
    def asked_for(self) -> dict[str, Any]:
        """The specification, as plain values for the report."""
        return {**super().asked_for, "mapping": asdict(self._mapping)}

    @property
    def more(self) -> dict[str, Any]:
        """See BatchRun."""
        mapper = self._mapped_files.mapper
        return {**self.counts, "mapper": asdict(mapper) if mapper else None}
