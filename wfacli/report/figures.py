"""Figures of a run: histograms over its records, which are collected batch by batch in memory of fixed size."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np

from .._native import BatchFigures, Reference
from ..core.batch import I32, I64
from .depth import Depth


class Sum(enum.IntEnum):
    """Indexes of Figures.sums; each counts what native/format/figures.hpp says."""

    READS = 0
    ALIGNED = 1
    EMPTY = 2
    ALIGNED_BASES = 3
    CLIPPED_BASES = 4
    UNALIGNED_BASES = 5
    PAIRED = 6
    PROPER = 7


class BatchCounts(NamedTuple):
    """What a batch adds to the figures.

    Attributes:
        counts: histograms and sums by name, i64[...] each.
        places: (target i32[k], begin i64[k], end i64[k]) of alignments on a reference.
    """

    counts: dict[str, I64]
    places: tuple[I32, I64, I64]


class Figures:
    """Figures of a run. They are sums over records, so they do not depend on batches and their order.

    Attributes:
        counts: histograms and sums by name, i64[...] each; empty before the first batch.
        depth: depth along the reference; None for pairs, and before the first batch.
        reference: the sequences that reads are mapped to; None for pairs.
    """

    def __init__(self) -> None:
        self.counts: dict[str, I64] = BatchFigures().counts()
        self.depth: Depth | None = None
        self.reference: Reference | None = None

    def begin(self, reference: Reference | None) -> None:
        """Take the sequences that reads are mapped to, before the first batch."""
        self.reference = reference
        if reference is not None:
            count = len(reference)
            self.depth = Depth(np.fromiter(map(reference.length, range(count)), np.int64, count))

    def of_batch(self) -> BatchFigures:
        """Return an object that format_batch() fills; any thread."""
        return BatchFigures(self.reference)

    def add(self, batch: BatchCounts) -> None:
        """Add the figures of a batch; one thread at a time."""
        for name, column in batch.counts.items():
            self.counts[name] += column
        if self.depth is not None:
            self.depth.add(*batch.places)

    def total(self, which: Sum) -> int:
        """Return one of the sums."""
        return int(self.counts["sums"][which])
