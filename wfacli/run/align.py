"""Files in, files out: the parts put together for one command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._native import check_batch
from ..config import CPU_BATCH, GPU_BATCH, Config, Container, EngineName, Format, RunConfig
from ..core.batch import U8, AlignmentBatch, PairBatch
from ..core.stats import Stats, counted
from ..engines.base import Engine
from ..engines.cpu import CpuEngine, native_options
from ..engines.rescue import align_in_turn, turns_of
from ..errors import InternalError, UsageError
from ..gpu.runtime.presence import may_have_card
from ..io.read.ahead import Ahead
from ..io.read.names import with_sam_names
from ..io.read.reader import Files, layout_of, read_batches
from ..io.write.format import Formatter
from ..io.write.header import sam_header
from ..io.write.hts import HtsOutput
from ..io.write.output import Output, is_standard_output, refuse_overwriting, same_file
from ..plan.dispatch import route
from ..plan.estimate import with_estimates
from ..plan.forecast import TABLE
from .pipeline import run_ordered

if TYPE_CHECKING:
    from .prefetch import EarlyBatches

# Beside a card: batches at a time for each, which are large and whose letters are in page-locked memory; and seconds
# that a thread may keep the interpreter from the one that has the card, by default more than a job takes.
MOST_BESIDE_A_CARD = 8
SWITCH_BESIDE_A_CARD = 2e-4


_SPARE = 17 / 16  # times a batch's share: a pair weighs more than its letters
_LEAST_SHARED = 8_000_000  # letters of a batch below which another card gains less than a batch more costs


def shared_out(sizes: Sequence[int | None], cards: int = 1) -> int:
    """Letters of a batch beside so many cards, for files of so many bytes (None: unknown).

    Batches are alike, and each card has as many as any other, so that none is left alone in the end; as few as there
    may be, since each costs the interpreter about a millisecond.
    """
    known = [size for size in sizes if size is not None]
    total = sum(known)
    if len(known) < len(sizes):
        return GPU_BATCH
    least = max(-(-total // GPU_BATCH), 1)
    count = max(min(-(-least // cards) * cards, total // _LEAST_SHARED), least)
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
            self.stats.promises = {}
        self._formatter = formatter
        # SAM's header takes a while, in which a card can be opened; so do the first batches.
        self._header = self._begun_header()
        self._early = self._begun_reading()
        try:
            self.report = Output(report) if report else None
            self.output = self._output(output)
            try:
                with self.stats.timed("open"):
                    self.engine, self._cards = self._opened(tell)
            except BaseException:
                for opened in filter(None, (self.output, self.report)):
                    opened.abandon()
                raise
        except BaseException:
            self._end_reading()
            self._end_header()
            raise
        self.batch_bases = self._batch_of(self._cards) if self.on_gpu else config.batch_bases or CPU_BATCH
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

    def _batch_of(self, cards: int) -> int:
        """Letters of a batch beside so many cards."""
        return self.settings.batch_bases or shared_out([source.size for source in self._sources], cards)

    def _output(self, path: str | None) -> Output:
        out = self.settings.output
        if out.format is not Format.SAM or (out.container is Container.SAM and not out.sort):
            return Output(path)
        return HtsOutput(path, out, self.settings.threads, self._files.reference)

    @abstractmethod
    def _opened(self, tell: Callable[[str], None] | None) -> tuple[Engine, int]:
        """The engine, and how many cards it has."""

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
            lend=lend,
            keep_quality=sam,
            threads=self.settings.threads,
        )

    @property
    def on_gpu(self) -> bool:
        """Whether there is a card."""
        return self._cards > 0

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
            most = MOST_BESIDE_A_CARD * self._cards if self.on_gpu else threads + 3
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
        """Batches that are read while a card is opened, where that may be."""
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


class AlignRun(BatchRun):
    """One `align` command."""

    def __init__(
        self,
        config: Config,
        files: Files,
        output: str | None,
        version: str,
        report: str | None = None,
        tell: Callable[[str], None] | None = None,
        formatter: Formatter | None = None,
    ) -> None:
        """See BatchRun."""
        self.config = config
        self._check_options = native_options(config.spec, config.limits, TABLE)
        super().__init__(config, files, output, version, report, formatter or Formatter.of(config), tell)
        self._turns = turns_of(self._cards)

    @property
    def _card_wanted(self) -> bool:
        config = self.config
        unasked = config.engine is EngineName.AUTO and config.devices == (0,)
        return config.engine is not EngineName.CPU and not (unasked and not may_have_card())

    def _begun_reading(self) -> EarlyBatches | None:
        """See BatchRun; files only, which can be opened again where there is no card in the end."""
        cards = self.config.devices
        if not self._card_wanted or not cards or not all(source.regular for source in self._sources):
            return None
        # What lends memory takes a while to import.
        from .prefetch import EarlyBatches

        letters = self._batch_of(len(cards))
        return EarlyBatches(
            lambda lend: self._timed(self._read(letters, lend)),
            self._made_ready,
            MOST_BESIDE_A_CARD * len(cards),
        )

    def _made_ready(self, pairs: PairBatch) -> PairBatch:
        """With estimates. Its routes are found sooner the next time: what they were chosen by is remembered."""
        config = self.config
        pairs = with_estimates(pairs, config.spec, gpu=True)
        route(pairs, config.spec, config.limits, config.kernel, gpu=True)
        return pairs

    def _opened(self, tell: Callable[[str], None] | None) -> tuple[Engine, int]:
        config = self.config
        cpu = CpuEngine(config.spec, config.limits, config.threads, stats=self.stats)
        if not self._card_wanted:
            return cpu, 0
        # What drives a card takes a while to import.
        from ..engines.choice import with_gpu
        from ..engines.hybrid import BothEngines

        engine = with_gpu(config, cpu, self.stats, tell, self._early.letters if self._early else None)
        return engine, engine.cards if isinstance(engine, BothEngines) else 0

    def _aligned(self, pairs: PairBatch) -> AlignmentBatch:
        config = self.config
        return align_in_turn(self.engine, pairs, config.spec, config.limits, self.stats, self._turns, config.kernel)

    def _fault(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[int, str] | None:
        return check_batch(pairs, alignments, self._check_options)

    @property
    def asked_for(self) -> dict[str, Any]:
        """The specification."""
        return asdict(self.config.spec)

    @property
    def left_out(self) -> dict[str, str]:
        """Statuses that the user's own bounds and heuristics give to pairs, and what they mean."""
        spec = self.config.spec
        asked = {"SCORE_LIMIT": "over --max-score"} if spec.max_cost is not None else {}
        return asked | ({"DROPPED": "given up by heuristics"} if spec.heuristics else {})
