"""The GPU engine: routes of pairs in page-locked memory, aligned by the kernels of a GPU."""

from __future__ import annotations

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
from ..errors import DeviceError, OutOfDeviceMemory
from ..gpu.kernels.launch_plan import plan_of, serves
from ..gpu.kernels.plans import NO_BOUND, Plan, Shape
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.launch import AlignLaunch, Answers, Staged
from ..gpu.runtime.pinned_pool import PinnedPool
from ..gpu.runtime.session import MIN_LAUNCH, GpuSession, failed
from .long import LongPairs

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
    launch_bytes: int  # that it was cut for


@dataclass(frozen=True)
class _Ticket:
    route: Route
    parts: list[_Part]


class GpuEngine:
    """Every GPU kernel on one GPU; see engines.base.Engine.

    A GPU that fails loses no result: its pairs get MEMORY_LIMIT or UNSUPPORTED, and so the next kernel, which runs on
    the CPU.

    Attributes:
        session: the GPU.
    """

    name = "gpu"

    def __init__(
        self,
        spec: AlignSpec,
        open_driver: Callable[[], Driver],
        stats: Stats | None = None,
        memory: float | None = None,
        bases: PinnedPool | None = None,
    ) -> None:
        """Open the GPU.

        Args:
            spec: what is computed.
            open_driver: called in the device's thread.
            stats: of the run.
            memory: bytes of the GPU that may be used, below 1 as a share of what is free; None: half of it.
            bases: leases memory for batches' bases, and may have leased some before there was a GPU.

        Raises:
            DeviceError: there is no GPU that works.
        """
        self._spec, self._stats = spec, stats or Stats()
        self._costs = UnitCosts.of(spec)
        self._tables = letter_codes(spec.ambiguous.code)
        self.session = GpuSession(open_driver, memory, bases=bases)

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return pinned memory (u8[nbytes]), from which bases go to the GPU without another copy; see GpuSession."""
        return self.session.batch_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route of one of dispatch.GPU_KERNELS. Raises Cancelled after cancel()."""
        lent = self.session.bases.owns(pairs.bases)
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
        """Return the GPU's properties, and how much of its memory is used at most."""
        return {"engine": self.name, **self.session.report()}

    def long_pairs(self) -> LongPairs:
        """Return the same GPU for pairs that are too long for its kernels, as long as the engine is not closed."""
        return LongPairs(self._spec, self.session.gpu, self.session.call)

    def cancel(self) -> None:
        """Prevent launches that have not begun."""
        self.session.cancel()

    def close(self) -> None:
        """Wait for running launches and close the GPU; results that were not collected are lost."""
        self.session.close()

    def _parts(self, chosen: _Chosen, route: Route) -> list[_Part]:
        shape, kernel = self._shape(chosen, route), route.kernel
        if not serves(kernel, shape) or not self._scores_fit(shape):
            return [_refused(chosen, Status.UNSUPPORTED)]
        if plan_of(kernel, shape).shared > self.session.gpu.shared_per_block:
            return [_refused(chosen, Status.MEMORY_LIMIT)]
        return list(self._pieces(chosen, shape, route, self.session.launch_bytes))

    def _pieces(self, chosen: _Chosen, shape: Shape, route: Route, launch_bytes: int) -> Iterator[_Part]:
        """A route's rows in parts whose letters, answers and least workspace fit a job's memory."""
        left = [(chosen, shape)]
        while left:
            chosen, shape = left.pop()
            plan = plan_of(route.kernel, shape)
            spare = launch_bytes - _needs(chosen, plan)
            if spare >= 0:
                yield self._start(chosen, shape, plan, spare, launch_bytes)
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
            apart=chosen.apart,
            cut=route.cut if chosen.bands is None else int(chosen.bands.max()),
            band=(self._spec.heuristics.band, self._spec.heuristics.band_step),
        )

    def _scores_fit(self, shape: Shape) -> bool:
        """Whether 32 bits hold the score of any pair of such lengths."""
        most = max(self._spec.penalties.match * shape.longest, 2 * self._costs.unit * self._costs.gap(shape.longest))
        return most < 1 << 31

    def _start(self, chosen: _Chosen, shape: Shape, plan: Plan, spare: int, launch_bytes: int) -> _Part:
        session = self.session
        session.check_open()
        if session.failure is not None:
            return _Part(chosen, failed(session.failure), launch_bytes)
        workspace = spare + plan.least_workspace(len(chosen.rows))
        pairs = chosen.pairs
        pinned = pairs.bases if chosen.lent else None
        try:
            # Before the launch begins: to pin new memory takes longer than the device's thread should be kept busy.
            most, guess = shape.count * plan.op_capacity, _operations(pairs)
            answers = session.results.lease(plan.rows[0].name, shape.count, most, guess=guess)
            needs = Staged.needs(
                0 if chosen.lent else chosen.letters, shape.count, chosen.coded, chosen.bands is not None
            )
            with self._stats.timed("stage"), session.staging(needs, chosen.lent) as (buffer, give_back):
                staged = self._staged(chosen, pinned, buffer)
        except DeviceError as error:  # of memory that cannot be pinned
            return _Part(chosen, failed(error), launch_bytes)
        launch = AlignLaunch(staged, plan, shape, workspace, give_back, answers, session.results, session.cancelled)
        return _Part(chosen, session.submit(launch), launch_bytes)

    def _staged(self, chosen: _Chosen, pinned: U8 | None, buffer: U8) -> Staged:
        """Fill a staging buffer with the rows' columns, and with their bases if these are not in pinned memory."""
        pairs, count, letters = chosen.pairs, len(chosen.rows), chosen.letters
        if pinned is None:
            stage_rows(pairs, chosen.rows, buffer, letters)
        else:
            stage_columns(pairs, chosen.rows, buffer)
        staged = Staged(buffer, letters, count, chosen.coded, pinned, chosen.bands is not None)
        if chosen.bands is not None:
            staged.bands[:] = chosen.bands
        if chosen.coded:
            staged.tables[:] = self._tables
        return staged

    def _result(self, route: Route, part: _Part) -> list[PartialResult]:
        """A part's results; where the GPU had too little memory, those of its halves."""
        try:
            answers = part.future.result()
        except OutOfDeviceMemory:
            self.session.out_of_memory(part.launch_bytes)
            if part.launch_bytes // 2 < MIN_LAUNCH:
                return [_unaligned(part.chosen.rows, Status.MEMORY_LIMIT)]
            again = self._parts(part.chosen, route)
            return [piece for p in again for piece in self._result(route, p)]
        except _Refused as refused:
            return [_unaligned(part.chosen.rows, refused.status)]
        except DeviceError as error:
            self.session.failure = error
            return [_unaligned(part.chosen.rows, Status.UNSUPPORTED)]
        return [self._partial(part.chosen, answers)]

    def _partial(self, chosen: _Chosen, answers: Answers) -> PartialResult:
        with self._stats.timed("unstage"):
            status, cigar, start = answers.status, answers.cigar, answers.start
            cut, score, span = unstage_rows(
                chosen.pairs, chosen.rows, answers.cost, status, self._costs.unit, self._spec.penalties.match
            )
            cut = cut if answers.cut is None else answers.cut.copy()
            if not self.session.results.has_spare:
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
        + plan.least_workspace(count)
    )


class _Refused(Exception):
    """No kernel of that name takes such pairs."""

    def __init__(self, status: Status) -> None:
        self.status = status


def _refused(chosen: _Chosen, status: Status) -> _Part:
    return _Part(chosen, failed(_Refused(status)), 0)


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
