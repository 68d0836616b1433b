"""Scored alignment on a GPU, with the CPU engine beside it for what the GPU leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._native import foreign_letter, gather_parts, share_rows, stage_columns, stage_rows
from ..core.batch import I32, U8, PairBatch, PartialResult, Status, every_row, is_every_row
from ..core.route import Route
from ..core.stats import Stats
from ..errors import Cancelled, DeviceError, OutOfDeviceMemory
from ..gpu.kernels import sw, sw_guided
from ..gpu.kernels.sw_guided import Cuts, GuidedWork
from ..gpu.runtime.device import Device
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.job import Answers, Staged
from ..gpu.runtime.lending import Lender
from ..gpu.runtime.staging import Outbox, Staging
from ..gpu.runtime.sw_job import SwJob, min_workspace, needs, operations
from ..scoring.spec import ExtendSpec
from .base import Engine

# Jobs on the GPU: a kernel holds all of it until its last pairs, so jobs end together, and leave it idle until the
# letters of others are there. With 3 of them that was 1.0 to 1.4 of 12 to 22 ms of an H200 (2026-11-22).
IN_FLIGHT = 5
_SHARE = 0.5  # of the GPU's free memory
_MOST = 24 << 30  # bytes a job
_LEAST = 16 << 20  # bytes a job below which the CPU takes over
# Of both sequences, where one in twenty is wrong. What answers need is known after the first ones, which would come
# twice, and page-locking other memory holds the GPU up for milliseconds.
_LETTERS_A_RUN = 16
_WORTH_ALL = 0.5  # of a batch's letters: to copy them takes the host longer than the bus takes for all


@dataclass(frozen=True)
class _Part:
    """Places in a route that are on their way."""

    places: I32
    future: Future[Answers]


@dataclass(frozen=True)
class _Ticket:
    pairs: PairBatch
    route: Route
    parts: list[_Part]
    others: I32  # places in the route
    cpu: Any  # the CPU's ticket for them, or None


@dataclass(frozen=True)
class _Chosen:
    """Rows of a batch for one job, none of which is the CPU's, and in which order each build takes them.

    `letters`: bytes of letters that go to the GPU; `lent`: from where they are, all of the batch.
    """

    pairs: PairBatch
    rows: I32
    order: I32
    works: list[sw.Work]
    letters: int
    lent: bool


class ExtendGpuEngine:
    """Scored alignment on one GPU; see engines.base.Engine. What the GPU cannot do the CPU engine does."""

    name = "gpu"
    builds: tuple[sw.Build, ...]  # that pairs of 16 bits are shared out among
    guided = sw_guided.BUILDS  # one of which takes all extensions in a band, until a Z-drop

    def __init__(
        self,
        spec: ExtendSpec,
        cpu: Engine,
        open_driver: Callable[[], Driver],
        stats: Stats | None = None,
        memory: float | None = None,
        builds: tuple[sw.Build, ...] = (*sw.BUILDS, *sw.ALL_DIRECTIONS),
    ) -> None:
        """Opens the GPU, and closes `cpu` with it; see GpuEngine.

        Raises:
            DeviceError: as open_driver does.
        """
        assert spec.for_gpus
        scheme = spec.scheme
        self._spec, self._cpu, self._stats, self.builds = spec, cpu, stats or Stats(), builds
        self._scores = sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)
        self._rule, self._foreign = sw.Rule[spec.mode.name], scheme.lacks_letters
        self._cuts = Cuts(spec.band, spec.zdrop) if spec.guided else None
        self._longest = [self._scores.longest(bits, self._rule) for bits in (16, 32)]
        if self._cuts:
            self._longest = [sw_guided.longest(self._scores, spec.band)] * 2
        self._device = Device(open_driver, IN_FLIGHT)
        try:
            free = self._device.call(lambda driver: driver.free_memory())
        except BaseException:
            self._device.close()
            raise
        wanted = min(_SHARE * free, IN_FLIGHT * _MOST) if memory is None else memory * free if memory < 1 else memory
        self._job_bytes = int(wanted) // IN_FLIGHT
        self._staging, self._outbox = Staging(IN_FLIGHT + 2, self._device.call_now), Outbox(self._device.call_now)
        # For batches whose letters are lent: small, and held until the answers are there.
        self._columns, self._letters = Staging(2 * IN_FLIGHT + 2, self._device.call_now), Lender(forked=False)
        self._cancelled = threading.Event()
        self._lock, self._under_way = threading.Lock(), 0  # pairs submitted and not yet collected
        self._failure: DeviceError | None = None
        self._closed = False

    def letters_memory(self, nbytes: int) -> U8 | None:
        """Page-locked memory (u8[nbytes]), from which a batch's letters go to the GPU; see GpuEngine."""
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
        self._count(len(route.rows))
        parts: list[_Part] = []
        others = every_row(len(route.rows))
        if not (self._foreign and foreign_letter(pairs, self._spec.scheme.codes)):
            parts, others = self._parts(pairs, route, others, False)
        return _Ticket(pairs, route, parts, others, self._on_cpu(pairs, route, others))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results. Raises Cancelled."""
        try:
            return self._collected(ticket)
        finally:
            self._count(-len(ticket.route.rows))

    def _collected(self, ticket: _Ticket) -> PartialResult:
        pairs, route = ticket.pairs, ticket.route
        found = [self._result(part) for part in ticket.parts]
        if len(found) == 1 and len(found[0].rows) == len(route.rows) and not found[0].status.any():
            return replace(found[0], rows=route.rows)
        # Scores that 16 bits do not hold.
        wide = [result.rows[result.status == np.uint8(Status.SCORE_LIMIT)] for result in found]
        if any(map(len, wide)):
            again, _ = self._parts(pairs, route, np.concatenate(wide), True)
            found += [self._result(part) for part in again]
        if ticket.cpu is not None:
            found.append(self._of_cpu(ticket.cpu, ticket.others))
        left = np.full(len(route.rows), Status.UNSUPPORTED, np.uint8)
        for result in found:
            left[result.rows] = result.status
        left[ticket.others] = Status.OK
        failed = np.flatnonzero(left).astype(np.int32)
        if len(failed):
            found.append(self._of_cpu(self._on_cpu(pairs, route, failed), failed))
        columns = gather_parts(found, [0] * len(found), len(route.rows))
        status, cut, score, span, cigar, start, _ = columns
        return PartialResult(route.rows, status, cut, score, span.reshape(-1, 4), cigar, start)

    def stats(self) -> dict[str, Any]:
        """The GPU's, and under "cpu" those of the CPU engine."""
        of_gpu = self._device.report(self._job_bytes, self._failure)
        return {"engine": self.name, **of_gpu, "cpu": self._cpu.stats()}

    def cancel(self) -> None:
        """Jobs that have not begun are not begun."""
        self._cancelled.set()
        self._cpu.cancel()

    def close(self) -> None:
        """Waits for running jobs and gives the GPU back, and closes the CPU engine."""
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

    def _count(self, more: int) -> None:
        with self._lock:
            self._under_way += more

    def _parts(self, pairs: PairBatch, route: Route, places: I32, wide: bool) -> tuple[list[_Part], I32]:
        """Places of a route, in their order, on their way in parts that fit a job's memory, and those left to the CPU.

        `wide`: with 32 bits.
        """
        found: list[_Part] = []
        refused = [np.zeros(0, np.int32)]
        left = [places] if len(places) else []
        while left:
            places = left.pop()
            chosen, others = self._chosen(pairs, _rows(route, places), wide)
            if len(others):
                refused.append(places[others])
                left += [np.delete(places, others)] if len(others) < len(places) else []
                continue
            spare = self._job_bytes - needs(chosen.works, chosen.letters)
            if self._failure is None and spare >= 0:
                found.append(_Part(places, self._start(chosen, spare + min_workspace(chosen.works))))
            elif self._failure is None and len(places) > 1:
                left += [places[len(places) // 2 :], places[: len(places) // 2]]
            else:
                refused.append(places)
        return found, np.concatenate(refused)

    def _chosen(self, pairs: PairBatch, rows: I32, wide: bool) -> tuple[_Chosen, I32]:
        """Rows shared out among builds, and places of those that no build takes: then nothing else counts."""
        if self._cuts:
            return self._guided(pairs, rows, self._cuts)
        shared, codes, path = self._device.driver.gpu.shared_per_block, self._scores.codes, not self._spec.score_only
        builds = tuple(b for b in self.builds if b.shared(codes) <= shared and (path or not b.all_directions))
        builds = builds or self.builds[:1]
        digits, (narrow, most) = self._scores.digits, self._longest
        count = max(len(rows), self._under_way)  # jobs beside this one have the GPU that its last pairs leave idle
        if len(rows) <= sw.MAX_SAMPLED:
            builds = sw.builds_to_launch(builds, pairs.q_len[rows], pairs.t_len[rows], path, codes, digits, count)
        best, builds = sw.best_builds(builds, count, path, codes, digits), (*builds, sw.WIDE)
        return self._in_order(pairs, rows, best, builds, 0 if wide else narrow, most)

    def _guided(self, pairs: PairBatch, rows: I32, cuts: Cuts) -> tuple[_Chosen, I32]:
        """The same where one build takes all."""
        query_len, target_len = (int(side[rows].mean()) if len(rows) else 0 for side in (pairs.q_len, pairs.t_len))
        count, width = max(len(rows), self._under_way), cuts.width(query_len, target_len)
        build = sw_guided.best_build(self.guided, count, query_len, target_len, width)
        best = np.zeros((int(sw.STEP[-1]) + 1) ** 2, np.uint8)
        fits = build.shared(self._scores.codes) <= self._device.driver.gpu.shared_per_block
        narrow, most = self._longest if fits else (0, 0)
        return self._in_order(pairs, rows, best, (build, build), narrow, most)

    def _in_order(
        self, pairs: PairBatch, rows: I32, best: U8, builds: tuple[sw.Build, ...], narrow: int, most: int
    ) -> tuple[_Chosen, I32]:
        """Rows by their builds; see share_rows."""
        widths = np.array([build.width for build in builds], np.int32)
        order, groups, others, letters = share_rows(pairs, rows, sw.STEP, best, widths, narrow, most)
        works = [self._work(builds[build], *sizes) for build, *sizes in groups]
        every, lent = -(-len(pairs.bases) // 16) * 16, self._letters.holds(pairs.bases)
        lent = lent and letters > _WORTH_ALL * every
        letters = every if lent or is_every_row(rows, len(pairs)) else letters
        return _Chosen(pairs, rows, order, works, letters, lent), others

    def _work(self, build: sw.Build, count: int, longest_query: int, longest_target: int) -> sw.Work:
        sizes = (build, self._rule, self._scores, not self._spec.score_only, count, longest_query, longest_target)
        return GuidedWork(*sizes, self._cuts) if self._cuts else sw.Work(*sizes)

    def _start(self, chosen: _Chosen, workspace: int) -> Future[Answers]:
        pairs, rows, letters = chosen.pairs, chosen.rows, chosen.letters
        count, codes = len(rows), self._spec.scheme.codes
        buffers = self._columns if chosen.lent else self._staging
        try:
            first = chosen.works[0].launches[0][0]
            likely = max(letters / count / _LETTERS_A_RUN, 1.0)
            answers = self._outbox.take(first, count, operations(chosen.works), SwJob.spans, likely)
            with self._stats.timed("stage"):
                buffer = buffers.take(Staged.needs(0 if chosen.lent else letters, count, True))
                try:
                    if chosen.lent:
                        stage_columns(pairs, rows, buffer)
                    else:
                        stage_rows(pairs, rows, buffer, letters)
                    lent = pairs.bases if chosen.lent else None
                    staged = Staged(buffer, letters, count, coded=True, lent=lent)
                    staged.order[:] = chosen.order
                    staged.tables[:256] = staged.tables[256:] = codes
                except BaseException:
                    buffers.give_back(buffer)
                    raise
        except DeviceError as error:  # of memory that cannot be page-locked
            failed: Future[Answers] = Future()
            failed.set_exception(error)
            return failed
        cancelled = self._cancelled.is_set
        job = SwJob(staged, chosen.works, workspace, buffers.give_back, answers, self._outbox, cancelled)
        return self._device.submit(job)

    def _on_cpu(self, pairs: PairBatch, route: Route, places: I32) -> Any:
        return self._cpu.submit(pairs, Route(route.rows[places], route.kernel)) if len(places) else None

    def _of_cpu(self, ticket: Any, places: I32) -> PartialResult:
        found = self._cpu.collect(ticket)
        return PartialResult(places, found.status, found.cut, found.score, found.span, found.cigar, found.cigar_start)

    def _result(self, part: _Part) -> PartialResult:
        """What came back, by places of the route."""
        places = part.places
        try:
            answers = part.future.result()
        except OutOfDeviceMemory:
            self._job_bytes = max(self._job_bytes // 2, _LEAST)
            return _unaligned(places, Status.MEMORY_LIMIT)
        except DeviceError as error:
            self._failure = error
            return _unaligned(places, Status.UNSUPPORTED)
        for what, seconds in answers.seconds.items():
            self._stats.add_seconds(f"gpu {what}", seconds)
        status, score, span, cigar, start = answers.status, answers.cost, answers.span, answers.cigar, answers.start
        if not self._outbox.plenty:
            status, score, span, cigar, start = status.copy(), score.copy(), span.copy(), cigar.copy(), start.copy()
        cut = np.zeros(len(places), np.uint8)
        if self._cuts:
            cut[:], span = span[:, 0] < 0, np.maximum(span, 0)
        return PartialResult(places, status, cut, score, span, cigar, start)


def _rows(route: Route, places: I32) -> I32:
    """Of places in their order."""
    return route.rows if len(places) == len(route.rows) else route.rows[places]


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
