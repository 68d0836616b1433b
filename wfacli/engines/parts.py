"""Merging of partial results of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._native import gather_parts
from ..core.batch import AlignmentBatch, PairBatch, PartialResult, all_rows, is_all_rows, zeros


def gather(
    parts: Sequence[PartialResult], origins: Sequence[int], pairs: PairBatch, kernels: tuple[str, ...]
) -> AlignmentBatch:
    """Merge partial results of a batch; for a row that is in several, the last one counts.

    Args:
        parts: results that together cover every row.
        origins: for each part, the index in `kernels` of the kernel that aligned it.
        pairs: the batch.
        kernels: names of the kernels.
    """
    n = len(pairs)
    if len(parts) == 1 and is_all_rows(parts[0].rows, n):
        only = parts[0]
        origin = np.full(n, origins[0], np.uint8) if origins[0] else zeros(n)
        return AlignmentBatch(
            pairs.ordinal, only.status, only.cut, only.score, only.span, only.cigar, only.cigar_start, origin, kernels
        )
    status, cut, score, span, cigar, start, origin = gather_parts(parts, origins, n)
    return AlignmentBatch(pairs.ordinal, status, cut, score, span.reshape(-1, 4), cigar, start, origin, kernels)


def overlaid(found: PartialResult, again: PartialResult) -> PartialResult:
    """Return `found` with the rows of `again`, which must be a subset of its rows, replaced."""
    count = len(found.rows)
    if is_all_rows(found.rows, count):
        places = again.rows
    else:
        order = np.argsort(found.rows, kind="stable")
        places = order[np.searchsorted(found.rows, again.rows, sorter=order)].astype(np.int32)
    parts = [replace(found, rows=all_rows(count)), replace(again, rows=places)]
    status, cut, score, span, cigar, start, _ = gather_parts(parts, [0, 0], count)
    return PartialResult(found.rows, status, cut, score, span.reshape(-1, 4), cigar, start)
