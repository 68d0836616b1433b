"""Secondary rows of split reads that nothing else aligns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._native import AlignOptions, opposite_reads, uncovered_secondaries
from ..core.batch import I32, I64, AlignmentBatch, PairBatch

_REVERSE, _SECONDARY, _SUPPLEMENTARY = 16, 256, 2048  # SAM FLAG bits


def with_promoted(
    pairs: PairBatch, found: AlignmentBatch, templates: I32, least: int, scores: AlignOptions
) -> PairBatch:
    """Make secondary rows supplementary if less than half of what they align is in other rows of the read.

    The mapper calls a part secondary that lies inside a better one; after that one was split, it may not.

    Args:
        pairs: the batch.
        found: its alignments.
        templates: i32[k], Mapped.first of reads with split alignments, the only ones that change.
        least: minimum score of supplementary rows that count for a row that has it.
        scores: the scheme of these scores.

    Returns:
        The batch with other flags, and with the sequences and qualities of these rows.
    """
    rows, hosts = uncovered_secondaries(pairs, found, least, scores)
    mapped, records = pairs.mapped, pairs.records
    assert mapped is not None
    chosen = np.isin(mapped.first[rows], templates, kind="table")  # otherwise np.isin imports numpy.ma
    rows, hosts = rows[chosen], hosts[chosen]
    if not len(rows):
        return pairs
    flags, read_start, qual = mapped.sam_flags.copy(), mapped.read_start.copy(), records.qual.copy()
    text, opposite_start, opposite_qual = opposite_reads(pairs, hosts)
    same = (flags[rows] ^ flags[hosts]) & _REVERSE == 0

    def put(column: I64, opposite: I64) -> None:
        moved = np.where(opposite < 0, -1, opposite + len(records.text))
        column[rows] = np.where(same, column[hosts], moved)

    put(read_start, opposite_start)
    put(qual, opposite_qual)
    flags[rows] = flags[rows] & ~_SECONDARY | _SUPPLEMENTARY
    return replace(
        pairs,
        records=replace(records, text=np.concatenate([records.text, text]), qual=qual),
        mapped=replace(mapped, sam_flags=flags, read_start=read_start),
    )
