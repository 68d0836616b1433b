"""Mapped reads split where the score along their alignment drops."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._native import AlignOptions, find_drops, split_at_drops
from ..config import Ambiguous, Ends
from ..core.batch import I32, AlignmentBatch, PairBatch
from ..core.stats import Stats
from .inversions import InversionFinder, Inversions
from .rows import PIECE, subset

_SECONDARY, _SUPPLEMENTARY = 256, 2048  # SAM FLAG bits


@dataclass(frozen=True)
class Split:
    """Rows after splitting alignments.

    Attributes:
        origin: i32[n], the row before that each row is, or is a piece of; in order.
        pieces: i32[k], the rows that are pieces.
        templates: i32[k], their Mapped.first.
        outer: i32[k, 4], spans into which these may be extended.
    """

    origin: I32
    pieces: I32
    templates: I32
    outer: I32


class Splitter:
    """Splits alignments at drops of their score, and finds the inversions there."""

    def __init__(
        self, ends: Ends, ambiguous: Ambiguous, scores: AlignOptions, options: AlignOptions, threads: int, stats: Stats
    ) -> None:
        """Create the splitter; its threads start on first use.

        Args:
            ends: thresholds, and the scoring scheme of inversions.
            ambiguous: how characters other than A C G T U are compared.
            scores: the scheme of extensions, which decides where scores drop.
            options: the scheme of the alignments.
            threads: number of threads.
            stats: gets the time of the threads.
        """
        self._ends, self._scores, self._options = ends, scores, options
        self._finder = InversionFinder(ends, ambiguous, threads, stats) if ends.zdrop_inversion > 0 else None

    def cancel(self) -> None:
        """Stop running work soon."""
        if self._finder:
            self._finder.cancel()

    def close(self) -> None:
        """Wait for running work and free all resources."""
        if self._finder:
            self._finder.close()

    def split(
        self, pairs: PairBatch, found: AlignmentBatch
    ) -> tuple[PairBatch, AlignmentBatch, Split | None, Inversions | None]:
        """Split alignments where their score drops by more than the Z-drop, and at lesser drops with an inversion.

        Returns:
            The batch and its alignments with a row for each piece, which these are, and the inverted parts, by the
            last piece of the alignment that they were part of.
        """
        ends = self._ends
        thresholds = ends.zdrop, ends.zdrop_inversion, ends.penalties.gaps[-1][1]
        rows, run, parts, is_deep = find_drops(found, *thresholds, self._scores)
        if not len(rows):
            return pairs, found, None, None
        assert pairs.mapped is not None
        chosen, inversions = is_deep.astype(bool), None
        if self._finder:
            tested = np.flatnonzero(pairs.mapped.sam_flags[rows] & _SECONDARY == 0)
            which, inversions = self._finder.among(pairs, rows[tested], parts.reshape(-1, 4)[tested])
            chosen[tested[which]] = True
        pairs, found, split = self._split_at(pairs, found, rows[chosen], run.reshape(-1, 2)[chosen])
        if split and inversions:
            last = np.searchsorted(split.origin, inversions.rows, side="right") - 1
            inversions = replace(inversions, rows=last.astype(np.int32))
        return pairs, found, split, inversions

    def _split_at(
        self, pairs: PairBatch, found: AlignmentBatch, rows: I32, run: I32
    ) -> tuple[PairBatch, AlignmentBatch, Split | None]:
        """Split alignments into rows of their own, as parts of split reads.

        Args:
            pairs: the batch.
            found: its alignments.
            rows: i32[m], rows to split, in order.
            run: i32[m, 2], CIGAR elements between which each is split.
        """
        if not len(rows):
            return pairs, found, None
        assert pairs.mapped is not None
        room, least = pairs.mapped.room, self._ends.min_score
        columns = split_at_drops(pairs, found, rows, run.ravel(), room, least, self._scores, self._options)
        rows, is_minor, is_split, score, span, cigar, cigar_start, outer = columns
        span = span.reshape(-1, 4)
        first = pairs.mapped.first
        pairs = subset(pairs, rows)
        assert pairs.mapped is not None
        flags = pairs.mapped.sam_flags | np.where(is_minor, _SUPPLEMENTARY | PIECE, 0).astype(np.int32)
        inner = np.where(is_split[:, None], span, pairs.mapped.inner).astype(np.int32)
        pairs = replace(pairs, mapped=replace(pairs.mapped, sam_flags=flags, inner=inner))
        same = {c: getattr(found, c)[rows] for c in ("status", "cut", "origin")}
        found = replace(found, score=score, span=span, cigar=cigar, cigar_start=cigar_start, **same)
        piece = np.flatnonzero(is_split).astype(np.int32)
        return pairs, found, Split(rows, piece, first[rows[piece]], outer.reshape(-1, 4))
