"""The run of `map` and `align --mappings` commands: mapped reads against a reference."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import Any

from .._native import MappedReader, Reference
from ..config import NO_REPORTS, Config, Format, MappingSpec, ReportFiles
from ..core.batch import U8, AlignmentBatch, LaterBatch, PairBatch
from ..core.stats import Stats, counted
from ..core.tuning import CPU_SHARE_BESIDE_MAPPER
from ..errors import InputError, text_of
from ..io.mapper.mapped import MappedFiles, check_fits, mapped_reader, read_reference, reference_lines
from ..io.read.ahead import Ahead
from ..io.read.reader import later_batches_of
from ..io.read.sources import Source
from ..io.write.format import Formatter
from ..io.write.header import header_around
from .align import expected_gpus, gpu_wanted, left_out, opened_aligner, planner_of, protein_options
from .batch_run import BatchRun, opened
from .ends import Extender
from .gpu_worth import opens_later_for_reads
from .pairs import has_sam_header
from .parts import Account, Aligner, OpenOutput, timed
from .rows import Lend
from .sizes import batch_bases, mapped_bases


def mapped_run(
    config: Config,
    mapping: MappingSpec,
    files: MappedFiles,
    output: str | None,
    version: str,
    reports: ReportFiles = NO_REPORTS,
    tell: Callable[[str], None] | None = None,
    part: OpenOutput | None = None,
) -> AbstractContextManager[BatchRun]:
    """Open a run that aligns reads at the positions given by mappings.

    Args:
        config: configuration; config.spec has the mode that mapping.span requires, and mapping.ends implies EXTENDED.
        mapping: options for the mappings.
        files: reads, reference and mappings.
        output: path of the output; None: standard output.
        version: version of the program, for SAM's header.
        reports: paths of the reports, which the caller writes.
        tell: see engines.choice.with_gpu.
        part: see batch_run.opened.

    Raises:
        See batch_run.opened.
    """
    later = gpu_wanted(config) and opens_later_for_reads(config, files)
    stats, planner = Stats(), planner_of(config, 0 if later else expected_gpus(config), CPU_SHARE_BESIDE_MAPPER)
    inputs = MappedInputs(files, mapping, config, version, stats)

    def open_aligner() -> Aligner:
        whole = opened_aligner(config, planner, stats, tell, later=later)
        if not mapping.ends:
            return whole
        extender = Extender(mapping.ends, config.spec, config.limits, config.threads, stats, gpu_wanted(config))
        lend = whole.engine.batch_memory if whole.gpus else None

        def align(pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
            return extender.aligned(pairs, lambda inner: whole.align(inner)[1], lend)

        return replace(whole, align=align, extender=extender)

    account = Account(
        {**asdict(config.spec), "mapping": asdict(mapping)},
        inputs.subject,
        left_out(config.spec),
        inputs.values,
        inputs.skipped,
        protein_options(config.spec),
        config.kernel,
    )
    formatter = Formatter.of(config, mapped=True)
    return opened(config, inputs, open_aligner, formatter, output, reports, account, stats, part)


class MappedInputs:
    """Reads, a reference and mappings; see parts.Inputs."""

    def __init__(self, files: MappedFiles, mapping: MappingSpec, config: Config, version: str, stats: Stats) -> None:
        """Take the files; open() opens them."""
        self.files, self.sources, self.batch_bases = files, tuple[Source, ...](), 0
        self._mapping, self._config, self._version, self._stats = mapping, config, version, stats
        self._reader: MappedReader | None = None
        self._header: Ahead[bytes | U8] | None = None
        self._lend: Lend | None = None
        self._all_mapped = False
        self._skipped_line = 0

    @property
    def paths(self) -> tuple[str | None, ...]:
        """See Inputs."""
        return self.files.paths

    def open(self) -> None:
        """See Inputs."""
        self.sources = self.files.open()

    def aligner_opened(self, aligner: Aligner) -> None:
        """See Inputs."""
        sized = mapped_bases if self._mapping.ends else batch_bases
        self.batch_bases = sized(self._config, self.sources, aligner.gpus)
        # With an extender, the engine aligns copies of parts, so the batch's own bases need no pinned memory.
        self._lend = aligner.engine.batch_memory if aligner.gpus and not self._mapping.ends else None

    def prepare(self) -> None:
        """Read the reference and the header of the mappings. Raises InputError."""
        with self._stats.timed("reference"):
            self._reference: Reference = read_reference(self.sources[2], self._config.threads)
        self.files.read_mappings_header(self.sources[1])
        if has_sam_header(self._config):
            lines = reference_lines(self._reference, self._config.output.checksums, self.sources[2].path)
            before = [header.checked() for header in (self.files.reads_header, self.files.mappings_header)]
            mapper = self.files.mapper.line if self.files.mapper and self.files.runs_mapper else None
            self._header = Ahead(header_around(lines, self._config, self._version, before, mapper), 2)

    @property
    def sequences(self) -> Reference:
        """See Inputs."""
        return self._reference

    def header(self) -> Iterable[bytes | U8]:
        """See Inputs."""
        return self._header or ()

    def batches(self) -> Iterator[LaterBatch]:
        """See Inputs."""
        return timed(self._batches(), self._stats)

    def _batches(self) -> Iterator[LaterBatch]:
        out = self._config.output
        sam = out.format is Format.SAM
        groups = sam and self.files.reads_header.present
        self._reader = mapped_reader(self._reference, self._mapping, sam, bool(out.read_group), groups)
        streams = (*self.sources[:2], *self.sources[3:])
        batches = later_batches_of(
            self._reader, streams, self.batch_bases, self._lend, threads=self._config.threads, ended=self._has_more
        )
        try:
            for later in batches:
                yield functools.partial(self._fitting, later)
            check_fits(self._reference, self.sources[2].path)  # windows read for checksums must match as well
        except InputError as fault:
            self.files.check_cause(fault)
            raise
        self.files.finished()
        self.files.check_reported(self._reader.counts()["reads"], self._reader.reported())
        self._skipped_line = self.sources[1].place_of(self._reader.first_skipped()[1])[1]

    def _fitting(self, later: LaterBatch) -> PairBatch:
        pairs = later()
        check_fits(self._reference, self.sources[2].path)
        return pairs

    def _has_more(self) -> bool:
        """Return True once, after the last mapping, if further reads follow it.

        Raises InputError if the mappings are incomplete.
        """
        assert self._reader
        if not self._mapping.in_order or self._all_mapped:
            return False
        self.files.mappings_ended()
        self._reader.resume_unmapped()
        self._all_mapped = True
        return True

    def cancel(self) -> None:
        """See Inputs."""
        self.files.cancel()

    def close(self) -> None:
        """See Inputs."""
        if self._header:
            self._header.close()
        if self.sources:  # otherwise files.open() has failed
            for source in self.sources:
                source.close()
            self.files.close()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of reads, mappings, records and soft-clipped bases, by name; empty before the run.

        A read with a primary record counts as mapped; soft-clipped bases are those that primary records do not align.
        """
        if self._reader is None:
            return {}
        found, written = self._reader.counts(), self._stats.counts
        mapped = written["primary"]
        return {
            **found,
            "mapped_reads": mapped,
            "unmapped_reads": found["reads"] - mapped,
            "secondary": written["secondary"],
            "supplementary": written["supplementary"],
            "soft_clipped_bases": written["clipped"],
        }

    def subject(self) -> str:
        """Return a summary of what was aligned; see Account."""
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

    def skipped(self) -> str:
        """Return a message about skipped mappings; empty if there are none."""
        if self._reader is None or not self.counts["skipped"]:
            return ""
        what, _ = self._reader.first_skipped()
        line, where = self._skipped_line, self.files.mappings
        where += f", line {line}" if line else ""
        return f"{counted(self.counts['skipped'], 'faulty mapping')} left out; the first: {where}: {text_of(what)}"

    def values(self) -> dict[str, Any]:
        """Return the counts and the mapper as plain values for the report."""
        mapper = self.files.mapper
        return {**self.counts, "mapper": asdict(mapper) if mapper else None}
