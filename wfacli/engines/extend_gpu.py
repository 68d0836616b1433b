"""Scored alignment on a card, with the CPU engine beside it for what the card leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import foreign_letter, gather_parts, rows_summary, stage_columns, stage_rows
from ..batch import I32, U8, PairBatch, PartialResult, Status, is_every_row
from ..dispatch import Route
from ..errors import Cancelled, DeviceError, OutOfDeviceMemory
from ..gpu import sw
from ..gpu.device import IN_FLIGHT, Device
from ..gpu.driver import Driver
from ..gpu.job import Answers, Staged
from ..gpu.lending import Lender
from ..gpu.staging import Outbox, Staging
from ..gpu.sw_job import SwJob, needs, plan_of
from ..scoring.spec import ExtendSpec
from ..stats import Stats
from .base import Engine

_SHARE = 0.5  # of the card's free memory
_MOST = 24 << 30  # bytes a job
_LEAST = 16 << 20  # bytes a job below which the CPU takes over
_WORTH_ALL = 0.5  # of a batch's letters: to copy them takes the host longer than the bus takes for all


def serves(spec: ExtendSpec) -> bool:
    """Whether the kernels compute what is asked for: all cells, and no second best."""
    return not (spec.heuristic or spec.second_best)


@dataclass(frozen=True)
class _Part:
    """Places in a route that are on their way."""

    places: I32
    work: sw.Work
    future: Future[Answers]


@dataclass(frozen=True)
class _Ticket:
    pairs: PairBatch
    route: Route
    parts: list[_Part]
    others: I32  # places in the route
    cpu: Any  # the CPU's ticket for them, or None


class ExtendGpuEngine:
    """Scored alignment on one card; see engines.base.Engine. What the card cannot do the CPU engine does."""

    name = "gpu"
    builds: tuple[sw.Build, ...]  # that pairs of 16 bits are shared out among

    def __init__(
        self,
        spec: ExtendSpec,
        cpu: Engine,
        open_driver: Callable[[], Driver],
        stats: Stats | None = None,
        memory: float | None = None,
        builds: tuple[sw.Build, ...] = (*sw.BUILDS, *sw.WHOLE),
    ) -> None:
        """Opens the card, and closes `cpu` with it; see GpuEngine.

        Raises:
            DeviceError: as open_driver does.
        """
        assert serves(spec)
        scheme = spec.scheme
        self._spec, self._cpu, self._stats, self.builds = spec, cpu, stats or Stats(), builds
        self._scores = sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)
        self._rule = sw.Rule[spec.mode.name]
        self._device = Device(open_driver)
        try:
            free = self._device.call(lambda driver: driver.free_memory())
        except BaseException:
            self._device.close()
            raise
        wanted = min(_SHARE * free, IN_FLIGHT * _MOST) if memory is None else memory * free if memory < 1 else memory
        self._job_bytes = int(wanted) // IN_FLIGHT
        self._staging, self._outbox = Staging(IN_FLIGHT + 2, self._device.call_now), Outbox(self._device.call_now)
        # For batches whose letters are lent: small, and held until the answers are there.
        self._columns, self._letters = Staging(2 * IN_FLIGHT + 2, self._device.call_now), Lender()
        self._cancelled = threading.Event()
        self._failure: DeviceError | None = None
        self._closed = False

    def letters_memory(self, nbytes: int) -> U8 | None:
        """Page-locked memory (u8[nbytes]), from which a batch's letters go to the card; see GpuEngine."""
        if self._closed or self._failure is not None:
            return None
        try:
            return self._letters.lend(nbytes, self._device.call_now)
        except DeviceError:  # who has no such memory takes any
            return None

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route. Raises Cancelled after cancel()."""
        if self._cancelled.is_set():
            raise Cancelled("stopped")
        if self._closed:
            raise RuntimeError("the engine is closed")
        parts: list[_Part] = []
        able, groups = self._shared_out(pairs, route)
        refused = np.zeros(len(able), np.bool_)
        for build, some in groups:
            for part in self._pieces(pairs, route, some, build):
                if isinstance(part, _Part):
                    parts.append(part)
                else:
                    refused[part] = True
        others = np.flatnonzero(~able | refused).astype(np.int32)
        return _Ticket(pairs, route, parts, others, self._on_cpu(pairs, route, others))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results. Raises Cancelled."""
        pairs, route = ticket.pairs, ticket.route
        found: list[PartialResult] = []
        wide: list[I32] = []
        for part in ticket.parts:
            result = self._result(pairs, route, part)
            found.append(result)
            if part.work.build.bits == 16:
                wide.append(result.rows[result.status == np.uint8(Status.SCORE_LIMIT)])
        again = np.concatenate([*wide, np.zeros(0, np.int32)])
        # Scores that 16 bits do not hold.
        retried = [part for part in self._pieces(pairs, route, again, sw.WIDE) if isinstance(part, _Part)]
        found += [self._result(pairs, route, part) for part in retried]
        if ticket.cpu is not None:
            found.append(self._of_cpu(ticket.cpu, ticket.others))
        if len(found) == 1 and not found[0].status.any() and np.array_equal(found[0].rows, np.arange(len(route.rows))):
            return replace(found[0], rows=route.rows)
        left = np.full(len(route.rows), Status.UNSUPPORTED, np.uint8)
        for result in found:
            left[result.rows] = result.status
        failed = np.setdiff1d(np.flatnonzero(left), ticket.others).astype(np.int32)
        if len(failed):
            found.append(self._of_cpu(self._on_cpu(pairs, route, failed), failed))
        columns = gather_parts(found, [0] * len(found), len(route.rows))
        status, cut, score, span, cigar, start, _ = columns
        return PartialResult(route.rows, status, cut, score, span.reshape(-1, 4), cigar, start)

    def stats(self) -> dict[str, Any]:
        """The card's, and under "cpu" those of the CPU engine."""
        of_card = self._device.report(self._job_bytes, self._failure)
        return {"engine": self.name, **of_card, "cpu": self._cpu.stats()}

    def cancel(self) -> None:
        """Jobs that have not begun are not begun."""
        self._cancelled.set()
        self._cpu.cancel()

    def close(self) -> None:
        """Waits for running jobs and gives the card back, and closes the CPU engine."""
        if self._closed:
            return
        self._closed = True
        try:
            self._staging.close()
            self._columns.close()
            for held in (self._outbox, self._letters):
                self._device.call(held.close)
            self._device.close()
        finally:
            self._cpu.close()

    def _shared_out(self, pairs: PairBatch, route: Route) -> tuple[npt.NDArray[np.bool_], list[tuple[sw.Build, I32]]]:
        """Which rows of a route the card takes, and their places by build."""
        every = is_every_row(route.rows, len(pairs))
        lengths = (pairs.q_len, pairs.t_len) if every else (pairs.q_len[route.rows], pairs.t_len[route.rows])
        able = np.minimum(*lengths) > 0
        if self._spec.scheme.lacks_letters and foreign_letter(pairs, self._spec.scheme.codes):
            able[:] = False
        able &= self._scores.holds(32, self._rule, *lengths)
        narrow = able & self._scores.holds(16, self._rule, *lengths)
        places = np.flatnonzero(narrow).astype(np.int32)
        if len(places) < len(able):
            lengths = lengths[0][places], lengths[1][places]
        shared, codes = self._device.driver.card.shared_per_block, self._scores.codes
        path = not self._spec.score_only
        builds = tuple(build for build in self.builds if build.shared(codes) <= shared and (path or not build.whole))
        builds = builds or self.builds[:1]
        chosen = sw.best_build(*lengths, builds, path, codes)
        counts = np.bincount(chosen, minlength=len(builds))
        groups = [
            (builds[k], places if counts[k] == len(places) else places[chosen == k]) for k in np.flatnonzero(counts)
        ]
        return able, [*groups, (sw.WIDE, np.flatnonzero(able & ~narrow).astype(np.int32))]

    def _pieces(self, pairs: PairBatch, route: Route, places: I32, build: sw.Build) -> Iterator[_Part | I32]:
        """Places of a route on their way, in parts that fit a job's memory, longest first; or those that fit none."""
        rows = route.rows[places]
        q_len, t_len = pairs.q_len[rows], pairs.t_len[rows]
        left = [places] if len(places) else []
        if len(places) and (q_len.min() < q_len.max() or t_len.min() < t_len.max()):
            left = [places[sw.longest_first(q_len, t_len, build)]]
        while left:
            some = left.pop()
            rows = route.rows[some]
            todo = sw.Work(
                build,
                self._rule,
                self._scores,
                not self._spec.score_only,
                int(pairs.q_len[rows].max()),
                int(pairs.t_len[rows].max()),
            )
            plan = plan_of(todo)
            every, lent = -(-len(pairs.bases) // 16) * 16, self._letters.holds(pairs.bases)
            letters = every if is_every_row(rows, len(pairs)) else rows_summary(pairs, rows)[0]
            lent = lent and letters > _WORTH_ALL * every
            letters = every if lent else letters
            spare = self._job_bytes - needs(len(some), letters, plan)
            fits = plan.shared <= self._device.driver.card.shared_per_block and self._failure is None
            if fits and spare >= 0:
                yield self._start(pairs, some, rows, letters, lent, todo, spare + plan.least_workspace(len(some)))
            elif fits and len(some) > 1:
                half = len(some) // 2
                left += [some[half:], some[:half]]
            else:
                yield some

    def _start(
        self, pairs: PairBatch, places: I32, rows: I32, letters: int, lent: bool, work: sw.Work, workspace: int
    ) -> _Part:
        count, codes = len(rows), self._spec.scheme.codes
        plan = plan_of(work)
        buffers = self._columns if lent else self._staging
        try:
            answers = self._outbox.take(plan.rows[-1].name, count, count * plan.op_capacity, SwJob.spans)
            with self._stats.timed("stage"):
                buffer = buffers.take(Staged.needs(0 if lent else letters, count, True))
                try:
                    if lent:
                        stage_columns(pairs, rows, buffer)
                    else:
                        stage_rows(pairs, rows, buffer, letters)
                    staged = Staged(buffer, letters, count, coded=True, lent=pairs.bases if lent else None)
                    staged.tables[:] = np.tile(codes, 2)
                except BaseException:
                    buffers.give_back(buffer)
                    raise
        except DeviceError as error:  # of memory that cannot be page-locked
            failed: Future[Answers] = Future()
            failed.set_exception(error)
            return _Part(places, work, failed)
        cancelled = self._cancelled.is_set
        job = SwJob(staged, work, workspace, buffers.give_back, answers, self._outbox, cancelled)
        return _Part(places, work, self._device.submit(job))

    def _on_cpu(self, pairs: PairBatch, route: Route, places: I32) -> Any:
        return self._cpu.submit(pairs, Route(route.rows[places], route.kernel)) if len(places) else None

    def _of_cpu(self, ticket: Any, places: I32) -> PartialResult:
        found = self._cpu.collect(ticket)
        return PartialResult(places, found.status, found.cut, found.score, found.span, found.cigar, found.cigar_start)

    def _result(self, pairs: PairBatch, route: Route, part: _Part) -> PartialResult:
        """What came back, by places of the route."""
        try:
            answers = part.future.result()
        except OutOfDeviceMemory:
            self._job_bytes = max(self._job_bytes // 2, _LEAST)
            return _unaligned(part.places, Status.MEMORY_LIMIT)
        except DeviceError as error:
            self._failure = error
            return _unaligned(part.places, Status.UNSUPPORTED)
        for what, seconds in answers.seconds.items():
            self._stats.add_seconds(f"gpu {what}", seconds)
        status, score, cigar, start = answers.status, answers.cost, answers.cigar, answers.start
        if not self._outbox.plenty:
            status, score, cigar, start = status.copy(), score.copy(), cigar.copy(), start.copy()
        ok = status == np.uint8(Status.OK)
        if part.work.path:
            span = answers.span if ok.all() else answers.span * ok[:, None]
            span = span if self._outbox.plenty else span.copy()
        else:
            span = np.zeros((len(ok), 4), np.int32)
            rows = route.rows[part.places]
            span[:, 1], span[:, 3] = pairs.q_len[rows] * ok, pairs.t_len[rows] * ok
        cut = np.zeros(len(ok), np.uint8)
        return PartialResult(part.places, status, cut, score, span, cigar, start)


def _unaligned(places: I32, status: Status) -> PartialResult:
    n = len(places)
    zeros = np.zeros(n, np.int32)
    return PartialResult(
        places,
        np.full(n, status, np.uint8),
        np.zeros(n, np.uint8),
        zeros,
        np.zeros((n, 4), np.int32),
        np.zeros(0, np.uint32),
        np.zeros(n + 1, np.int64),
    )
