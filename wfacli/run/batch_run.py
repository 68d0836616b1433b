"""What the batch commands have in common: inputs, an engine, an output, and the loop between them."""

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
from ..io.write.format import Formatter
from ..io.write.header import sam_header
from ..io.write.hts import HtsOutput
from ..io.write.output import Output, is_standard_output, refuse_overwriting, same_file
from .pipeline import run_ordered

if TYPE_CHECKING:
    from .prefetch import EarlyBatches


# Beside a GPU: batches at a time for each, which are large and whose letters are in page-locked memory; and seconds
# that a thread may keep the interpreter from the one that has the GPU, by default more than a job takes.
MOST_BESIDE_A_GPU = 8


SWITCH_BESIDE_A_GPU = 2e-4


_SPARE = 17 / 16  # times a batch's share: a pair weighs more than its letters


_LEAST_SHARED = 8_000_000  # letters of a batch below which another GPU gains less than a batch more costs


def shared_out(sizes: Sequence[int | None], gpus: int = 1) -> int:
    """Letters of a batch beside so many GPUs, for files of so many bytes (None: unknown).

    Batches are alike, and each GPU has as many as any other, so that none is left alone in the end; as few as there
    may be, since each costs the interpreter about a millisecond.
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
    """How far a run is, for whoever shows it.

    Attributes:
        bytes_total: bytes of the inputs as stored, or None where unknown.
        bytes_read: called for the bytes read so far.
        stats: counters of the run.
    """

    bytes_total: int | None
    bytes_read: Callable[[], int]
    stats: Stats


@dataclass(frozen=True)
class _Text:
    text: U8
    pairs: int
    sums: dict[str, Any]


class BatchRun(ABC):
    """A command that aligns what files hold: opens all, runs, leaves the output complete or under its temporary name.

    Attributes:
        stats: counters and timers.
        engine: what aligns.
        output: where records go.
        partial: after run() has raised, the output's temporary name, if there is one.
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
        """Opens inputs, output and (nothing else is done with it here) the report; tell: see engines.choice.

        Raises:
            InputError, OutputError: a file that cannot be opened.
            UsageError: one that is named twice.
            DeviceError: a GPU is insisted on, and there is none that works.
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
        # SAM's header takes a while, in which a GPU can be opened; so do the first batches.
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
            self._early.opened(self.engine.letters_memory)
        elif self._early:  # batches of the CPU are others
            self._end_reading()
            self._sources = files.open()

    @property
    def _inputs(self) -> tuple[str | None, ...]:
        """Names of all files that are read."""
        return self._files.paths

    def _refuse_overwriting(self, output: str | None, report: str | None) -> None:
        both_out = is_standard_output(output) and is_standard_output(report)
        if report is not None and (both_out or same_file(report, output or "-")):
            place = "standard output" if both_out else report
            raise UsageError(f"--stats and the alignments cannot both go to {place}")
        refuse_overwriting(self._inputs, (output, report))

    def _batch_of(self, gpus: int) -> int:
        """Letters of a batch beside so many GPUs."""
        return self.settings.batch_bases or shared_out([source.size for source in self._sources], gpus)

    def _output(self, path: str | None) -> Output:
        out = self.settings.output
        if out.format is not Format.SAM or (out.container is Container.SAM and not out.sort):
            return Output(path)
        return HtsOutput(path, out, self.settings.threads, self._files.reference)

    @abstractmethod
    def _opened(self, tell: Callable[[str], None] | None) -> tuple[Engine, int]:
        """The engine, and how many GPUs it has."""

    @abstractmethod
    def _aligned(self, pairs: PairBatch) -> AlignmentBatch:
        """A batch's alignments; in any thread."""

    def _records(self, pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
        """A batch's alignments, and the pairs whose rows they are; in any thread."""
        return pairs, self._aligned(pairs)

    @abstractmethod
    def _fault(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[int, str] | None:
        """(row, what is wrong with its alignment), or None."""

    @property
    @abstractmethod
    def asked_for(self) -> dict[str, Any]:
        """What was to be computed, as plain values for the report."""

    @property
    def left_out(self) -> dict[str, str]:
        """Statuses that the user's own bounds and heuristics give to pairs, and what they mean."""
        return {}

    @property
    def subject(self) -> str:
        """What was aligned, in words."""
        return counted(self.stats.counts["pairs"], "pair")

    @property
    def more(self) -> dict[str, Any]:
        """What else the report says, as plain values."""
        return {}

    def _batches(self, most: int) -> Iterator[PairBatch]:
        """The input; `most` batches are alive at a time."""
        return self._read(self.batch_bases, self.engine.letters_memory if self.on_gpu else None)

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
        """Whether there is a GPU."""
        return self._gpus > 0

    @property
    def watch(self) -> Watch:
        """The run's progress."""
        sizes = [s.size for s in self._sources]
        total = None if None in sizes else sum(s or 0 for s in sizes)
        return Watch(total, lambda: sum(s.bytes_read for s in self._sources), self.stats)

    def run(self) -> None:
        """Aligns everything.

        Raises:
            WfacliError, KeyboardInterrupt: what ended the run early. Records of complete pairs
                before that are written; a file keeps its temporary name (see partial).
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

    def _prepare(self) -> None:  # noqa: B027 - most have nothing to do
        """What comes before the first batch."""

    def _begun_header(self) -> Ahead[bytes] | None:
        """SAM's header, where there is to be one and nothing has to be read before. Raises UsageError."""
        if not self._has_sam_header:
            return None
        return sam_header(self._files, self._sources, self.settings, self._version)

    @property
    def _has_sam_header(self) -> bool:
        return self.settings.output.header and self.settings.output.format is Format.SAM

    def _begun_reading(self) -> EarlyBatches | None:
        """Batches that are read while a GPU is opened, where that may be."""
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

    def _timed(self, batches: Iterator[PairBatch]) -> Iterator[PairBatch]:
        while True:
            with self.stats.timed("read"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _work(self, pairs: PairBatch) -> _Text:
        pairs, alignments = self._records(pairs)
        if self.settings.check:
            with self.stats.timed("check"):
                self._check(pairs, alignments)
        with self.stats.timed("format"):
            text, sums = self._formatter.format(pairs, alignments)
        return _Text(text, len(pairs), {**sums, "heuristic": int(alignments.cut.sum())})

    def _check(self, pairs: PairBatch, alignments: AlignmentBatch) -> None:
        found = self._fault(pairs, alignments)
        if found:
            row, fault = found
            raise InternalError(
                f"the alignment of {pairs.records.query_name(row)} is wrong ({fault}); please report this"
            )

    def _write(self, part: _Text) -> None:
        with self.stats.timed("write"):
            self.output.write(part.text)
        self.stats.add("counts", {**part.sums, "pairs": part.pairs, "batches": 1, "output_bytes": len(part.text)})
