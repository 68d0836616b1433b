"""Extension of mapped reads beyond the mapped parts, and the alignment of what that changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._native import (
    extend_spans,
    flank_pairs,
    gone_to_the_end,
    parts_bytes,
    path_scores,
    rows_that_differ,
    short_of_the_end,
)
from ..config import WHOLE, AlignSpec, Ends, FreeEnds, Heuristics, Limits, Metric, Mode
from ..core.batch import I32, U8, AlignmentBatch, PairBatch
from ..core.stats import Stats
from ..engines.cpu import CpuEngine, native_options
from ..plan.kernels import TABLE
from .rows import Align, between, pairs_of, some_rows, subset
from .solver import Solver

_FEW = 16  # times the bases of parts that are aligned again on the CPU: at most the bases of the batch


class Outward:
    """Extends spans of rows outwards, and aligns rows again whose spans change.

    Attributes:
        ends: how to extend.
        scores: the scheme of extensions.
        options: the scheme of alignments.
        least: minimum score of a record.
    """

    def __init__(
        self, ends: Ends, spec: AlignSpec, limits: Limits, threads: int, stats: Stats, few_on_cpu: bool = False
    ) -> None:
        """Create it; its threads start on first use. See Extender for the arguments."""
        self.ends, self.least = ends, max(ends.min_score, 1)
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
        self._outward = Solver(outward, limits, threads, stats)
        self._to_the_end = Solver(to_the_end, limits, threads, stats) if ends.bonus else None
        self._again_on_cpu = Solver(spec, limits, threads, stats) if few_on_cpu else None
        self.scores = native_options(outward, limits, TABLE)
        self.options = native_options(spec, limits, TABLE)

    @property
    def engines(self) -> list[CpuEngine]:
        """The engines, which the caller cancels and closes."""
        return [solver.engine for solver in (self._outward, self._to_the_end, self._again_on_cpu) if solver]

    def for_few(self, spans: I32, bases: int, align: Align) -> Align:
        """Return what aligns parts (spans, i32[m, 4]) of a batch of `bases` again: `align`, or the CPU if few."""
        solver = self._again_on_cpu
        if solver is None or _FEW * parts_bytes(spans) > bases:
            return align
        return solver.align

    def better(
        self, pairs: PairBatch, old: AlignmentBatch, extents: I32, bases: int, align: Align
    ) -> tuple[I32, AlignmentBatch]:
        """Align rows of a batch of `bases` again whose span changes to `extents` (i32[n, 4]).

        Returns:
            The rows (i32[m]) whose new alignment scores more, and these alignments.
        """
        changed = rows_that_differ(old.span, extents)
        if not len(changed):
            return changed, some_rows(old, changed)
        spans = np.ascontiguousarray(extents[changed])
        new = between(subset(pairs, changed), spans, self.for_few(spans, bases, align))
        # An extension that starts further inside may have ended earlier, at a Z-drop.
        before = path_scores(some_rows(old, changed), self.scores)
        better = np.flatnonzero(path_scores(new, self.scores) > before)
        return changed[better], some_rows(new, better)

    def extents(self, pairs: PairBatch, outer: I32, inner: I32) -> I32:
        """Extend spans outwards from `inner`, at most to `outer`, and return the extended spans; all are i32[n, 4]."""
        columns = dict(flank_pairs(pairs, outer, inner))
        side, at_end = columns.pop("side"), columns.pop("at_end")
        extents = inner.copy()
        if not len(side):
            return extents
        flanks = pairs_of(pairs.ordinal, columns)
        found = self._outward.align(flanks)
        span = found.span
        if self._to_the_end:
            span = self._reaching_the_end(flanks, found, at_end, self._to_the_end)
        extend_spans(extents, side, span)
        return extents

    def _reaching_the_end(self, flanks: PairBatch, found: AlignmentBatch, at_end: U8, solver: Solver) -> I32:
        """Return the spans of extensions on the read and on the reference, i32[m, 4].

        An extension that did not end at a Z-drop continues to the end of the read if that scores more with the bonus.

        Args:
            flanks: the m pairs of the extensions.
            found: their alignments.
            at_end: u8[m], whether the flank reaches the end of the read.
            solver: aligns to the end.
        """
        rows = short_of_the_end(found, at_end, flanks.q_len)
        if not len(rows):
            return found.span
        ending = subset(flanks, rows)
        return gone_to_the_end(found, rows, solver.align(ending), ending.q_len, self.ends.bonus)
