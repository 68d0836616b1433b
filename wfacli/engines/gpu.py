"""The GPU engine: stages routes in pinned memory and aligns them with the kernels of one GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._native import rows_summary, stage_columns, stage_rows, symbol_codes, unstage_rows
from ..config import AlignSpec, Ambiguous
from ..core.batch import I32, U8, Extent, Flag, PairBatch, PartialResult, Status, is_all_rows, join
from ..core.costs import NO_BOUND, UnitCosts
from ..core.route import Route
from ..core.stats import Stats
from ..errors import DeviceError, OutOfDeviceMemory
from ..gpu.kernels.launch_plan import plan_of, supports
from ..gpu.kernels.plans import Plan, Shape
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.launch import AlignLaunch, Answers, Staged
from ..gpu.runtime.pinned_pool import PinnedPool
from ..gpu.runtime.session import GpuSession, failed
from .long import LongPairs

_SPEAKING = 256  # pairs sampled to estimate the number of CIGAR operations
_WORTH_ALL = 0.15  # share of a batch's bases above which the host takes longer to gather them than the bus for all


@dataclass(frozen=True)
class _Chosen:
    """Rows of a batch that are aligned together; at least one.

    Attributes:
        pairs: the batch.
        rows: i32[m], rows of the batch.
        base_bytes: bytes of sequence to copy to the GPU, each sequence padded to a multiple of 16.
        longest: length of the longest sequence, in bases.
        apart: maximum length difference of a pair, in bases.
        edits: maximum estimated edits; -1 if no row has an estimate.
        coded: whether symbols are converted to codes, because some are not A C G T.
        whole: whether all bases of the batch are copied as they are, so that repeated targets are copied once.
        lent: whether they are copied from the batch's own pinned memory.
        bands: i32[m], band widths of the route for these rows; None if it has none.
        as_long: number of pairs as long as the longest one that have as many bases.
    """

    pairs: PairBatch
    rows: I32
    base_bytes: int
    longest: int
    apart: int
    edits: int
    coded: bool
    whole: bool
    lent: bool
    bands: I32 | None
    as_long: int

    @classmethod
    def by_symbols(cls, pairs: PairBatch, rows: I32, bands: I32 | None, lent: bool) -> list[_Chosen]:
        """Split rows of a batch into those of A C G T only and those with other symbols.

        `lent`: whether the batch's bases are in pinned memory.
        """
        if not len(rows):
            return []
        whole_batch = is_all_rows(rows, len(pairs))
        if whole_batch and pairs.extent is not None:
            extent, edits = pairs.extent, pairs.max_estimate
        else:
            extent, edits = _looked_up(pairs, rows)
        if 0 < extent.non_acgt_pairs < len(rows):
            other = (pairs.flags[rows] & Flag.NON_ACGT) != 0
            own = [np.flatnonzero(other == coded) for coded in (False, True)]
            return [
                chosen
                for some in own
                for chosen in cls.by_symbols(pairs, rows[some], None if bands is None else bands[some], lent)
            ]
        every = -(-len(pairs.bases) // 16) * 16
        whole = whole_batch or (lent and extent.nbytes > _WORTH_ALL * every)
        size, coded = every if whole else extent.nbytes, extent.non_acgt_pairs > 0
        return [
            cls(
                pairs,
                rows,
                size,
                extent.longest,
                extent.max_length_difference,
                edits,
                coded,
                whole,
                lent and whole,
                bands,
                min(-(-extent.nbytes // (2 * max(extent.longest, 1))), len(rows)),
            )
        ]

    def part(self, some: slice) -> _Chosen:
        """Return a slice of the rows."""
        bands = None if self.bands is None else self.bands[some]
        return self.by_symbols(self.pairs, self.rows[some], bands, self.lent)[0]


def _looked_up(pairs: PairBatch, rows: I32) -> tuple[Extent, int]:
    """Return the extent of rows and their maximum estimate; the batch's maximum if some rows have none."""
    nbytes, longest, apart, least, most, others = rows_summary(pairs, rows)
    return Extent(nbytes, longest, apart, others), most if least >= 0 else pairs.max_estimate


@dataclass(frozen=True)
class _Part:
    chosen: _Chosen
    future: Future[Answers]
    launch_bytes: int  # memory limit that it was sized for


@dataclass(frozen=True)
class _Ticket:
    route: Route
    parts: list[_Part]


class GpuEngine:
    """All GPU kernels on one GPU (engines.base.Engine).

    No result is lost if the GPU fails: its pairs get MEMORY_LIMIT or UNSUPPORTED, and are retried by a CPU kernel.

    Attributes:
        session: the open GPU.
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
            spec: what to compute.
            open_driver: called in the device's thread.
            stats: counters of the run.
            memory: bytes of GPU memory to use; below 1 a fraction of the free memory; None: half of it.
            bases: pool for batches' bases, which may have leased memory before the GPU was open; None: a new one.

        Raises:
            DeviceError: no GPU works.
        """
        self._spec, self._stats = spec, stats or Stats()
        self._costs = UnitCosts.of(spec)
        self._tables = symbol_codes(spec.rule)
        self.session = GpuSession(open_driver, memory, bases=bases)

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return pinned memory (u8[nbytes]), from which bases are copied to the GPU directly; see GpuSession."""
        return self.session.batch_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Start a route of one of plan.gpu_kernels.KERNELS. Raises Cancelled after cancel()."""
        lent = self.session.bases.owns(pairs.bases)
        chosen = _Chosen.by_symbols(pairs, route.rows, route.bands, lent)
        parts = [part for some in chosen for part in self._parts(some, route)]
        return _Ticket(route, parts)

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""
        found = [piece for part in ticket.parts for piece in self._result(ticket.route, part)]
        # Rows with other symbols than A C G T are the last ones.
        rows = ticket.route.rows if len(found) < 2 else np.concatenate([piece.rows for piece in found])
        return join(rows, found)

    def stats(self) -> dict[str, Any]:
        """Return properties of the GPU, and the maximum memory in use."""
        return {"engine": self.name, **self.session.report()}

    def long_pairs(self) -> LongPairs:
        """Return an aligner on the same GPU for pairs too long for batch kernels; valid until close()."""
        return LongPairs(self._spec, self.session.gpu, self.session.call)

    def cancel(self) -> None:
        """Prevent launches that have not begun."""
        self.session.cancel()

    def close(self) -> None:
        """Wait for running launches and close the GPU; results that were not collected are lost."""
        self.session.close()

    def _parts(self, chosen: _Chosen, route: Route) -> list[_Part]:
        shape, kernel = self._shape(chosen, route), route.kernel
        charged = chosen.coded and self._spec.charges_ambiguous
        if charged or not supports(kernel, shape) or not self._scores_fit(shape):
            return [_refused(chosen, Status.UNSUPPORTED)]
        if plan_of(kernel, shape).shared > self.session.gpu.shared_per_block:
            return [_refused(chosen, Status.MEMORY_LIMIT)]
        return list(self._pieces(chosen, shape, route, self.session.launch_bytes))

    def _pieces(self, chosen: _Chosen, shape: Shape, route: Route, launch_bytes: int) -> Iterator[_Part]:
        """Yield a route's rows in parts whose bases, results and minimum workspace fit the memory of a launch."""
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
            length_difference=chosen.apart,
            cut=route.cut if chosen.bands is None else int(chosen.bands.max()),
            band=(self._spec.heuristics.band, self._spec.heuristics.band_step),
            as_long=chosen.as_long,
        )

    def _scores_fit(self, shape: Shape) -> bool:
        """Return whether 32 bits hold the score of any pair of such lengths."""
        most = max(self._spec.penalties.match * shape.longest, 2 * self._costs.unit * self._costs.gap(shape.longest))
        return most < 1 << 31

    def _start(self, chosen: _Chosen, shape: Shape, plan: Plan, spare: int, launch_bytes: int) -> _Part:
        session = self.session
        session.check_open()
        if session.failure is not None:
            return _Part(chosen, failed(session.failure), launch_bytes)
        workspace = spare + plan.min_workspace(len(chosen.rows))
        pairs = chosen.pairs
        pinned = pairs.bases if chosen.lent else None
        try:
            # Here and not in the launch, because pinning memory would block the device's thread for too long.
            most, guess = shape.count * plan.op_capacity, _operations(pairs)
            answers = session.results.lease(plan.rows[0].name, shape.count, most, guess=guess)
            needs = Staged.needs(
                0 if chosen.lent else chosen.base_bytes, shape.count, chosen.coded, chosen.bands is not None
            )
            with self._stats.timed("stage"), session.staging(needs, chosen.lent) as (buffer, give_back):
                staged = self._staged(chosen, pinned, buffer)
        except DeviceError as error:  # the host has no memory that can be pinned
            return _Part(chosen, failed(error), launch_bytes)
        launch = AlignLaunch(staged, plan, shape, workspace, give_back, answers, session.results, session.cancelled)
        return _Part(chosen, session.submit(launch), launch_bytes)

    def _staged(self, chosen: _Chosen, pinned: U8 | None, buffer: U8) -> Staged:
        """Fill a staging buffer with the rows' columns, and with their bases unless these are in pinned memory."""
        pairs, count, base_bytes = chosen.pairs, len(chosen.rows), chosen.base_bytes
        if pinned is None:
            stage_rows(pairs, chosen.rows, buffer, base_bytes)
        else:
            stage_columns(pairs, chosen.rows, buffer)
        staged = Staged(buffer, base_bytes, count, chosen.coded, pinned, chosen.bands is not None)
        if chosen.bands is not None:
            staged.bands[:] = chosen.bands
        if chosen.coded:
            staged.tables[:] = self._tables
        return staged

    def _result(self, route: Route, part: _Part) -> list[PartialResult]:
        """Return a part's results, in smaller parts if the GPU ran out of memory."""
        try:
            answers = part.future.result()
        except OutOfDeviceMemory:
            if not self.session.out_of_memory(part.launch_bytes):
                return [PartialResult.unaligned(part.chosen.rows, Status.MEMORY_LIMIT)]
            again = self._parts(part.chosen, route)
            return [piece for p in again for piece in self._result(route, p)]
        except _Refused as refused:
            return [PartialResult.unaligned(part.chosen.rows, refused.status)]
        except DeviceError as error:
            self.session.failure = error
            return [PartialResult.unaligned(part.chosen.rows, Status.UNSUPPORTED)]
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
    """Estimate the mean number of CIGAR operations per pair from a sample: two per edit, and eight."""
    rows = pairs.rows_with_edits
    edits = pairs.est_edits[rows[:: max(len(rows) // _SPEAKING, 1)]]
    return 8.0 + 2 * float(edits.mean()) if len(edits) else 8.0


def _needs(chosen: _Chosen, plan: Plan) -> int:
    """Return the minimum GPU memory, in bytes, to align the rows in one launch."""
    count = len(chosen.rows)
    return (
        chosen.base_bytes * (8 if chosen.coded else 5) // 4
        + count * (8 * plan.op_capacity + 48)
        + plan.min_workspace(count)
    )


class _Refused(Exception):
    """The kernel does not support these pairs; `status` says why."""

    def __init__(self, status: Status) -> None:
        self.status = status


def _refused(chosen: _Chosen, status: Status) -> _Part:
    return _Part(chosen, failed(_Refused(status)), 0)
