"""Scored alignment on a GPU, with the CPU engine as fallback."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._native import distribute_rows, find_unknown_symbol, gather_parts, stage_columns, stage_rows
from ..core.batch import I32, U8, PairBatch, PartialResult, Status, all_rows, is_all_rows
from ..core.route import Route
from ..core.stats import Stats
from ..errors import DeviceError, OutOfDeviceMemory
from ..gpu.kernels import sw, sw_choice, sw_guided
from ..gpu.kernels.sw_guided import Cuts, GuidedWork
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.launch import Answers, Staged
from ..gpu.runtime.session import MIN_LAUNCH, GpuSession, failed
from ..gpu.runtime.sw_launch import SwLaunch, min_workspace, needs, operations
from ..scoring.spec import ExtendSpec
from .base import Engine

# Launches in flight. A kernel occupies the whole GPU until its last pairs, so launches end together, and the GPU is
# idle until further bases have arrived. With 3 launches it was idle for 1.0 to 1.4 of 12 to 22 ms (one H200,
# 2026-11-22).
IN_FLIGHT = 5
# Bases of both sequences per CIGAR operation at 5% errors: the guess of the size of results until some have arrived.
# If it is too small, the first results are copied twice, and pinning a larger buffer stalls the GPU for milliseconds.
_BASES_PER_RUN = 16
_WORTH_ALL = 0.5  # share of a batch's bases above which the host takes longer to gather them than the bus for all


@dataclass(frozen=True)
class _Part:
    """Part of a route that was submitted to the GPU: indices into the route's rows."""

    places: I32
    future: Future[Answers]


@dataclass(frozen=True)
class _Ticket:
    pairs: PairBatch
    route: Route
    parts: list[_Part]
    others: I32  # indices into the route's rows, of pairs for the CPU
    cpu: Any  # ticket of the CPU engine for them, or None


@dataclass(frozen=True)
class _Chosen:
    """Rows of a batch for one launch, distributed among builds.

    Attributes:
        pairs: the batch.
        rows: i32[m], rows of the batch.
        order: i32[m], indices into `rows`, grouped by build.
        works: the builds' shares of the launch, in that order.
        base_bytes: bytes of sequence to copy to the GPU.
        lent: whether all bases of the batch are copied from its own pinned memory.
    """

    pairs: PairBatch
    rows: I32
    order: I32
    works: list[sw.Work]
    base_bytes: int
    lent: bool


class ExtendGpuEngine:
    """Scored alignment on one GPU (engines.base.Engine). Pairs that the GPU cannot align go to the CPU engine."""

    name = "gpu"
    builds: tuple[sw.Build, ...]  # builds among which pairs with 16-bit scores are distributed
    guided = sw_guided.BUILDS  # builds for extensions in a band with Z-drop; each batch uses one

    def __init__(
        self,
        spec: ExtendSpec,
        cpu: Engine,
        open_driver: Callable[[], Driver],
        stats: Stats | None = None,
        memory: float | None = None,
        builds: tuple[sw.Build, ...] = (*sw.BUILDS, *sw.ALL_DIRECTIONS),
    ) -> None:
        """Open the GPU.

        Args:
            spec: what to compute.
            cpu: CPU engine; closed with this one.
            open_driver: called in the device's thread.
            stats: counters of the run.
            memory: bytes of GPU memory to use; below 1 a fraction of the free memory; None: half of it.
            builds: see the attribute.

        Raises:
            DeviceError: no GPU works.
        """
        assert spec.for_gpus
        scheme = spec.scheme
        self._spec, self._cpu, self._stats, self.builds = spec, cpu, stats or Stats(), builds
        self._scores = sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)
        self._rule, self._foreign = sw.Rule[spec.mode.name], scheme.has_unscored_symbols
        self._cuts = Cuts(spec.band, spec.zdrop) if spec.guided else None
        self._longest = [self._scores.longest(bits, self._rule) for bits in (16, 32)]
        if self._cuts:
            self._longest = [sw_guided.longest(self._scores, spec.band)] * 2
        self._gpu = GpuSession(open_driver, memory, IN_FLIGHT)
        self._lock, self._under_way = threading.Lock(), 0  # pairs submitted and not yet collected

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return pinned memory (u8[nbytes]) for a batch's bases; see GpuSession."""
        return self._gpu.batch_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Start a route. Raises Cancelled after cancel()."""
        self._gpu.check_open()
        self._count(len(route.rows))
        parts: list[_Part] = []
        others = all_rows(len(route.rows))
        if not (self._foreign and find_unknown_symbol(pairs, self._spec.scheme.codes)):
            parts, others = self._parts(pairs, route, others, False)
        return _Ticket(pairs, route, parts, others, self._on_cpu(pairs, route, others))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""
        try:
            return self._collected(ticket)
        finally:
            self._count(-len(ticket.route.rows))

    def _collected(self, ticket: _Ticket) -> PartialResult:
        pairs, route = ticket.pairs, ticket.route
        found = [self._result(part) for part in ticket.parts]
        if len(found) == 1 and len(found[0].rows) == len(route.rows) and not found[0].status.any():
            return replace(found[0], rows=route.rows)
        # Retry with 32 bits the pairs whose scores do not fit 16.
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
        """Return the stats of the GPU, and under "cpu" those of the CPU engine."""
        return {"engine": self.name, **self._gpu.report(), "cpu": self._cpu.stats()}

    def cancel(self) -> None:
        """Prevent launches that have not begun."""
        self._gpu.cancel()
        self._cpu.cancel()

    def close(self) -> None:
        """Wait for running launches, then close the GPU and the CPU engine."""
        try:
            self._gpu.close()
        finally:
            self._cpu.close()

    def _count(self, more: int) -> None:
        with self._lock:
            self._under_way += more

    def _parts(self, pairs: PairBatch, route: Route, places: I32, wide: bool) -> tuple[list[_Part], I32]:
        """Submit pairs of a route in parts that fit the memory of a launch.

        Args:
            pairs: the batch.
            route: the route.
            places: i32[m], indices into the route's rows.
            wide: whether to use 32-bit scores.

        Returns:
            The parts, which keep the order of `places`, and the indices (i32[k]) left to the CPU.
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
            spare = self._gpu.launch_bytes - needs(chosen.works, chosen.base_bytes)
            if self._gpu.failure is None and spare >= 0:
                found.append(_Part(places, self._start(chosen, spare + min_workspace(chosen.works))))
            elif self._gpu.failure is None and len(places) > 1:
                left += [places[len(places) // 2 :], places[: len(places) // 2]]
            else:
                refused.append(places)
        return found, np.concatenate(refused)

    def _chosen(self, pairs: PairBatch, rows: I32, wide: bool) -> tuple[_Chosen, I32]:
        """Distribute rows among builds; also return the indices (i32[k]) of rows that no build supports.

        If there are any, the first result must not be used.
        """
        if self._cuts:
            return self._guided(pairs, rows, self._cuts)
        shared, codes, path = self._gpu.gpu.shared_per_block, self._scores.codes, not self._spec.score_only
        builds = tuple(b for b in self.builds if b.shared(codes) <= shared and (path or not b.all_directions))
        builds = builds or self.builds[:1]
        digits, (narrow, most) = self._scores.digits, self._longest
        count = max(len(rows), self._under_way)  # other launches use the GPU when only the last pairs of this one run
        if len(rows) <= sw_choice.MAX_SAMPLED:
            builds = sw_choice.builds_to_launch(
                builds, pairs.q_len[rows], pairs.t_len[rows], path, codes, digits, count
            )
        best, builds = sw_choice.best_builds(builds, count, path, codes, digits), (*builds, sw.WIDE)
        return self._in_order(pairs, rows, best, builds, 0 if wide else narrow, most)

    def _guided(self, pairs: PairBatch, rows: I32, cuts: Cuts) -> tuple[_Chosen, I32]:
        """Same as _chosen, for extensions in a band with Z-drop, which use one build."""
        query_len, target_len = (int(side[rows].mean()) if len(rows) else 0 for side in (pairs.q_len, pairs.t_len))
        count, width = max(len(rows), self._under_way), cuts.width(query_len, target_len)
        build = sw_guided.best_build(self.guided, count, query_len, target_len, width)
        best = np.zeros((int(sw_choice.STEP[-1]) + 1) ** 2, np.uint8)
        fits = build.shared(self._scores.codes) <= self._gpu.gpu.shared_per_block
        narrow, most = self._longest if fits else (0, 0)
        return self._in_order(pairs, rows, best, (build, build), narrow, most)

    def _in_order(
        self, pairs: PairBatch, rows: I32, best: U8, builds: tuple[sw.Build, ...], narrow: int, most: int
    ) -> tuple[_Chosen, I32]:
        """Group rows by build; see distribute_rows and _chosen."""
        widths = np.array([build.width for build in builds], np.int32)
        order, groups, others, base_bytes = distribute_rows(pairs, rows, sw_choice.STEP, best, widths, narrow, most)
        works = [self._work(builds[build], *sizes) for build, *sizes in groups]
        every, lent = -(-len(pairs.bases) // 16) * 16, self._gpu.bases.owns(pairs.bases)
        lent = lent and base_bytes > _WORTH_ALL * every
        base_bytes = every if lent or is_all_rows(rows, len(pairs)) else base_bytes
        return _Chosen(pairs, rows, order, works, base_bytes, lent), others

    def _work(self, build: sw.Build, count: int, longest_query: int, longest_target: int) -> sw.Work:
        sizes = (build, self._rule, self._scores, not self._spec.score_only, count, longest_query, longest_target)
        return GuidedWork(*sizes, self._cuts) if self._cuts else sw.Work(*sizes)

    def _start(self, chosen: _Chosen, workspace: int) -> Future[Answers]:
        pairs, rows, base_bytes, session = chosen.pairs, chosen.rows, chosen.base_bytes, self._gpu
        count, codes = len(rows), self._spec.scheme.codes
        try:
            first = chosen.works[0].launches[0][0]
            likely = max(base_bytes / count / _BASES_PER_RUN, 1.0)
            answers = session.results.lease(first, count, operations(chosen.works), SwLaunch.spans, likely)
            needed = Staged.needs(0 if chosen.lent else base_bytes, count, True)
            with self._stats.timed("stage"), session.staging(needed, chosen.lent) as (buffer, give_back):
                if chosen.lent:
                    stage_columns(pairs, rows, buffer)
                else:
                    stage_rows(pairs, rows, buffer, base_bytes)
                staged = Staged(buffer, base_bytes, count, coded=True, lent=pairs.bases if chosen.lent else None)
                staged.order[:] = chosen.order
                staged.tables[:256] = staged.tables[256:] = codes
        except DeviceError as error:  # the host has no memory that can be pinned
            return failed(error)
        results, cancelled = session.results, session.cancelled
        return session.submit(SwLaunch(staged, chosen.works, workspace, give_back, answers, results, cancelled))

    def _on_cpu(self, pairs: PairBatch, route: Route, places: I32) -> Any:
        return self._cpu.submit(pairs, Route(route.rows[places], route.kernel)) if len(places) else None

    def _of_cpu(self, ticket: Any, places: I32) -> PartialResult:
        found = self._cpu.collect(ticket)
        return PartialResult(places, found.status, found.cut, found.score, found.span, found.cigar, found.cigar_start)

    def _result(self, part: _Part) -> PartialResult:
        """Return the result of a part; its rows are indices into the route's rows."""
        places = part.places
        try:
            answers = part.future.result()
        except OutOfDeviceMemory:
            self._gpu.launch_bytes = max(self._gpu.launch_bytes // 2, MIN_LAUNCH)
            return PartialResult.unaligned(places, Status.MEMORY_LIMIT)
        except DeviceError as error:
            self._gpu.failure = error
            return PartialResult.unaligned(places, Status.UNSUPPORTED)
        for what, seconds in answers.seconds.items():
            self._stats.add_seconds(f"gpu {what}", seconds)
        status, score, span, cigar, start = answers.status, answers.cost, answers.span, answers.cigar, answers.start
        if not self._gpu.results.has_spare:
            status, score, span, cigar, start = status.copy(), score.copy(), span.copy(), cigar.copy(), start.copy()
        cut = np.zeros(len(places), np.uint8)
        if self._cuts:
            cut[:], span = span[:, 0] < 0, np.maximum(span, 0)
        return PartialResult(places, status, cut, score, span, cigar, start)


def _rows(route: Route, places: I32) -> I32:
    """Return the rows of the batch at these indices of the route."""
    return route.rows if len(places) == len(route.rows) else route.rows[places]
