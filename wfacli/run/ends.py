"""Ends of mapped reads: extension beyond the mapped parts, and where parts of split reads meet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._native import (
    extension_limits,
    good_parts,
    merged_rows,
    missed_parts,
    outer_ends,
    path_parts,
    path_scores,
    unreliable_ends,
)
from ..config import AlignSpec, Ends, Limits
from ..core.batch import I32, I64, U8, U32, AlignmentBatch, PairBatch, all_rows
from ..core.stats import Stats
from ..engines.cpu import CpuEngine
from .breakpoints import Breakpoints
from .inversions import with_inversions
from .outward import Outward
from .rows import PIECE, Align, Lend, are_apart, between, room_after, some_rows, subset, with_flags, with_rows
from .secondaries import with_promoted
from .splits import Split, Splitter

_SUPPLEMENTARY = 2048  # SAM FLAG bit
# Aligned bases from either end within which a mapped end may be unreliable. minimap2 counts 1,000 from its first seed.
DOUBTFUL = 1_040
_ROUNDS = 4  # maximum extensions from further inside; the second one changes few alignments


class Extender:
    """Extends alignments of mapped reads at both ends, splits them at Z-drops, and trims overlapping parts.

    Extensions use scores of their own and always run on the CPU. The sequence between two ends is aligned globally by
    the run's engine, so results do not depend on the engine.
    """

    def __init__(
        self, ends: Ends, spec: AlignSpec, limits: Limits, threads: int, stats: Stats, few_on_cpu: bool = False
    ) -> None:
        """Create the extender; its threads start on first use.

        Args:
            ends: how to extend.
            spec: how the sequences between the ends are aligned.
            limits: bounds on memory.
            threads: number of threads.
            stats: gets the time of the threads.
            few_on_cpu: align a few rows of a batch again on the CPU, with the same results: the run's engine may be a
                GPU, where they would wait for whole batches.
        """
        self._outward = Outward(ends, spec, limits, threads, stats, few_on_cpu)
        self._ends, self._least = ends, self._outward.least
        self._scores, self._options = self._outward.scores, self._outward.options
        self._breakpoints = Breakpoints(self._outward)
        self._splitter = Splitter(ends, spec.ambiguous, self._scores, self._options, threads, stats)

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
        found = between(pairs, self._outward.extents(pairs, pairs.mapped.room, pairs.mapped.inner), align, lend)
        pairs, found, split, inversions = self._splitter.split(pairs, found)
        count = len(pairs)
        pairs, found, origin = self._until_sure(pairs, found, split, align)
        templates = split.templates if split else all_rows(0)
        if len(pairs) > count:
            assert pairs.mapped is not None
            parts = np.flatnonzero(origin[1:] == origin[:-1]) + 1
            templates = np.concatenate([templates, pairs.mapped.first[parts]])
        if inversions:
            hosts = (np.searchsorted(origin, inversions.rows, side="right") - 1).astype(np.int32)
            few = self._outward.for_few(inversions.spans, pairs.total_bases, align)
            pairs, found = with_inversions(pairs, found, replace(inversions, rows=hosts), few)
        if len(templates):
            pairs = with_promoted(pairs, found, templates, self._least, self._scores)
        return self._breakpoints.trimmed(pairs, found, align)

    def cancel(self) -> None:
        """Stop running work soon."""
        for engine in self._engines:
            engine.cancel()

    def close(self) -> None:
        """Wait for running work and free all resources."""
        for engine in self._engines:
            engine.close()

    @property
    def _engines(self) -> list[CpuEngine | Splitter]:
        return [self._splitter, *self._outward.engines]

    def _until_sure(
        self, pairs: PairBatch, found: AlignmentBatch, split: Split | None, align: Align
    ) -> tuple[PairBatch, AlignmentBatch, I32]:
        """Extend pieces of split alignments, and doubtful ends until they are reliable or score no more.

        Returns:
            The batch and its alignments, and the row before (i32[n]) that each row is or is a part of, in order.
        """
        no_spans = np.zeros((0, 4), np.int32)
        pieces, outer = (split.pieces, split.outer) if split else (all_rows(0), no_spans)
        opened, tested, origin = pieces, all_rows(len(pairs)), all_rows(len(pairs))
        for _ in range(_ROUNDS):
            pairs, found, after, tested = self._again(pairs, found, (pieces, outer), opened, tested, align)
            origin = origin[after]
            if not len(tested):
                break
            pieces, opened = np.searchsorted(after, pieces).astype(np.int32), all_rows(0)
        return pairs, found, origin

    def _again(
        self, pairs: PairBatch, found: AlignmentBatch, limits: tuple[I32, I32], opened: I32, tested: I32, align: Align
    ) -> tuple[PairBatch, AlignmentBatch, I32, I32]:
        """Extend ends from where they are, and doubtful ones from reliable places inside them.

        An end at which the path loses is extended from behind what loses, too, if that does not change it.

        Args:
            pairs: the batch.
            found: its alignments.
            limits: i32[k], i32[k, 4], rows that may be extended into these spans only.
            opened: i32[l], rows to extend in any case.
            tested: i32[m], rows whose ends may be doubtful.
            align: aligns a batch globally.

        Returns:
            See _from_inside.
        """
        few = found if len(tested) == len(pairs) else some_rows(found, tested)
        at, reliable, nearer = unreliable_ends(pairs, tested, few, self._scores, DOUBTFUL)
        doubted, reliable, nearer = tested[at], reliable.reshape(-1, 4), nearer.reshape(-1, 4)
        losing = (nearer != some_rows(few, at).span).any(axis=1) & (nearer != reliable).any(axis=1)
        pairs, found, after, changed = self._from_inside(pairs, found, limits, opened, doubted, reliable, align)
        rows = np.searchsorted(after, doubted[losing]).astype(np.int32)
        same = ~np.isin(rows, changed, kind="table")  # otherwise np.isin imports numpy.ma
        if not same.any():
            return pairs, found, after, changed
        limits, none = (np.searchsorted(after, limits[0]).astype(np.int32), limits[1]), all_rows(0)
        nearer = np.ascontiguousarray(nearer[losing][same])
        pairs, found, second, again = self._from_inside(pairs, found, limits, none, rows[same], nearer, align)
        return pairs, found, after[second], merged_rows(np.searchsorted(second, changed).astype(np.int32), again)

    def _from_inside(
        self,
        pairs: PairBatch,
        found: AlignmentBatch,
        limits: tuple[I32, I32],
        opened: I32,
        doubted: I32,
        reliable: I32,
        align: Align,
    ) -> tuple[PairBatch, AlignmentBatch, I32, I32]:
        """Extend ends from where they are, or from inside them.

        Rows whose ends change are aligned again, and a new alignment replaces the old one if it scores more. A good
        part of the old one that it leaves out gets a row of its own, or what is mapped there.

        Args:
            pairs: the batch.
            found: its alignments.
            limits: i32[k], i32[k, 4], rows that may be extended into these spans only.
            opened: i32[l], rows to extend in any case.
            doubted: i32[m], rows to extend from further inside.
            reliable: i32[m, 4], from these spans.
            align: aligns a batch globally.

        Returns:
            The batch and its alignments, the row before (i32[n]) that each row is or is a part of, in order, and the
            rows with a new alignment. All rows are in order.
        """
        rows = merged_rows(doubted, opened)
        if not len(rows):
            return pairs, found, all_rows(len(pairs)), rows
        old, part = some_rows(found, rows), subset(pairs, rows)
        assert part.mapped is not None
        sure, outer, limit = extension_limits(part.mapped.room, rows, old.span, doubted, reliable, opened, *limits)
        extents = self._outward.extents(part, outer, sure)
        # Seeds of the mapper are in these parts, so they are at their places, although a gap costs more.
        score, matches, run = outer_ends(old, extents, self._scores)
        long, flags = self._ends.band * 2 // 3, part.mapped.sam_flags
        good = good_parts(score, matches, flags, self._least, long, old.span, extents).reshape(-1, 2)
        changed, new = self._outward.better(part, old, extents, pairs.total_bases, align)
        if not len(changed):
            return pairs, found, all_rows(len(pairs)), changed
        before, good = some_rows(old, changed), good[changed]
        score, run = score.reshape(-1, 2)[changed], run.reshape(-1, 2, 2)[changed]
        new = self._unless_poor(before, new, score, run, good)
        sides, missed = self._missed(subset(part, changed), new, limit[changed], pairs.total_bases, align)
        better = np.flatnonzero(
            (good.ravel()[sides] == 0) | (path_scores(missed, self._scores) >= score.ravel()[sides])
        )
        sides, missed = sides[better], some_rows(missed, better)
        good.ravel()[sides] = 0
        own, side = np.nonzero(good)
        parts = path_parts(before, own.astype(np.int32), run[own, side].ravel(), self._options)
        mapped = part.mapped.inner[changed]
        found = with_rows(found, rows[changed], new)
        pairs = with_flags(pairs, rows[changed], np.where(are_apart(new.span, mapped), PIECE, 0))
        flags = np.where(are_apart(parts[1].reshape(-1, 4), mapped[own]), PIECE, 0)
        pairs, found, first = self._with_parts(pairs, found, rows[changed[own]], flags, *parts)
        hosts = np.searchsorted(first, rows[changed[sides // 2]]).astype(np.int32)
        columns = missed.score, missed.span, missed.cigar, missed.cigar_start
        pairs, found, second = self._with_parts(pairs, found, hosts, np.zeros(len(hosts), np.int32), *columns)
        after = first[second]
        return pairs, found, after, np.searchsorted(after, rows[changed]).astype(np.int32)

    def _unless_poor(self, old: AlignmentBatch, new: AlignmentBatch, score: I64, run: I32, good: U8) -> AlignmentBatch:
        """Return new alignments; one with too low a score may be the best part of the old one beside it.

        It is if no part of the new alignment scores more than that one.

        Args:
            old: the n alignments before.
            new: the alignments.
            score: i64[n, 2], of the best part of the old one on either side.
            run: i32[n, 2, 2], its CIGAR elements.
            good: u8[n, 2], whether it gets a row of its own: set to 0 if it is the alignment now.
        """
        poor = np.flatnonzero(path_scores(new, self._scores) < self._least).astype(np.int32)
        parts = some_rows(new, poor)
        own, _, _ = outer_ends(parts, np.ascontiguousarray(parts.span[:, [1, 1, 3, 3]]), self._scores)
        poor = poor[score[poor].max(axis=1) >= np.maximum(own[::2], 1)]
        if not len(poor):
            return new
        side = score[poor].argmax(axis=1)
        good[poor, side] = 0
        scores, spans, cigar, cigar_start = path_parts(old, poor, run[poor, side].ravel(), self._options)
        parts = replace(
            some_rows(new, poor), score=scores, span=spans.reshape(-1, 4), cigar=cigar, cigar_start=cigar_start
        )
        return with_rows(new, poor, parts)

    def _missed(
        self, pairs: PairBatch, beside: AlignmentBatch, limit: I32, bases: int, align: Align
    ) -> tuple[I32, AlignmentBatch]:
        """Align mapped parts again that are beside an alignment, up to it.

        In a tandem duplication an end extended from further inside may be behind the first copy, which the mapper
        found. The path before goes through both copies, and what it loses may score too little for a record, because
        its long gap is within the first copy.

        Args:
            pairs: n rows.
            beside: their alignments.
            limit: i32[n, 4], what they may be extended into.
            bases: bases of the batch of which these are rows.
            align: aligns a batch globally.

        Returns:
            The sides (i32[m], 2 * row + side, in order) with such a part that has the minimum score of a record, and
            its alignments.
        """
        assert pairs.mapped is not None
        inner, flags = pairs.mapped.inner, pairs.mapped.sam_flags
        bases_of_record = -(-self._least // self._ends.penalties.match)
        sides, core, room = missed_parts(inner, beside.span, limit, flags, bases_of_record)
        if not len(sides):
            return sides, some_rows(beside, sides)
        parts = subset(pairs, sides // 2)
        extents = self._outward.extents(parts, room, core)
        aligned = np.flatnonzero((extents[:, 0] < extents[:, 1]) & (extents[:, 2] < extents[:, 3])).astype(np.int32)
        extents = np.ascontiguousarray(extents[aligned])
        found = between(subset(parts, aligned), extents, self._outward.for_few(extents, bases, align))
        good = np.flatnonzero(path_scores(found, self._scores) >= self._least)
        return sides[aligned[good]], some_rows(found, good)

    def _with_parts(
        self,
        pairs: PairBatch,
        found: AlignmentBatch,
        hosts: I32,
        bits: I32,
        score: I32,
        span: I32,
        cigar: U32,
        cigar_start: I64,
    ) -> tuple[PairBatch, AlignmentBatch, I32]:
        """Add parts of former alignments as supplementary rows, each after its row (hosts, i32[m], in order).

        They get further flags (bits, i32[m]).

        Returns:
            The batch and its alignments, and the row before (i32[n]) that each row is or is a part of, in order.
        """
        rows, places = room_after(len(pairs), hosts)
        if not len(hosts):
            return pairs, found, rows
        pairs, found = subset(pairs, rows), some_rows(found, rows)
        assert pairs.mapped is not None
        parts = replace(
            some_rows(found, places), score=score, span=span.reshape(-1, 4), cigar=cigar, cigar_start=cigar_start
        )
        found = with_rows(found, places, parts)
        mapped = pairs.mapped
        flags, inner = mapped.sam_flags.copy(), mapped.inner.copy()
        flags[places] = flags[places] & ~PIECE | _SUPPLEMENTARY | bits
        for own in (places, places - 1):
            inner[own] = found.span[own]
        return replace(pairs, mapped=replace(mapped, sam_flags=flags, inner=inner)), found, rows
