"""Pairs for bench/tables/sw_table.py: equal lengths, and the parts of reads on both sides of a seed."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wfacli import Aligner
from wfacli.core.batch import PairBatch
from wfacli.io.read.memory import pairs_of

BASES = np.frombuffer(b"ACGT", np.uint8)
LEAST, MOST, MARGIN = 10, 3800, 0.2  # bases of a query; share by which a target exceeds its query

DISTINCT = 1 << 22  # bases of targets
Pair = tuple[bytes, bytes]


@dataclass(frozen=True)
class Pairs:
    """`count` pairs in memory: the distinct ones, repeated."""

    distinct: list[Pair]
    count: int

    def __len__(self) -> int:
        return self.count

    def head(self, count: int) -> Pairs:
        """Return the first `count` pairs."""
        return Pairs(self.distinct, min(count, self.count))

    def total(self, each: np.ndarray) -> int:
        """Return the sum over all pairs of a number that each distinct pair has."""
        times, rest = divmod(self.count, len(self.distinct))
        return times * int(each.sum()) + int(each[:rest].sum())

    @property
    def lengths(self) -> np.ndarray:
        """Bases of the distinct queries and targets (i64[n, 2])."""
        return np.array([[len(q), len(t)] for q, t in self.distinct], np.int64)

    @property
    def cells(self) -> int:
        return self.total(self.lengths.prod(axis=1))

    @property
    def bases(self) -> int:
        return self.total(self.lengths.sum(axis=1))

    @property
    def longest(self) -> int:
        return int(self.lengths.max())

    def fasta(self, side: int) -> bytes:
        """Return the FASTA records of all queries (side 0) or targets (side 1)."""
        records = [b">p\n%s\n" % pair[side] for pair in self.distinct]
        times, rest = divmod(self.count, len(records))
        return b"".join(records) * times + b"".join(records[:rest])

    def batches(self, batch_bases: int) -> list[PairBatch]:
        """Return batches of equal size, about `batch_bases`, as the command splits a file (run.shared_out)."""
        once = pairs_of([q for q, _ in self.distinct], [t for _, t in self.distinct])
        count = min(max(round(self.bases / batch_bases), 1), self.count)
        return [_some(once, self.count * n // count, self.count * (n + 1) // count) for n in range(count)]


def _some(once: PairBatch, begin: int, end: int) -> PairBatch:
    """Return the pairs numbered from `begin` to `end` of the repeated pairs, with bases of their own."""
    n, parts, starts, size = len(once), [], [], 0
    bounds = np.append(once.q_start, len(once.bases) - 64)
    while begin < end:
        first, last = begin % n, min(begin % n + end - begin, n)
        parts.append(once.bases[bounds[first] : bounds[last]])
        starts.append((first, last, size - int(bounds[first])))
        size += len(parts[-1])
        begin += last - first
    rows = np.concatenate([np.arange(first, last) for first, last, _ in starts])
    moved = np.concatenate([np.full(last - first, by, np.int64) for first, last, by in starts])
    batch = once.subset(rows)
    bases = np.concatenate([*parts, np.zeros(64, np.uint8)])
    return dataclasses.replace(batch, bases=bases, q_start=batch.q_start + moved, t_start=batch.t_start + moved)


def equal(length: int, count: int, error: float = 0.05, seed: int = 7) -> Pairs:
    """Return random targets, and queries of the same length with `error` edits per base.

    A third each of the edits are mismatches, insertions and deletions.
    """
    rng, n = np.random.default_rng(seed), min(count, max(64, DISTINCT // length))
    targets = BASES[rng.integers(0, 4, (n, length))]
    kind = rng.random((n, length))
    new, out = kind < error / 3, (kind >= error / 3) & (kind < 2 * error / 3)
    at = np.cumsum(1 + out.astype(np.int32) - new, axis=1) - 1
    queries = np.take_along_axis(targets, np.minimum(np.maximum(at, 0), length - 1), 1)
    other = new | (at >= length) | (kind > 1 - error / 3)
    queries[other] = BASES[rng.integers(0, 4, int(other.sum()))]
    return Pairs(list(zip(map(bytes, queries), map(bytes, targets), strict=True)), count)


def seeded(folder: Path, name: str, work: float, least: float, most: float) -> Pairs:
    """Return the bases before and behind the longest run of matches of each read and its window.

    They are what a mapper would extend from a seed: the target's part is longer by MARGIN, and both parts before the
    seed are reversed. All pairs are repeated until they have about `work` cells, at least `least` bases and at most
    `most`.
    """
    reads = list(zip(*(records(folder / f"{name}.{side}.fa.gz") for side in ("query", "target")), strict=True))
    pairs: list[Pair] = []
    with Aligner(metric="edit", mode="semiglobal") as aligner:
        found = aligner.align_batch([q for q, _ in reads], [t for _, t in reads])
    for (query, target), cigar, span in zip(reads, found.cigars(), found.span.tolist(), strict=True):
        pairs += around_seed(query, target, cigar, span[0], span[2])
    once = Pairs(pairs, len(pairs))
    times = min(max(work / once.cells, least / once.bases), most / once.bases)
    return Pairs(pairs, len(pairs) * max(1, round(times)))


def around_seed(query: bytes, target: bytes, cigar: str, i: int, j: int) -> Iterator[Pair]:
    """Yield the pairs on both sides of the longest run of matches of an alignment that begins at (i, j)."""
    best, length = (0, i, j), ""
    for base in cigar:
        if base.isdigit():
            length += base
            continue
        run, length = int(length), ""
        if base == "=" and run > best[0]:
            best = (run, i, j)
        i, j = i + run * (base in "=XI"), j + run * (base in "=XD")
    run, i, j = best
    before, behind = query[:i][::-1], query[i + run :]
    for part, rest in ((before, target[:j][::-1]), (behind, target[j + run :])):
        longest = len(part) + int(MARGIN * len(part)) + LEAST
        if LEAST <= len(part) <= MOST and len(rest) >= LEAST:
            yield part, rest[:longest]


def records(path: Path) -> list[bytes]:
    """Return the sequences of a FASTA file."""
    with gzip.open(path, "rb") as file:
        parts = file.read().split(b">")[1:]
    return [b"".join(part.split(b"\n")[1:]).upper() for part in parts]
