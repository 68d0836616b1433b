"""Inverted parts of mapped reads: where the score along an alignment drops, and rows of their own for them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._native import inverted_pairs, opposite_reads
from ..config import Ambiguous, Ends, Limits
from ..core.batch import I32, I64, AlignmentBatch, Mapped, PairBatch, Status, all_rows
from ..core.route import Route
from ..core.stats import Stats
from ..engines.extend_cpu import KERNEL, ExtendEngine
from ..scoring.scheme import Scheme
from ..scoring.spec import ExtendMode, ExtendSpec
from .rows import Align, between, pairs_of, room_after, some_rows, whole_spans, with_rows

_REVERSE, _SUPPLEMENTARY = 16, 2048  # SAM FLAG bits
_INVERSION = 1 << 16  # bit of Mapped.sam_flags beside those of SAM: tag tp:A:I (native/mapped/mappings.hpp)


@dataclass(frozen=True)
class Inversions:
    """Inverted parts of m rows of a batch.

    Attributes:
        rows: i32[m], rows of the batch, in order.
        parts: i32[m, 4], spans of the parts in these rows.
        pairs: the reverse complement of each part of the read, and the part of the reference.
        spans: i32[m, 4], what of each pair fits: its best local alignment.
    """

    rows: I32
    parts: I32
    pairs: PairBatch
    spans: I32

    def __len__(self) -> int:
        return len(self.rows)


class InversionFinder:
    """Finds inverted parts by local alignment of the reverse complement, always on the CPU."""

    def __init__(self, ends: Ends, ambiguous: Ambiguous, threads: int, stats: Stats) -> None:
        """Create the finder; its threads start on first use.

        Args:
            ends: scoring scheme, of whose gap costs only the first piece is used, and thresholds.
            ambiguous: how characters other than A C G T U are compared.
            threads: number of threads.
            stats: receives the CPU time of the threads.
        """
        costs = ends.penalties
        n_score = None if costs.ambiguous is None else -costs.ambiguous
        scheme = Scheme.of_scores(costs.match, costs.mismatch, *costs.gaps[0], ambiguous, n_score)
        spec = ExtendSpec(scheme, ExtendMode.LOCAL, score_only=True)
        # Limits of its own, so that results do not depend on the user's.
        self._engines = [
            ExtendEngine(replace(spec, score_only=only), Limits(), threads, stats=stats) for only in (True, False)
        ]
        self._min_score, self._max_length = max(ends.min_score, 1), ends.max_extension
        self._min_length = -(-self._min_score // costs.match)

    def among(self, pairs: PairBatch, rows: I32, parts: I32) -> tuple[I64, Inversions]:
        """Return which parts of rows are inverted (i64[m], in order), and these.

        Args:
            pairs: a batch.
            rows: i32[k], rows of the batch, in order.
            parts: i32[k, 4], spans of parts in these rows.

        Raises:
            Cancelled: after cancel().
        """
        lengths = parts[:, [1, 3]] - parts[:, [0, 2]]
        fits = (lengths.min(axis=1) >= self._min_length) & (lengths.max(axis=1) <= self._max_length)
        which = np.flatnonzero(fits)
        tested = pairs_of(pairs.ordinal, inverted_pairs(pairs, rows[which], np.ascontiguousarray(parts[which])))
        spans: I32 = np.zeros((0, 4), np.int32)
        for engine in self._engines:
            if not len(which):
                break
            found = engine.collect(engine.submit(tested, Route(all_rows(len(which)), KERNEL)))
            good = np.flatnonzero((found.status == np.uint8(Status.OK)) & (found.score >= self._min_score))
            which, tested, spans = which[good], tested.subset(good), found.span[good]
        return which, Inversions(rows[which], parts[which], tested, spans)

    def cancel(self) -> None:
        """Stop running work soon."""
        for engine in self._engines:
            engine.cancel()

    def close(self) -> None:
        """Wait for running work and free all resources."""
        for engine in self._engines:
            engine.close()


def with_inversions(
    pairs: PairBatch, found: AlignmentBatch, inversions: Inversions, align: Align
) -> tuple[PairBatch, AlignmentBatch]:
    """Add a supplementary row on the opposite strand for each inverted part, after the row that it is part of.

    Args:
        pairs: the batch.
        found: its alignments.
        inversions: the inverted parts; inversions.rows are rows of `pairs`.
        align: aligns a batch globally.

    Returns:
        The batch and its alignments with these rows.
    """
    hosts = inversions.rows
    rows, places = room_after(len(pairs), hosts)
    pairs = _with_columns(pairs.subset(rows), places, _inverted(pairs.subset(hosts), inversions))
    new = between(pairs.subset(places), inversions.spans, align)
    return pairs, with_rows(some_rows(found, rows), places, new)


def _inverted(pairs: PairBatch, inversions: Inversions) -> PairBatch:
    """Return the rows of inversions, made of the m rows that they are parts of; bases and text follow the batch's."""
    mapped, records, tested = pairs.mapped, pairs.records, inversions.pairs
    assert mapped is not None
    gap = np.zeros(-len(pairs.bases) % 16, np.uint8)
    at = len(pairs.bases) + len(gap)
    text, read_start, qual = opposite_reads(pairs, all_rows(len(pairs)))

    def shifted(offsets: I64) -> I64:
        return np.where(offsets < 0, -1, offsets + len(records.text))

    parts = inversions.parts
    return replace(
        pairs,
        bases=np.concatenate([pairs.bases, gap, tested.bases]),
        q_start=tested.q_start + at,
        t_start=tested.t_start + at,
        q_len=tested.q_len,
        t_len=tested.t_len,
        records=replace(records, text=np.concatenate([records.text, text]), qual=shifted(qual)),
        mapped=replace(
            mapped,
            t_offset=mapped.t_offset + parts[:, 2],
            read_start=shifted(read_start),
            clip_begin=mapped.clip_end + pairs.q_len - parts[:, 1],
            clip_end=mapped.clip_begin + parts[:, 0],
            sam_flags=(mapped.sam_flags ^ _REVERSE) | (_SUPPLEMENTARY | _INVERSION),
            inner=inversions.spans,
            room=whole_spans(tested),
        ),
    )


def _with_columns(pairs: PairBatch, places: I32, new: PairBatch) -> PairBatch:
    """Return a batch with some rows (i32[m]) replaced by `new`, whose bases and text include the batch's."""
    old = pairs.mapped
    assert old is not None and new.mapped is not None

    def put(before: Any, values: Any) -> Any:
        column = before.copy()
        column[places] = values
        return column

    mapped = {c.name: put(getattr(old, c.name), getattr(new.mapped, c.name)) for c in fields(old)}
    columns = {c: put(getattr(pairs, c), getattr(new, c)) for c in ("q_start", "t_start", "q_len", "t_len")}
    records = replace(pairs.records, text=new.records.text, qual=put(pairs.records.qual, new.records.qual))
    return replace(pairs, bases=new.bases, records=records, mapped=Mapped(**mapped), **columns)
