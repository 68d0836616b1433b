"""Ends of mapped reads: extension beyond the mapped parts, and the breakpoints between parts of split reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from .._native import find_drops, flank_pairs, path_scores, split_at_drops, trim_overlaps, unreliable_ends
from ..config import WHOLE, AlignSpec, Ends, FreeEnds, Heuristics, Limits, Metric, Mode
from ..core.batch import I32, AlignmentBatch, PairBatch, Status, all_rows
from ..core.stats import Stats
from ..engines.cpu import CpuEngine, native_options
from ..engines.execute import execute
from ..plan.kernels import TABLE
from ..plan.planner import Planner
from .inversions import InversionFinder, Inversions, with_inversions
from .parts import Align, Lend, between, pairs_of, some_rows, with_rows

_SECONDARY, _SUPPLEMENTARY = 256, 2048  # SAM FLAG bits
DOUBTFUL = 1_000  # bases from either end within which a mapped end may be unreliable


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
        inverts = ends.zdrop_inversion > 0
        self._inversions = InversionFinder(ends, spec.ambiguous, threads, stats) if inverts else None
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
        found = between(pairs, self._extents(pairs, whole, inner), align, lend)
        rows, sure = unreliable_ends(found, inner, self._scores, DOUBTFUL)
        if len(rows):
            sure = sure.reshape(-1, 4)
            doubtful = _by_sides(sure != found.span[rows])
            found = self._again(pairs, found, rows, np.where(doubtful, whole[rows], found.span[rows]), sure, align)
        pairs, found, split = self._split(pairs, found)
        if len(split.rows):
            found = self._again(pairs, found, split.rows, split.outer, found.span[split.rows], align)
        if split.inversions:
            pairs, found = with_inversions(pairs, found, split.inversions, align)
        assert pairs.mapped is not None
        met = trim_overlaps(pairs, found, pairs.mapped.inner, self._scores, self._options)
        if met is None:
            return pairs, found
        score, span, cigar, cigar_start = met
        return pairs, replace(found, score=score, span=span.reshape(-1, 4), cigar=cigar, cigar_start=cigar_start)

    def cancel(self) -> None:
        """Stop running work soon."""
        for engine in self._engines:
            engine.cancel()

    def close(self) -> None:
        """Wait for running work and free all resources."""
        for engine in self._engines:
            engine.close()

    @property
    def _engines(self) -> list[CpuEngine | InversionFinder]:
        solvers = [solver.engine for solver in (self._outward, self._to_the_end) if solver]
        return [*solvers, self._inversions] if self._inversions else [*solvers]

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
        new = between(some.subset(changed), np.ascontiguousarray(extents[changed]), align)
        # An extension that starts further inside may have ended earlier, at a Z-drop.
        old = some_rows(found, rows[changed])
        better = np.flatnonzero(path_scores(new, self._scores) > path_scores(old, self._scores))
        return with_rows(found, rows[changed[better]], some_rows(new, better))

    def _split(self, pairs: PairBatch, found: AlignmentBatch) -> tuple[PairBatch, AlignmentBatch, _Split]:
        """Split alignments at drops of the score into rows of their own, as parts of split reads.

        Drops that exceed the Z-drop, and lesser ones at inversions.

        Returns:
            The batch and its alignments with these rows, and which are pieces.
        """
        ends = self._ends
        thresholds = ends.zdrop, ends.zdrop_inversion, ends.penalties.gaps[-1][1]
        rows, run, parts, is_deep = find_drops(found, *thresholds, self._scores)
        if not len(rows):
            return pairs, found, _Split()
        assert pairs.mapped is not None
        parts, split = parts.reshape(-1, 4), is_deep.astype(bool)
        inversions = None
        if self._inversions:
            tested = np.flatnonzero(pairs.mapped.sam_flags[rows] & _SECONDARY == 0)
            which, inversions = self._inversions.among(pairs, rows[tested], parts[tested])
            split[tested[which]] = True
        if not split.any():
            return pairs, found, _Split()
        pieces = split_at_drops(
            pairs,
            found,
            rows[split],
            run.reshape(-1, 2)[split].ravel(),
            ends.min_score,
            self._scores,
            self._options,
        )
        rows, is_minor, is_split, score, span, cigar, cigar_start, outer = pieces
        span = span.reshape(-1, 4)
        pairs = pairs.subset(rows)
        assert pairs.mapped is not None
        flags = pairs.mapped.sam_flags | np.where(is_minor, _SUPPLEMENTARY, 0).astype(np.int32)
        inner = np.where(is_split[:, None], span, pairs.mapped.inner).astype(np.int32)
        pairs = replace(pairs, mapped=replace(pairs.mapped, sam_flags=flags, inner=inner))
        columns = {c: getattr(found, c)[rows] for c in ("status", "cut", "origin")}
        found = replace(found, score=score, span=span, cigar=cigar, cigar_start=cigar_start, **columns)
        if inversions:
            last = np.searchsorted(rows, inversions.rows, side="right") - 1
            inversions = replace(inversions, rows=last.astype(np.int32))
        return pairs, found, _Split(np.flatnonzero(is_split).astype(np.int32), outer.reshape(-1, 4), inversions)

    def _extents(self, pairs: PairBatch, outer: I32, inner: I32) -> I32:
        """Extend spans outwards from `inner`, at most to `outer`, and return the extended spans; all are i32[n, 4]."""
        columns = dict(flank_pairs(pairs, outer, inner))
        side = columns.pop("side")
        extents = inner.copy()
        if not len(side):
            return extents
        flanks = pairs_of(pairs.ordinal, columns)
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


@dataclass(frozen=True)
class _Split:
    """Pieces of split alignments.

    Attributes:
        rows: i32[k], their rows.
        outer: i32[k, 4], spans into which they may be extended.
        inversions: inverted parts, by the last piece of the alignment that they were part of; None if there are none.
    """

    rows: I32 = field(default_factory=lambda: all_rows(0))
    outer: I32 = field(default_factory=lambda: np.zeros((0, 4), np.int32))
    inversions: Inversions | None = None


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
