"""Base class of the batch commands: opens inputs, engine and output, and runs the pipeline between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import CPU_BATCH, GPU_BATCH, Container, Format, RunConfig
from ..core.batch import U8, AlignmentBatch, PairBatch
from ..core.stats import Stats, counted
from ..engines.base import Engine
from ..errors import InternalError, UsageError
from ..io.read.ahead import Ahead
from ..io.read.names import with_sam_names
from ..io.read.reader import Files, layout_of, read_batches
from ..io.write.bam import BamOutput, SortedOutput
from ..io.write.format import Formatter
from ..io.write.header import sam_header
from ..io.write.hts import INDEX_SUFFIXES, HtsOutput
from ..io.write.output import Output, is_standard_output, refuse_overwriting, same_file
from .pipeline import run_ordered

if TYPE_CHECKING:
    from .prefetch import EarlyBatches


# With a GPU: maximum number of batches in flight per GPU; they are large, and their bases are in pinned memory.
MOST_BESIDE_A_GPU = 8


# With a GPU: seconds for which a thread may hold the GIL while the device's thread waits. Python's default is longer
# than a launch takes.
SWITCH_BESIDE_A_GPU = 2e-4


_SPARE = 17 / 16  # margin over a batch's share of the bases, since a pair weighs more than its bases


_LEAST_SHARED = 8_000_000  # bases of a batch below which another GPU saves less time than another batch costs


def shared_out(sizes: Sequence[int | None], gpus: int = 1) -> int:
    """Return the bases per batch for `gpus` GPUs and files of these sizes in bytes (None: unknown).

    Batches have equal sizes and every GPU gets the same number of them, so that all finish together. There are as few
    batches as possible, since each takes the interpreter about a millisecond.
    """
    known = [size for size in sizes if size is not None]
    total = sum(known)
    if len(known) < len(sizes):
        return GPU_BATCH
    least = max(-(-total // GPU_BATCH), 1)
    count = max(min(-(-least // gpus) * gpus, total // _LEAST_SHARED), least)
    return GPU_BATCH if count == 1 else min(int(total / count * _SPARE), GPU_BATCH)


@dataclass(frozen=True)
class Watch:
    """Progress of a run, for display.

    Attributes:
        bytes_total: bytes of the inputs as stored; None if unknown.
        bytes_read: returns the bytes read so far.
        stats: counters of the run.
    """

    bytes_total: int | None
    bytes_read: Callable[[], int]
    stats: Stats


@dataclass(frozen=True)
class _Records:
    packed: Any  # of Output.packed()
    size: int  # bytes before they were packed
    pairs: int
    sums: dict[str, Any]


class BatchRun(ABC):
    """A command that aligns the pairs of files; an incomplete output keeps its temporary name.

    Attributes:
        stats: counters and timers.
        engine: the engine of the run.
        output: destination of the records.
        partial: temporary name of the output after run() has raised; None if there is none.
    """

    engine: Engine
    partial: Path | None = None

    def __init__(
        self,
        config: RunConfig,
        files: Files,
        output: str | None,
        version: str,
        report: str | None,
        formatter: Formatter,
        tell: Callable[[str], None] | None,
    ) -> None:
        """Open inputs, output, report and engine.

        Args:
            config: configuration of the run.
            files: the inputs.
            output: path of the output; None: standard output.
            version: version of the program, for SAM's header.
            report: path of the report, which the caller writes; None: no report.
            formatter: formats the records.
            tell: see engines.choice.with_gpu.

        Raises:
            InputError, OutputError: a file cannot be opened.
            UsageError: a file is named twice.
            DeviceError: a GPU is required, and none works.
        """
        self.settings = config
        self.stats = Stats()
        self._version = version
        self._files = files
        self._refuse_overwriting(output, report)
        self._sources = files.open()
        if config.explain:
            self.stats.expected_times = {}
        self._formatter = formatter
        # SAM's header and the first batches are prepared while the GPU is being opened, which takes a while.
        self._header = self._begun_header()
        self._early = self._begun_reading()
        try:
            self.report = Output(report) if report else None
            self.output = self._output(output)
            try:
                with self.stats.timed("open"):
                    self.engine, self._gpus = self._opened(tell)
            except BaseException:
                for opened in filter(None, (self.output, self.report)):
                    opened.abandon()
                raise
        except BaseException:
            self._end_reading()
            self._end_header()
            raise
        self.batch_bases = self._batch_of(self._gpus) if self.on_gpu else config.batch_bases or CPU_BATCH
        if self._early and self.on_gpu:
            self._early.opened(self.engine.batch_memory)
        elif self._early:  # the batches read ahead are sized for a GPU
            self._end_reading()
            self._sources = files.open()

    @property
    def _inputs(self) -> tuple[str | None, ...]:
        """Paths of all files that are read."""
        return self._files.paths

    def _refuse_overwriting(self, output: str | None, report: str | None) -> None:
        both_out = is_standard_output(output) and is_standard_output(report)
        if report is not None and (both_out or same_file(report, output or "-")):
            place = "standard output" if both_out else report
            raise UsageError(f"--stats and the alignments cannot both go to {place}")
        beside = [f"{output}{suffix}" for suffix in INDEX_SUFFIXES] if output and self.settings.output.index else []
        refuse_overwriting(self._inputs, (output, report, *beside))

    def _batch_of(self, gpus: int) -> int:
        """Return the bases per batch for `gpus` GPUs."""
        return self.settings.batch_bases or shared_out([source.size for source in self._sources], gpus)

    def _output(self, path: str | None) -> Output:
        out = self.settings.output
        if out.format is Format.SAM and out.container is Container.CRAM:
            return HtsOutput(path, out, self.settings.threads, self._files.reference)
        if out.format is Format.SAM and out.sort:
            return SortedOutput(path, out, self.settings.threads)
        if out.format is Format.SAM and out.container is Container.BAM:
            return BamOutput(path, out, self.settings.threads)
        return Output(path)

    @abstractmethod
    def _opened(self, tell: Callable[[str], None] | None) -> tuple[Engine, int]:
        """Open the engine; return it and its number of GPUs."""

    @abstractmethod
    def _aligned(self, pairs: PairBatch) -> AlignmentBatch:
        """Align a batch; called in any thread."""

    def _records(self, pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
        """Align a batch; return the pairs to write, which may have other rows, and their alignments. Any thread."""
        return pairs, self._aligned(pairs)

    @abstractmethod
    def _fault(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[int, str] | None:
        """Check alignments; return the first wrong row and what is wrong with it, or None."""

    @property
    @abstractmethod
    def asked_for(self) -> dict[str, Any]:
        """The specification, as plain values for the report."""

    @property
    def left_out(self) -> dict[str, str]:
        """Statuses that result from the user's own bounds and heuristics, each with its meaning."""
        return {}

    @property
    def subject(self) -> str:
        """Summary of what was aligned, as text."""
        return counted(self.stats.counts["pairs"], "pair")

    @property
    def more(self) -> dict[str, Any]:
        """Further plain values for the report."""
        return {}

    def _batches(self, most: int) -> Iterator[PairBatch]:
        """Yield the batches of the input; at most `most` are alive at a time."""
        return self._read(self.batch_bases, self.engine.batch_memory if self.on_gpu else None)

    def _read(self, batch_bases: int, lend: Callable[[int], U8 | None] | None) -> Iterator[PairBatch]:
        sam = self.settings.output.format is Format.SAM
        return read_batches(
            self._sources,
            layout_of(self._sources),
            batch_bases,
            allocate=lend,
            keep_quality=sam,
            threads=self.settings.threads,
        )

    @property
    def on_gpu(self) -> bool:
        """Whether the engine has a GPU."""
        return self._gpus > 0

    @property
    def watch(self) -> Watch:
        """Progress of the run."""
        sizes = [s.size for s in self._sources]
        total = None if None in sizes else sum(s or 0 for s in sizes)
        return Watch(total, lambda: sum(s.bytes_read for s in self._sources), self.stats)

    def run(self) -> None:
        """Align all pairs and write their records.

        Raises:
            WfacliError, KeyboardInterrupt: the run ended early. Records of earlier batches are written, and the
                output keeps its temporary name (see partial).
        """
        try:
            self._prepare()
            threads = self.settings.threads
            most = MOST_BESIDE_A_GPU * self._gpus if self.on_gpu else threads + 3
            batches = iter(self._early) if self._early else self._timed(self._batches(most))
            if self.settings.output.format is Format.SAM:
                batches = with_sam_names(batches, self._files.query, self._files.reference)
            run_ordered(
                batches,
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
        finally:
            self._end_reading()
            self._end_header()
            self.engine.close()
            for source in self._sources:
                source.close()

    def _cancel(self) -> None:
        self.engine.cancel()
        self.output.cancel()

    def _prepare(self) -> None:  # noqa: B027 - most runs have nothing to prepare
        """Prepare for the first batch."""

    def _begun_header(self) -> Ahead[bytes] | None:
        """Start to prepare SAM's header if one is written and it needs no input first. Raises UsageError."""
        if not self._has_sam_header:
            return None
        return sam_header(self._files, self._sources, self.settings, self._version)

    @property
    def _has_sam_header(self) -> bool:
        return self.settings.output.header and self.settings.output.format is Format.SAM

    def _begun_reading(self) -> EarlyBatches | None:
        """Start to read batches while a GPU is being opened; None if that is not possible."""
        return None

    def _end_reading(self) -> None:
        if self._early:
            self._early.close()
            self._early = None

    def _end_header(self) -> None:
        if self._header:
            self._header.close()

    def _write_header(self) -> None:
        with self.stats.timed("header"):
            for piece in self._header or ():
                self.output.write(piece)
            if self.settings.output.header and self.settings.output.format is Format.TSV:
                self.output.write(self._formatter.titles)
            self.output.begin_records()

    def _timed(self, batches: Iterator[PairBatch]) -> Iterator[PairBatch]:
        while True:
            with self.stats.timed("read"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _work(self, pairs: PairBatch) -> _Records:
        pairs, alignments = self._records(pairs)
        if self.settings.check:
            with self.stats.timed("check"):
                self._check(pairs, alignments)
        targets = self.output.targets()
        with self.stats.timed("format"):
            records, sums = self._formatter.format(pairs, alignments, targets)
            packed = self.output.packed(records)
        return _Records(packed, len(records), len(pairs), {**sums, "heuristic": int(alignments.cut.sum())})

    def _check(self, pairs: PairBatch, alignments: AlignmentBatch) -> None:
        found = self._fault(pairs, alignments)
        if found:
            row, fault = found
            raise InternalError(
                f"the alignment of {pairs.records.query_name(row)} is wrong ({fault}); please report this"
            )

    def _write(self, part: _Records) -> None:
        with self.stats.timed("write"):
            self.output.add(part.packed)
        self.stats.add("counts", {**part.sums, "pairs": part.pairs, "batches": 1, "output_bytes": part.size})
