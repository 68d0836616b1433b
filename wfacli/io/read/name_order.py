"""Recognition of two files that hold the same names in different orders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.batch import I32, I64, U8, U64, LaterBatch, PairBatch, already_complete

_EARLY = 4096  # pairs after which it is judged whether the rest is worth looking at
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits everywhere, as in Fibonacci hashing
_SHIFT = np.uint64(31)
_LONGEST = 256  # bytes of a name that count, beside its length
_SLASH, _FIRST, _SECOND = b"/12"


class NameOrder:
    """Compares the names of queries and targets: of each pair, and of all pairs as multisets.

    Only hashes are kept. Mates' endings /1 and /2 do not count. Usual files cost next to nothing: if the first pairs
    have equal names, or no name is in both files, no more is looked at.
    """

    def __init__(self) -> None:
        self._early: list[tuple[U64, U64]] = []
        self._rows, self._excess = 0, 0
        self._suspected: bool | None = None

    def watched(self, batches: Iterator[LaterBatch]) -> Iterator[LaterBatch]:
        """Yield batches, and look at their names, for which the first ones are completed."""
        for later in batches:
            if self._suspected is False:
                yield later
                continue
            pairs = later()
            self._see(pairs)
            yield already_complete(pairs)

    def is_shuffled(self) -> bool:
        """Return True if both files hold the same names, each once among the first, in different orders."""
        if self._suspected is None:
            self._judge()
        return bool(self._suspected) and self._excess % (1 << 64) == 0

    def _see(self, pairs: PairBatch) -> None:
        names = pairs.records
        queries = _hashes(names.text, names.q_name, names.q_name_len)
        targets = _hashes(names.text, names.t_name, names.t_name_len)
        self._rows += len(pairs)
        self._excess += int(queries.sum()) - int(targets.sum())
        if self._suspected is None:
            self._early.append((queries, targets))
            if self._rows >= _EARLY:
                self._judge()

    def _judge(self) -> None:
        queries, targets = (np.concatenate([np.empty(0, np.uint64), *column]) for column in self._columns())
        differ = bool((queries != targets).any())
        queries.sort()
        targets.sort()
        unique = bool((queries[1:] != queries[:-1]).all())  # lists of chosen pairs repeat names
        self._suspected = unique and differ and _have_common(queries, targets)
        self._early.clear()

    def _columns(self) -> tuple[list[U64], list[U64]]:
        return [queries for queries, _ in self._early], [targets for _, targets in self._early]


def _have_common(one: U64, other: U64) -> bool:
    """Return True if two sorted arrays of the same length, above 0, have a common value."""
    return bool((other[np.minimum(np.searchsorted(other, one), len(other) - 1)] == one).any())


def _hashes(text: U8, starts: I64, lengths: I32) -> U64:
    """Return hashes of n names without endings /1 and /2, u64[n]."""
    if not len(text):
        return np.zeros(len(starts), np.uint64)
    long = lengths > 2
    last, before = text[np.where(long, starts + lengths - 1, 0)], text[np.where(long, starts + lengths - 2, 0)]
    sizes = lengths.astype(np.int64) - 2 * (long & (before == _SLASH) & ((last == _FIRST) | (last == _SECOND)))
    hashes: U64 = sizes.astype(np.uint64)
    for place in range(min(int(sizes.max(initial=0)), _LONGEST)):
        rows = np.flatnonzero(sizes > place)
        mixed = (hashes[rows] ^ text[starts[rows] + place]) * _FACTOR
        hashes[rows] = mixed ^ (mixed >> _SHIFT)
    return hashes
