"""Runs of the batch commands: batches of pairs are read, aligned, formatted, and written in input order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from .._native import BatchFigures, count_nonzero
from ..config import Container, Format, OutputSpec, ReportFiles, RunConfig
from ..core.batch import AlignmentBatch, LaterBatch, PairBatch
from ..core.stats import Stats
from ..errors import InputError, InternalError, UsageError
from ..io.read.names import before_fault
from ..io.write.bam import BamOutput, SortedOutput
from ..io.write.bgzip import BgzipOutput
from ..io.write.format import Formatter
from ..io.write.hts import INDEX_SUFFIXES, HtsOutput
from ..io.write.output import Output, is_standard_output, refuse_overwriting, same_file
from ..report.figures import Figures
from .parts import Account, Aligner, Inputs, OpenOutput, Watch
from .pipeline import run_ordered
from .sizes import max_in_flight


@dataclass(frozen=True)
class _Records:
    packed: Any  # of Output.packed()
    size: int  # bytes before they were packed
    pairs: int
    sums: dict[str, Any]
    figures: BatchFigures | None = None
    fault: InputError | None = None  # of the pair behind these


@dataclass
class BatchRun:
    """A run whose parts are open; an incomplete output keeps its temporary name.

    Attributes:
        config: configuration of the run.
        inputs: yield the batches.
        aligner: aligns them.
        formatter: formats the records.
        output: destination of the records.
        account: what report and summary say.
        stats: counters and timers.
        report_files: paths of the reports.
        reports: destinations of these by path; the caller writes or abandons them.
        figures: figures of the records; None unless a report shows them.
        partial: temporary name of the output after run() has raised; None if there is none.
        begun: whether run() was called, which abandons an incomplete output.
    """

    config: RunConfig
    inputs: Inputs
    aligner: Aligner
    formatter: Formatter
    output: Output
    account: Account
    stats: Stats
    report_files: ReportFiles = field(default_factory=ReportFiles)
    reports: dict[str, Output] = field(default_factory=dict)
    figures: Figures | None = None
    partial: Path | None = None
    begun: bool = False

    def run(self) -> None:
        """Align all pairs and write their records.

        Raises:
            WfacliError, KeyboardInterrupt: the run ended early. Records of earlier batches are written, and the
                output keeps its temporary name (see partial).
        """
        threads = self.config.threads
        most = max_in_flight(self.aligner.gpus, threads, self.inputs.batch_bases)
        try:
            self.begun = True
            self.inputs.prepare()
            if self.figures:
                self.figures.begin(self.inputs.sequences)
            run_ordered(
                self.inputs.batches(),
                self._work,
                self._write,
                begin=self._write_header,
                workers=min(threads + 2, most),
                in_flight=min(threads + 3, most),
                cancel=self._cancel,
            )
            self.output.finish()
        except BaseException:
            self.partial = self.output.abandon(worth=self.stats.counts["pairs"] > 0)
            raise

    def _work(self, later: LaterBatch) -> _Records:
        if self.aligner.gpus:  # for which most batches wait
            return self._records_of(later)
        with self.stats.at_work():
            return self._records_of(later)

    def _records_of(self, later: LaterBatch) -> _Records:
        with self.stats.timed("copy"):
            pairs = later()
        fault = None
        if self.config.output.format is Format.SAM:
            pairs, fault = before_fault(pairs, self.inputs.files.query, self.inputs.files.reference)
            if fault and not len(pairs):
                raise fault
        pairs, alignments = self.aligner.align(pairs)
        if self.config.check:
            with self.stats.timed("check"):
                self._check(pairs, alignments)
        targets = self.output.targets()
        with self.stats.timed("format"):
            figures = self.figures.of_batch() if self.figures else None
            records, sums = self.formatter.format(pairs, alignments, targets, figures)
            packed = self.output.packed(records)
        sums = {**sums, "heuristic": count_nonzero(alignments.cut)}
        return _Records(packed, len(records), len(pairs), sums, figures, fault)

    def _check(self, pairs: PairBatch, alignments: AlignmentBatch) -> None:
        found = self.aligner.fault(pairs, alignments)
        if found:
            row, fault = found
            raise InternalError(
                f"the alignment of {pairs.records.query_name(row)} is wrong ({fault}); please report this"
            )

    def _write_header(self) -> None:
        with self.stats.timed("header"):
            for piece in self.inputs.header():
                self.output.write(piece)
            if self.config.output.header and self.config.output.format is Format.TSV:
                self.output.write(self.formatter.titles)
            self.output.begin_records()

    def _write(self, parts: list[_Records]) -> None:
        faults = [i for i, part in enumerate(parts) if part.fault]
        parts = parts[: faults[0] + 1] if faults else parts
        with self.output.uninterrupted(sum(part.size for part in parts)):
            before = self.output.written
            try:
                with self.stats.timed("write"):
                    self.output.add(*(part.packed for part in parts))
            except BaseException:  # the first of them may be complete
                ends = accumulate(len(part.packed) for part in parts)
                written = self.output.written - before
                self._count([part for part, end in zip(parts, ends, strict=True) if end <= written])
                raise
            self._count(parts)
        if fault := parts[-1].fault:
            raise fault

    def _count(self, parts: list[_Records]) -> None:
        for part in parts:
            if self.figures and part.figures:
                self.figures.add(part.figures)
            self.stats.add("counts", {**part.sums, "pairs": part.pairs, "batches": 1, "output_bytes": part.size})

    def _cancel(self) -> None:
        self.aligner.cancel()
        self.output.cancel()
        self.inputs.cancel()

    @property
    def watch(self) -> Watch:
        """Progress of the run."""
        sources = self.inputs.sources
        sizes = [s.size for s in sources]
        total = None if None in sizes else sum(s or 0 for s in sizes)
        return Watch(total, lambda: sum(s.bytes_read for s in sources), self.stats)


@contextmanager
def opened(
    config: RunConfig,
    inputs: Inputs,
    open_aligner: Callable[[], Aligner],
    formatter: Formatter,
    output: str | None,
    reports: ReportFiles,
    account: Account,
    stats: Stats,
    part: OpenOutput | None = None,
) -> Iterator[BatchRun]:
    """Open all parts of a run for the block, and close them after it. If one cannot be opened, no file is left.

    Args:
        config: configuration of the run.
        inputs: yield the batches; not yet open.
        open_aligner: opens the engine; called once inputs and outputs are open.
        formatter: formats the records.
        output: path of the output; None: standard output.
        reports: paths of the reports.
        account: what report and summary say.
        stats: counters and timers.
        part: opens the output, with the path `output`, as a part of another one; None: it is an output of its own.

    Raises:
        InputError, OutputError: a file cannot be opened.
        UsageError: a file is named twice.
        DeviceError: a GPU is required, and none works.
    """
    _refuse_overwriting(config.output, inputs.paths, output, reports)
    figures = Figures() if reports.show_figures else None
    if config.explain:
        stats.expected_times = {}
    with ExitStack() as undo:  # closes and removes everything unless all parts can be opened
        undo.callback(inputs.close)
        # SAM's header and the first batches are prepared while the GPU is being opened, which takes a while.
        inputs.open()
        reported: dict[str, Output] = {}
        for path in reports.paths:
            reported[path] = Output(path)
            undo.callback(reported[path].abandon)
        written = part() if part else _output(output, config, inputs.files.reference)
        undo.callback(written.abandon)
        with stats.timed("open"):
            aligner = open_aligner()
        undo.pop_all()
    with closing(aligner), closing(inputs):  # the inputs first: they write into memory of the engine
        run = BatchRun(config, inputs, aligner, formatter, written, account, stats, reports, reported, figures)
        try:
            inputs.aligner_opened(aligner)
            yield run
        except BaseException:
            if not run.begun:
                written.abandon(worth=False)
            raise


def _refuse_overwriting(
    spec: OutputSpec, inputs: tuple[str | None, ...], output: str | None, reports: ReportFiles
) -> None:
    written = [(output, "the alignments")]
    for path, option in reports.options:
        for other, what in written:
            both_out = is_standard_output(other) and is_standard_output(path)
            if both_out or same_file(path, other or "-"):
                raise UsageError(f"{option} and {what} cannot both go to {'standard output' if both_out else path}")
        written.append((path, option))
    beside = [f"{output}{suffix}" for suffix in INDEX_SUFFIXES] if output and spec.index else []
    refuse_overwriting(inputs, (output, *reports.paths, *beside))


def _output(path: str | None, config: RunConfig, reference: str) -> Output:
    out = config.output
    if out.format is Format.SAM and out.container is Container.CRAM:
        return HtsOutput(path, out, config.threads, reference)
    if out.format is Format.SAM and out.sort:
        return SortedOutput(path, out, config.threads)
    if out.format is Format.SAM and out.container is Container.BAM:
        return BamOutput(path, out, config.threads)
    return BgzipOutput(path, out.compression) if out.bgzip else Output(path)
