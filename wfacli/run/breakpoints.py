"""Breakpoints of split reads: where their parts meet, and what a part extends into that others have left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._native import freed_ends, limits_from_mapped, trim_overlaps
from ..core.batch import I32, AlignmentBatch, PairBatch, all_rows
from .outward import Outward
from .rows import Align, some_rows, subset, with_rows

_ROUNDS = 4  # maximum extensions beyond the room of a part; each may make another part superfluous


class Breakpoints:
    """Trims parts of split reads where they overlap, and extends them into what others have left."""

    def __init__(self, outward: Outward) -> None:
        """Take what extends rows."""
        self._outward = outward

    def trimmed(self, pairs: PairBatch, found: AlignmentBatch, align: Align) -> tuple[PairBatch, AlignmentBatch]:
        """Trim overlaps of parts, and leave out parts that add nothing.

        A part first extends only some way into others. Where these are left out then, or align less of the read than
        was mapped, it is extended again, up to the next part.

        Args:
            pairs: the batch.
            found: its alignments.
            align: aligns a batch globally.
        """
        pairs, found = self._met(pairs, found, all_rows(len(pairs)), align)
        for _ in range(_ROUNDS):
            pairs, found, changed = self._into_freed(pairs, found, align)
            if not len(changed):
                break
            pairs, found = self._met(pairs, found, changed, align)  # parts on either side may overlap now
        return pairs, found

    def _met(
        self, pairs: PairBatch, found: AlignmentBatch, rows: I32, align: Align
    ) -> tuple[PairBatch, AlignmentBatch]:
        """Trim overlaps in the reads of some rows (i32[m], in order)."""
        assert pairs.mapped is not None
        spans, worth = (pairs.mapped.inner, pairs.mapped.room), (self._outward.least, self._outward.ends.bonus)
        met = trim_overlaps(pairs, found, *spans, rows, *worth, self._outward.scores, self._outward.options)
        if met is None:
            return pairs, found
        kept, score, span, cigar, cigar_start, cut, reach = met
        if len(kept) < len(pairs):
            pairs, found = subset(pairs, kept), some_rows(found, kept)
        found = replace(found, score=score, span=span.reshape(-1, 4), cigar=cigar, cigar_start=cigar_start)
        # The best path up to a cut need not be a part of the best path beyond it.
        found, _ = self._extended(pairs, found, cut, reach.reshape(-1, 4), align)
        return pairs, found

    def _into_freed(
        self, pairs: PairBatch, found: AlignmentBatch, align: Align
    ) -> tuple[PairBatch, AlignmentBatch, I32]:
        """Extend ends beyond their room where no other part aligns the bases there.

        Returns:
            The batch, with the room that there was, its alignments, and the rows that have changed (i32[m], in order).
        """
        assert pairs.mapped is not None
        room = pairs.mapped.room
        rows, reach = freed_ends(pairs, found, room)
        if not len(rows):
            return pairs, found, rows
        reach = reach.reshape(-1, 4)
        found, changed = self._extended(pairs, found, rows, reach, align)
        room, before = room.copy(), room[rows]
        begins, ends = np.minimum(before, reach), np.maximum(before, reach)
        room[rows] = np.where([True, False, True, False], begins, ends)
        return replace(pairs, mapped=replace(pairs.mapped, room=room)), found, changed

    def _extended(
        self, pairs: PairBatch, found: AlignmentBatch, rows: I32, reach: I32, align: Align
    ) -> tuple[AlignmentBatch, I32]:
        """Extend ends again from the mapped parts on, where that scores more.

        Args:
            pairs: the batch.
            found: its alignments.
            rows: i32[k], rows to extend, in order.
            reach: i32[k, 4], how far; ends that are there already stay.
            align: aligns a batch globally.

        Returns:
            The alignments, and the rows that have changed (i32[m], in order).
        """
        part, old = subset(pairs, rows), some_rows(found, rows)
        assert part.mapped is not None
        inner, outer = limits_from_mapped(old.span, part.mapped.inner, reach)
        extents = self._outward.extents(part, outer, inner)
        changed, new = self._outward.better(part, old, extents, pairs.total_bases, align)
        changed = rows[changed]
        return (with_rows(found, changed, new) if len(changed) else found), changed
