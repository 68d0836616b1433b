"""Ends of mapped reads: extension beyond the mapped parts, and the breakpoints between parts of split reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import copy_parts, flank_pairs, parts_bytes, path_scores, split_at_drops, trim_overlaps, unreliable_ends
from ..config import WHOLE, AlignSpec, Ends, FreeEnds, Heuristics, Limits, Metric, Mode
from ..core.batch import I32, U8, AlignmentBatch, PairBatch, PartialResult, Records, Status, all_rows
from ..core.stats import Stats
from ..engines.cpu import CpuEngine, native_options
from ..engines.execute import execute
from ..engines.parts import overlaid
from ..plan.kernels import TABLE
from ..plan.planner import Planner

_SUPPLEMENTARY = 2048  # SAM FLAG bit
DOUBTFUL = 1_000  # bases from either end within which a mapped end may be unreliable

Align = Callable[[PairBatch], AlignmentBatch]
Lend = Callable[[int], U8 | None]


class Extender:
    """Extends alignments of mapped reads at both ends, splits them at Z-drops, and trims overlapping parts.

    Extensions use scores of their own and always run on the CPU. The sequence between two ends is aligned globally by
    the run's engine, so results do not depend on the engine.
    """

    def __init__(self, ends: Ends, spec: AlignSpec, limits: Limits, threads: int, stats: Stats) -> None:
        """Create the extender; its threads start on first use.

        Args:
            ends: how to extend.
            spec: how the sequences between the ends are aligned.
            limits: bounds on memory.
            threads: number of threads.
            stats: gets the time of the threads.
        """
        self._ends, self._limits = ends, limits
        metric = Metric.AFFINE if len(ends.penalties.gaps) == 1 else Metric.AFFINE2P
        outward = AlignSpec(
            metric,
            ends.penalties,
            spec.ambiguous,
            Mode.EXTENSION,
            score_only=True,
            heuristics=Heuristics(zdrop=ends.zdrop),
        )
        to_the_end = replace(outward, mode=Mode.ENDS_FREE, free=FreeEnds(target_end=WHOLE), heuristics=Heuristics())
        self._outward = _Solver(outward, limits, threads, stats)
        self._to_the_end = _Solver(to_the_end, limits, threads, stats) if ends.bonus else None
        self._scores = native_options(outward, limits, TABLE)
        self._options = native_options(spec, limits, TABLE)

    def aligned(self, pairs: PairBatch, align: Align, lend: Lend | None = None) -> tuple[PairBatch, AlignmentBatch]:
        """Align a batch of mapped reads.

        Args:
            pairs: the batch; pairs.mapped.inner has the mapped parts.
            align: aligns a batch globally.
            lend: Engine.batch_memory, or None if bases need no special memory.

        Returns:
            The batch, in which split alignments have several rows, and its alignments.

        Raises:
            Cancelled: after cancel().
        """
        assert pairs.mapped is not None
        inner, whole = pairs.mapped.inner, _whole(pairs)
        found = _between(pairs, self._extents(pairs, whole, inner), align, lend)
        rows, sure = unreliable_ends(found, inner, self._scores, DOUBTFUL)
        if len(rows):
            sure = sure.reshape(-1, 4)
            doubtful = _by_sides(sure != found.span[rows])
            found = self._again(pairs, found, rows, np.where(doubtful, whole[rows], found.span[rows]), sure, align)
        pairs, found, rows, outer = self._broken(pairs, found)
        if len(rows):
            found = self._again(pairs, found, rows, outer, found.span[rows], align)
        assert pairs.mapped is not None
        met = trim_overlaps(pairs, found, pairs.mapped.inner, self._scores, self._options)
        if met is None:
            return pairs, found
        score, span, cigar, cigar_start = met
        return pairs, replace(found, score=score, span=span.reshape(-1, 4), cigar=cigar, cigar_start=cigar_start)

    def cancel(self) -> None:
        """Stop running work soon."""
        for solver in filter(None, (self._outward, self._to_the_end)):
            solver.engine.cancel()

    def close(self) -> None:
        """Wait for running work and free all resources."""
        for solver in filter(None, (self._outward, self._to_the_end)):
            solver.engine.close()

    def _again(
        self, pairs: PairBatch, found: AlignmentBatch, rows: I32, outer: I32, sure: I32, align: Align
    ) -> AlignmentBatch:
        """Extend some rows again from reliable positions inside them, and realign those whose ends change.

        A new alignment replaces the old one only if it scores more.

        Args:
            pairs: the batch.
            found: its alignments.
            rows: i32[m], the rows.
            outer: i32[m, 4], spans that extensions may not exceed.
            sure: i32[m, 4], reliable spans, from which extensions start.
            align: aligns a batch globally.
        """
        some, before = pairs.subset(rows), found.span[rows]
        extents = self._extents(some, np.ascontiguousarray(outer, np.int32), sure)
        changed = np.flatnonzero((extents != before).any(axis=1))
        if not len(changed):
            return found
        new = _between(some.subset(changed), np.ascontiguousarray(extents[changed]), align, None)
        # An extension that starts further inside may have ended earlier, at a Z-drop.
        old = _some(found, rows[changed])
        better = np.flatnonzero(path_scores(new, self._scores) > path_scores(old, self._scores))
        merged = overlaid(_as_part(found, all_rows(len(pairs))), _as_part(_some(new, better), rows[changed[better]]))
        return replace(
            found,
            status=merged.status,
            cut=merged.cut,
            score=merged.score,
            span=merged.span,
            cigar=merged.cigar,
            cigar_start=merged.cigar_start,
        )

    def _broken(self, pairs: PairBatch, found: AlignmentBatch) -> tuple[PairBatch, AlignmentBatch, I32, I32]:
        """Split alignments whose score drops by more than the Z-drop into rows of their own, as parts of split reads.

        Returns:
            The batch and its alignments with these rows, the rows of the pieces (i32[k]), and the spans into which
            the pieces may be extended (i32[k, 4]).
        """
        ends = self._ends
        breaks = ends.zdrop, ends.penalties.gaps[0][1], ends.min_score
        pieces = split_at_drops(pairs, found, breaks, self._scores, self._options)
        if pieces is None:
            return pairs, found, all_rows(0), _whole(pairs.head(0))
        rows, lesser, broken, score, span, cigar, cigar_start, outer = pieces
        span = span.reshape(-1, 4)
        pairs = pairs.subset(rows)
        assert pairs.mapped is not None
        flags = pairs.mapped.sam_flags | np.where(lesser, _SUPPLEMENTARY, 0).astype(np.int32)
        inner = np.where(broken[:, None], span, pairs.mapped.inner).astype(np.int32)
        pairs = replace(pairs, mapped=replace(pairs.mapped, sam_flags=flags, inner=inner))
        columns = {c: getattr(found, c)[rows] for c in ("status", "cut", "origin")}
        found = replace(found, score=score, span=span, cigar=cigar, cigar_start=cigar_start, **columns)
        return pairs, found, np.flatnonzero(broken).astype(np.int32), outer.reshape(-1, 4)

    def _extents(self, pairs: PairBatch, outer: I32, inner: I32) -> I32:
        """Extend spans outwards from `inner`, at most to `outer`, and return the extended spans; all are i32[n, 4]."""
        columns = dict(flank_pairs(pairs, outer, inner))
        side = columns.pop("side")
        extents = inner.copy()
        if not len(side):
            return extents
        flanks = _pairs_of(pairs.ordinal, columns)
        found = self._outward.align(flanks, self._limits)
        query, target = found.span[:, 1], found.span[:, 3]
        rows, right = side >> 1, (side & 1).astype(bool)
        if self._to_the_end:
            assert pairs.mapped is not None
            clip = np.where(right, pairs.mapped.clip_end[rows], pairs.mapped.clip_begin[rows])
            left_over = np.where(right, pairs.q_len[rows] - outer[rows, 1], outer[rows, 0])
            query, target = self._reaching_the_end(flanks, found, clip + left_over == 0)
        for chosen, sign, q, t in ((~right, -1, 0, 2), (right, 1, 1, 3)):
            extents[rows[chosen], q] += sign * query[chosen]
            extents[rows[chosen], t] += sign * target[chosen]
        return extents

    def _reaching_the_end(
        self, flanks: PairBatch, found: AlignmentBatch, at_end: npt.NDArray[np.bool_]
    ) -> tuple[I32, I32]:
        """Return the lengths of extensions on the read and on the reference, in bases (i32[m] each).

        An extension that did not end at a Z-drop continues to the end of the read if that scores more with the bonus.

        Args:
            flanks: the m pairs of the extensions.
            found: their alignments.
            at_end: bool[m], whether the flank reaches the end of the read.
        """
        assert self._to_the_end
        query, target = found.span[:, 1].copy(), found.span[:, 3].copy()
        may = at_end & (found.status == np.uint8(Status.OK)) & (found.cut == 0) & (query < flanks.q_len)
        rows = np.flatnonzero(may)
        if not len(rows):
            return query, target
        whole = self._to_the_end.align(flanks.subset(rows), self._limits)
        better = (whole.status == np.uint8(Status.OK)) & (
            whole.score.astype(np.int64) + self._ends.bonus > found.score[rows]
        )
        query[rows[better]] = flanks.q_len[rows[better]]
        target[rows[better]] = whole.span[better, 3]
        return query, target


class _Solver:
    """A specification with its planner and CPU engine."""

    def __init__(self, spec: AlignSpec, limits: Limits, threads: int, stats: Stats) -> None:
        self.spec, self.engine = spec, CpuEngine(spec, limits, threads, stats=stats)
        self._planner = Planner(spec, limits)

    def align(self, pairs: PairBatch, limits: Limits) -> AlignmentBatch:
        return execute(self.engine, pairs, self._planner.routes(pairs), self._planner, Stats())


def _whole(pairs: PairBatch) -> I32:
    """Return spans (i32[n, 4]) that cover both sequences of each row."""
    spans = np.zeros((len(pairs), 4), np.int32)
    spans[:, 1], spans[:, 3] = pairs.q_len, pairs.t_len
    return spans


def _by_sides(
    differ: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Combine flags of span ends (bool[n, 4]) by side: True for both sequences if either is True."""
    sides = differ[:, [0, 1]] | differ[:, [2, 3]]
    return np.concatenate([sides, sides], axis=1)


def _pairs_of(ordinal: int, columns: dict[str, Any]) -> PairBatch:
    """Build a batch of pairs without names and estimates from native columns."""
    n = len(columns["q_len"])
    places, lengths = np.zeros(n, np.int64), np.zeros(n, np.int32)
    records = Records(np.zeros(0, np.uint8), places, places, lengths, lengths, places)
    return PairBatch(ordinal, est_edits=np.full(n, -1, np.int32), records=records, **columns)


def _between(pairs: PairBatch, spans: I32, align: Align, lend: Lend | None) -> AlignmentBatch:
    """Align parts of rows globally, spans i32[n, 4]; spans of the result are positions in the rows."""
    size = parts_bytes(spans)
    bases = lend(size) if lend else None
    if bases is None:
        bases = np.empty(size, np.uint8)
    q_start, t_start = copy_parts(pairs, spans, bases)
    part = replace(
        pairs,
        bases=bases,
        q_start=q_start,
        t_start=t_start,
        q_len=spans[:, 1] - spans[:, 0],
        t_len=spans[:, 3] - spans[:, 2],
        est_edits=np.full(len(pairs), -1, np.int32),
        extent=None,
    )
    found = align(part)
    offsets = np.where((found.status == np.uint8(Status.OK))[:, None], spans[:, [0, 0, 2, 2]], 0)
    return replace(found, span=found.span + offsets.astype(np.int32))


def _some(found: AlignmentBatch, rows: npt.NDArray[np.signedinteger[Any]]) -> AlignmentBatch:
    """Return the alignments of some rows (i64[m])."""
    first, counts = found.cigar_start[rows], np.diff(found.cigar_start)[rows]
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    at = np.arange(start[-1]) + np.repeat(first - start[:-1], counts)
    columns = {c: getattr(found, c)[rows] for c in ("status", "cut", "score", "span", "origin")}
    return replace(found, cigar=found.cigar[at], cigar_start=start, **columns)


def _as_part(found: AlignmentBatch, rows: I32) -> PartialResult:
    return PartialResult(rows, found.status, found.cut, found.score, found.span, found.cigar, found.cigar_start)
