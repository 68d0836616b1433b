"""The GPU engine: routes of pairs in page-locked memory, aligned by the kernels of a GPU."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._native import letter_codes, rows_summary, stage_columns, stage_rows, unstage_rows
from ..config import AlignSpec, Ambiguous
from ..core.batch import I32, U8, U32, Extent, Flag, PairBatch, PartialResult, Status, is_every_row, join
from ..core.costs import UnitCosts
from ..core.route import Route
from ..core.stats import Stats
from ..errors import Cancelled, DeviceError, OutOfDeviceMemory
from ..gpu.kernels.launch_plan import plan_of, supports
from ..gpu.kernels.plans import NO_BOUND, Plan, Shape
from ..gpu.runtime.device import IN_FLIGHT, Device
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.job import AlignJob, Answers, Staged
from ..gpu.runtime.lending import Lender
from ..gpu.runtime.staging import Outbox, Staging
from .long import LongPairs

_SHARE = 0.5  # of the GPU's free memory
_MOST = 24 << 30  # bytes a job, whatever the GPU has: enough for all pairs of a batch to be under way at once
_LEAST = 16 << 20  # bytes a job below which the CPU takes over
_SPEAKING = 256  # pairs whose estimates say how many operations there will be
_WORTH_ALL = 0.15  # of a batch's letters: to copy them takes the host longer than the bus takes for all


@dataclass(frozen=True)
class _Chosen:
    """Rows of a batch, none of them empty, and the bytes of their letters, each sequence padded to a multiple of 16.

    `longest`, `apart`: letters of the longest sequence, and the most by which a pair's lengths differ. `edits`: the
    most that is estimated; -1: of none. `coded`: letters go to the kernels as codes, since some are not A C G T.
    `whole`: all letters of the batch go to the GPU as they stand, so that targets that repeat go once. `lent`: from
    where they are. `bands`: the route's, of these rows.
    """

    pairs: PairBatch
    rows: I32
    letters: int
    longest: int
    apart: int
    edits: int
    coded: bool
    whole: bool
    lent: bool
    bands: I32 | None

    @classmethod
    def by_letters(cls, pairs: PairBatch, rows: I32, bands: I32 | None, lent: bool) -> list[_Chosen]:
        """Rows of a batch, whose letters may be lent; those with letters other than A C G T by themselves."""
        if not len(rows):
            return []
        whole_batch = is_every_row(rows, len(pairs))
        if whole_batch and pairs.extent is not None:
            extent, edits = pairs.extent, pairs.most_edits
        else:
            extent, edits = _looked_up(pairs, rows)
        if 0 < extent.others < len(rows):
            other = (pairs.flags[rows] & Flag.NON_ACGT) != 0
            own = [np.flatnonzero(other == coded) for coded in (False, True)]
            return [
                chosen
                for some in own
                for chosen in cls.by_letters(pairs, rows[some], None if bands is None else bands[some], lent)
            ]
        every = -(-len(pairs.bases) // 16) * 16
        whole = whole_batch or (lent and extent.nbytes > _WORTH_ALL * every)
        size, coded = every if whole else extent.nbytes, extent.others > 0
        return [cls(pairs, rows, size, extent.longest, extent.apart, edits, coded, whole, lent and whole, bands)]

    def part(self, some: slice) -> _Chosen:
        """Some of the rows."""
        bands = None if self.bands is None else self.bands[some]
        return self.by_letters(self.pairs, self.rows[some], bands, self.lent)[0]


def _looked_up(pairs: PairBatch, rows: I32) -> tuple[Extent, int]:
    """What rows take, and the most edits that are estimated of them; where some have none, of the batch."""
    nbytes, longest, apart, least, most, others = rows_summary(pairs, rows)
    return Extent(nbytes, longest, apart, others), most if least >= 0 else pairs.most_edits


@dataclass(frozen=True)
class _Part:
    chosen: _Chosen
    future: Future[Answers]
    job_bytes: int  # that it was cut for


@dataclass(frozen=True)
class _Ticket:
    route: Route
    parts: list[_Part]


class GpuEngine:
    """Every GPU kernel on one GPU; see engines.base.Engine.

    A GPU that fails takes no result with it: its pairs get MEMORY_LIMIT or UNSUPPORTED, and so the next rung, which
    is on the CPU.

    Attributes:
        letters: lends the memory of letters_memory().
    """

    name = "gpu"

    def __init__(
        self,
        spec: AlignSpec,
        open_driver: Callable[[], Driver],
        stats: Stats | None = None,
        memory: float | None = None,
        letters: Lender | None = None,
    ) -> None:
        """Opens the GPU.

        Args:
            spec: what is computed.
            open_driver: called in the device's thread.
            stats: of the run.
            memory: how many of the GPU's bytes may be used, below 1 as a share of what is free; None: half.
            letters: lends the memory of letters_memory(), and may have lent some before there was a GPU.

        Raises:
            DeviceError: there is no GPU that works.
        """
        self._spec, self._stats = spec, stats or Stats()
        self._costs = UnitCosts.of(spec)
        self._tables = letter_codes(spec.ambiguous.code)
        self._device = Device(open_driver)
        try:
            free = self._device.call(lambda driver: driver.free_memory())
            if letters:
                letters.opened(self._device.call_now)
        except BaseException:
            self._device.close()
            raise
        wanted = min(_SHARE * free, IN_FLIGHT * _MOST) if memory is None else memory * free if memory < 1 else memory
        self._job_bytes = int(wanted) // IN_FLIGHT
        self._staging = Staging(IN_FLIGHT + 2, self._device.call_now)
        # For batches whose letters are lent: small, and held until the answers are there.
        self._columns = Staging(2 * IN_FLIGHT + 2, self._device.call_now)
        self.letters = self._own = letters or Lender(forked=False)
        self._outbox = Outbox(self._device.call_now)
        self._cancelled = threading.Event()
        self._failure: DeviceError | None = None
        self._starved = False
        self._closed = False

    def share_letters(self, other: GpuEngine) -> None:
        """Takes letters from another engine's memory, which serves all GPUs; that one is closed after this one."""
        self.letters = other.letters

    def letters_memory(self, nbytes: int) -> U8 | None:
        """Page-locked memory (u8[nbytes]), from which a batch's letters go to the GPU without another copy.

        It may be kept after close(). None where there is none.
        """
        if self._closed or self._failure is not None:
            return None
        try:
            return self.letters.lend(nbytes, self._device.call_now)
        except DeviceError:  # who has no such memory takes any
            return None

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route of one of dispatch.GPU_KERNELS. Raises Cancelled after cancel()."""
        lent = self.letters.holds(pairs.bases)
        chosen = _Chosen.by_letters(pairs, route.rows, route.bands, lent)
        parts = [part for some in chosen for part in self._parts(some, route)]
        return _Ticket(route, parts)

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results. Raises Cancelled."""
        found = [piece for part in ticket.parts for piece in self._result(ticket.route, part)]
        # Rows with other letters have come last.
        rows = ticket.route.rows if len(found) < 2 else np.concatenate([piece.rows for piece in found])
        return join(rows, found)

    def stats(self) -> dict[str, Any]:
        """The GPU, and how much of its memory is used at most."""
        return {"engine": self.name, **self._device.report(self._job_bytes, self._failure)}

    @property
    def failure(self) -> DeviceError | None:
        """Why the GPU takes no more pairs; None as long as it works."""
        return self._failure

    @property
    def starved(self) -> bool:
        """Whether the GPU had no memory left for the smallest of jobs, since others have it."""
        return self._starved

    def long_pairs(self) -> LongPairs:
        """The same GPU for pairs that are too long for its kernels, as long as the engine is not closed."""
        return LongPairs(self._spec, self._device.driver.gpu, self._device.call_now)

    def cancel(self) -> None:
        """Jobs that have not begun are not begun."""
        self._cancelled.set()

    def close(self) -> None:
        """Waits for running jobs and gives the GPU back; results that nobody has collected are lost."""
        if self._closed:
            return
        self._closed = True
        self._staging.close()
        self._columns.close()
        for held in (self._outbox, self._own):
            self._device.call(held.close)
        self._device.close()

    def _parts(self, chosen: _Chosen, route: Route) -> list[_Part]:
        shape, kernel = self._shape(chosen, route), route.kernel
        if not supports(kernel, shape) or not self._scores_fit(shape):
            return [_refused(chosen, Status.UNSUPPORTED)]
        if plan_of(kernel, shape).shared > self._device.driver.gpu.shared_per_block:
            return [_refused(chosen, Status.MEMORY_LIMIT)]
        return list(self._pieces(chosen, shape, route, self._job_bytes))

    def _pieces(self, chosen: _Chosen, shape: Shape, route: Route, job_bytes: int) -> Iterator[_Part]:
        """A route's rows in parts whose letters, answers and least workspace fit a job's memory."""
        left = [(chosen, shape)]
        while left:
            chosen, shape = left.pop()
            plan = plan_of(route.kernel, shape)
            spare = job_bytes - _needs(chosen, plan)
            if spare >= 0:
                yield self._start(chosen, shape, plan, spare, job_bytes)
            elif len(chosen.rows) == 1:
                yield _refused(chosen, Status.MEMORY_LIMIT)
            else:
                half = len(chosen.rows) // 2
                halves = chosen.part(slice(half, None)), chosen.part(slice(half))
                left += [(part, self._shape(part, route)) for part in halves]

    def _shape(self, chosen: _Chosen, route: Route) -> Shape:
        costs = self._costs
        bound = NO_BOUND if self._spec.max_cost is None else self._spec.max_cost // costs.unit
        edit = (costs.mismatch + 2 * sum(costs.gaps[0])) / 3
        return Shape(
            len(chosen.rows),
            chosen.longest,
            costs.mismatch,
            costs.gaps,
            bound,
            path=not self._spec.score_only,
            coded=chosen.coded,
            wildcard=self._spec.ambiguous is Ambiguous.WILDCARD,
            likely=NO_BOUND if chosen.edits < 0 else int(chosen.edits * edit),
            length_difference=chosen.apart,
            cut=route.cut if chosen.bands is None else int(chosen.bands.max()),
            band=(self._spec.heuristics.band, self._spec.heuristics.band_step),
        )

    def _scores_fit(self, shape: Shape) -> bool:
        """Whether 32 bits hold the score of any pair of such lengths."""
        most = max(self._spec.penalties.match * shape.longest, 2 * self._costs.unit * self._costs.gap(shape.longest))
        return most < 1 << 31

    def _start(self, chosen: _Chosen, shape: Shape, plan: Plan, spare: int, job_bytes: int) -> _Part:
        if self._cancelled.is_set():
            raise Cancelled("stopped")
        if self._closed:
            raise RuntimeError("the engine is closed")
        if self._failure is not None:
            return _Part(chosen, _failed(self._failure), job_bytes)
        workspace = spare + plan.min_workspace(len(chosen.rows))
        pairs = chosen.pairs
        lent = pairs.bases if chosen.lent else None
        buffers = self._staging if lent is None else self._columns
        try:
            # Before the job begins, as new memory takes longer than the device's thread should be kept.
            most, guess = shape.count * plan.op_capacity, _operations(pairs)
            answers = self._outbox.take(plan.rows[0].name, shape.count, most, guess=guess)
            with self._stats.timed("stage"):
                staged = self._stage(chosen, lent, buffers)
        except DeviceError as error:  # of memory that cannot be page-locked
            return _Part(chosen, _failed(error), job_bytes)
        cancelled = self._cancelled.is_set
        job = AlignJob(staged, plan, shape, workspace, buffers.give_back, answers, self._outbox, cancelled)
        return _Part(chosen, self._device.submit(job), job_bytes)

    def _stage(self, chosen: _Chosen, lent: U8 | None, buffers: Staging) -> Staged:
        """The rows' columns in a staging buffer, and their letters where they are not lent."""
        pairs, count, letters = chosen.pairs, len(chosen.rows), chosen.letters
        banded = chosen.bands is not None
        buffer = buffers.take(Staged.needs(letters if lent is None else 0, count, chosen.coded, banded))
        try:
            if lent is None:
                stage_rows(pairs, chosen.rows, buffer, letters)
            else:
                stage_columns(pairs, chosen.rows, buffer)
            staged = Staged(buffer, letters, count, chosen.coded, lent, banded)
            if chosen.bands is not None:
                staged.bands[:] = chosen.bands
            if chosen.coded:
                staged.tables[:] = self._tables
        except BaseException:
            buffers.give_back(buffer)
            raise
        return staged

    def _result(self, route: Route, part: _Part) -> list[PartialResult]:
        """A part's results; where the GPU had too little memory, those of its halves."""
        try:
            answers = part.future.result()
        except OutOfDeviceMemory:
            # Parts that were cut before the last one failed say nothing of what fits now.
            self._job_bytes = min(self._job_bytes, part.job_bytes // 2)
            if part.job_bytes // 2 < _LEAST:
                self._starved = True
                return [_unaligned(part.chosen.rows, Status.MEMORY_LIMIT)]
            again = self._parts(part.chosen, route)
            return [piece for p in again for piece in self._result(route, p)]
        except _Refused as refused:
            return [_unaligned(part.chosen.rows, refused.status)]
        except DeviceError as error:
            self._failure = error
            return [_unaligned(part.chosen.rows, Status.UNSUPPORTED)]
        return [self._partial(part.chosen, answers)]

    def _partial(self, chosen: _Chosen, answers: Answers) -> PartialResult:
        with self._stats.timed("unstage"):
            status, cigar, start = answers.status, answers.cigar, answers.start
            cut, score, span = unstage_rows(
                chosen.pairs, chosen.rows, answers.cost, status, self._costs.unit, self._spec.penalties.match
            )
            cut = cut if answers.cut is None else answers.cut.copy()
            if not self._outbox.plenty:
                status, cigar, start = status.copy(), cigar.copy(), start.copy()
        for what, seconds in answers.seconds.items():
            self._stats.add_seconds(f"gpu {what}", seconds)
        return PartialResult(chosen.rows, status, cut, score, span.reshape(-1, 4), cigar, start)


def _operations(pairs: PairBatch) -> float:
    """CIGAR operations that a pair may have on average, going by some estimates: an edit, and matches behind it."""
    rows = pairs.rows_with_edits()
    edits = pairs.est_edits[rows[:: max(len(rows) // _SPEAKING, 1)]]
    return 8.0 + 2 * float(edits.mean()) if len(edits) else 8.0


def _needs(chosen: _Chosen, plan: Plan) -> int:
    """Bytes of the GPU without which the rows cannot be aligned at once."""
    count = len(chosen.rows)
    return (
        chosen.letters * (8 if chosen.coded else 5) // 4
        + count * (8 * plan.op_capacity + 48)
        + plan.min_workspace(count)
    )


class _Refused(Exception):
    """No kernel of that name takes such pairs."""

    def __init__(self, status: Status) -> None:
        self.status = status


def _refused(chosen: _Chosen, status: Status) -> _Part:
    return _Part(chosen, _failed(_Refused(status)), 0)


def _failed(error: Exception) -> Future[Answers]:
    future: Future[Answers] = Future()
    future.set_exception(error)
    return future


def _unaligned(rows: I32, status: Status) -> PartialResult:
    n = len(rows)
    zeros = np.zeros(n, np.int32)
    none: U32 = np.zeros(0, np.uint32)
    return PartialResult(
        rows,
        np.full(n, status, np.uint8),
        np.zeros(n, np.uint8),
        zeros,
        np.zeros((n, 4), np.int32),
        none,
        np.zeros(n + 1, np.int64),
    )
