"""Parts of the rows of a batch: pairs, alignments of parts, and alignments of some rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import copy_parts, parts_bytes, spans_in_rows, take_cigars, take_rows, total_and_longest
from .._native import whole_spans as spans_of
from ..core.batch import (
    I32,
    U8,
    AlignmentBatch,
    Lengths,
    PairBatch,
    PartialResult,
    Records,
    all_rows,
    no_edits,
    no_text,
)
from ..engines.parts import overlaid

Align = Callable[[PairBatch], AlignmentBatch]
Lend = Callable[[int], U8 | None]
_COLUMNS = ("status", "cut", "score", "span", "origin")
_NEAR = 64  # diagonals by which errors shift an alignment within what is mapped
PIECE = 1 << 17  # bit of Mapped.sam_flags beside those of SAM: the mapper has no mapping (native/mapped/mappings.hpp)


def pairs_of(ordinal: int, columns: Mapping[str, Any]) -> PairBatch:
    """Build a batch of pairs without names and estimates from native columns."""
    n = len(columns["q_len"])
    places, lengths = no_text(n)
    records = Records(np.zeros(0, np.uint8), places, places, lengths, lengths, places)
    return PairBatch(ordinal, est_edits=no_edits(n), records=records, **columns)


def between(pairs: PairBatch, spans: I32, align: Align, lend: Lend | None = None) -> AlignmentBatch:
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
        est_edits=no_edits(len(pairs)),
        extent=None,
    )
    found = align(measured(part))
    return replace(found, span=spans_in_rows(found, spans))


def measured(pairs: PairBatch) -> PairBatch:
    """Return the batch, whose lengths are known then. numpy would release the GIL for each of their sums."""
    if "lengths" not in pairs.__dict__:
        pairs.__dict__["lengths"] = Lengths(*total_and_longest(pairs.q_len, pairs.t_len))
    return pairs


def whole_spans(pairs: PairBatch) -> I32:
    """Return spans (i32[n, 4]) that cover both sequences of each row."""
    return spans_of(pairs.q_len, pairs.t_len)


def taken(columns: Sequence[npt.NDArray[Any]], rows: I32) -> list[npt.NDArray[Any]]:
    """Return rows (i32[m]) of columns, copied while other threads run: indexing by numpy keeps them waiting."""
    found = [np.empty((len(rows), *column.shape[1:]), column.dtype) for column in columns]
    take_rows([np.ascontiguousarray(column) for column in columns], rows, found)
    return found


def subset(pairs: PairBatch, rows: I32) -> PairBatch:
    """Return PairBatch.subset(rows) without keeping other threads waiting."""
    return pairs.taken_by(lambda columns: taken(columns, rows))


def some_rows(found: AlignmentBatch, rows: npt.NDArray[np.signedinteger[Any]]) -> AlignmentBatch:
    """Return the alignments of some rows (i64[m]), which may repeat."""
    rows = rows.astype(np.int32, copy=False)
    cigar, start = take_cigars(found.cigar, found.cigar_start, rows)
    columns: dict[str, Any] = dict(zip(_COLUMNS, taken([getattr(found, c) for c in _COLUMNS], rows), strict=True))
    return replace(found, cigar=cigar, cigar_start=start, **columns)


def with_rows(found: AlignmentBatch, rows: I32, new: AlignmentBatch) -> AlignmentBatch:
    """Return `found` with some rows (i32[m]) replaced by `new`."""
    merged = overlaid(_as_part(found, all_rows(len(found.status))), _as_part(new, rows))
    return replace(
        found,
        status=merged.status,
        cut=merged.cut,
        score=merged.score,
        span=merged.span,
        cigar=merged.cigar,
        cigar_start=merged.cigar_start,
    )


def are_apart(span: I32, mapped: I32) -> npt.NDArray[np.bool_]:
    """Return which spans (i32[n, 4]) have no query base of mapped parts (i32[n, 4]), or none of their diagonals."""
    (low, high), (mapped_low, mapped_high) = (np.sort(s[:, 2:] - s[:, :2], axis=1).T for s in (span, mapped))
    on_query = (span[:, 1] <= mapped[:, 0]) | (span[:, 0] >= mapped[:, 1])
    apart: npt.NDArray[np.bool_] = on_query | (low > mapped_high + _NEAR) | (high < mapped_low - _NEAR)
    return apart


def with_flags(pairs: PairBatch, rows: I32, bits: I32) -> PairBatch:
    """Return the batch with further flags (bits, i32[m]) of rows (i32[m])."""
    assert pairs.mapped is not None
    if not bits.any():
        return pairs
    flags = pairs.mapped.sam_flags.copy()
    flags[rows] |= bits
    return replace(pairs, mapped=replace(pairs.mapped, sam_flags=flags))


def room_after(count: int, hosts: I32) -> tuple[I32, I32]:
    """Return which of `count` rows to take so that new ones follow `hosts` (i32[m], in order), and the new rows."""
    if not len(hosts):
        return all_rows(count), all_rows(0)
    rows = np.insert(all_rows(count), hosts + 1, hosts)
    return rows, (hosts + 1 + np.arange(len(hosts))).astype(np.int32)


def _as_part(found: AlignmentBatch, rows: I32) -> PartialResult:
    return PartialResult(rows, found.status, found.cut, found.score, found.span, found.cigar, found.cigar_start)
