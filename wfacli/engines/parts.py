"""Answers for parts of a batch, put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._native import gather_parts
from ..batch import AlignmentBatch, PairBatch, PartialResult, is_every_row


def gather(
    parts: Sequence[PartialResult], origins: Sequence[int], pairs: PairBatch, kernels: tuple[str, ...]
) -> AlignmentBatch:
    """Puts results of parts of a batch together; where a row is in several, the last one counts.

    Args:
        parts: results that cover every row between them.
        origins: for each part, the kernel that made it, as an index into kernels.
        pairs: the batch.
        kernels: names of kernels.
    """
    n = len(pairs)
    if len(parts) == 1 and is_every_row(parts[0].rows, n):
        only = parts[0]
        origin = np.full(n, origins[0], np.uint8)
        return AlignmentBatch(
            pairs.ordinal, only.status, only.cut, only.score, only.span, only.cigar, only.cigar_start, origin, kernels
        )
    status, cut, score, span, cigar, start, origin = gather_parts(parts, origins, n)
    return AlignmentBatch(pairs.ordinal, status, cut, score, span.reshape(-1, 4), cigar, start, origin, kernels)
