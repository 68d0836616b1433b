"""Figures of a run: histograms over its records, which are collected batch by batch in memory of fixed size."""

from __future__ import annotations

import contextlib
import enum
import functools

import numpy as np

from .._native import BatchFigures, Reference
from ..core.batch import I64
from .depth import Depth


class Sum(enum.IntEnum):
    """Indexes of Figures.sums; each counts what native/report/figures.hpp says."""

    READS = 0
    ALIGNED = 1
    EMPTY = 2
    ALIGNED_BASES = 3
    CLIPPED_BASES = 4
    UNALIGNED_BASES = 5
    PAIRED = 6
    PROPER = 7


class Figures:
    """Figures of a run. They are sums over records, so they do not depend on batches and their order.

    Attributes:
        depth: depth along the reference; None for pairs, and before the first batch.
        reference: the sequences that reads are mapped to; None for pairs.
    """

    def __init__(self) -> None:
        self.depth: Depth | None = None
        self.reference: Reference | None = None
        self._total = BatchFigures()
        self._free: list[BatchFigures] = []  # new memory for each batch would take longer than its figures

    def begin(self, reference: Reference | None) -> None:
        """Take the sequences that reads are mapped to, before the first batch."""
        self.reference = reference
        if reference is not None:
            count = len(reference)
            self.depth = Depth(np.fromiter(map(reference.length, range(count)), np.int64, count))

    def of_batch(self) -> BatchFigures:
        """Return an object that format_batch() fills; any thread."""
        with contextlib.suppress(IndexError):
            return self._free.pop()
        return BatchFigures(self.reference)

    def add(self, batch: BatchFigures) -> None:
        """Add the figures of a batch, whose object is used again; one thread at a time."""
        if self.depth is not None:
            self.depth.add(*batch.take_places())
        self._total.absorb(batch)
        self._free.append(batch)

    @functools.cached_property
    def counts(self) -> dict[str, I64]:
        """Histograms and sums by name, i64[...] each, once all batches were added."""
        return self._total.counts()

    def total(self, which: Sum) -> int:
        """Return one of the sums."""
        return int(self.counts["sums"][which])
