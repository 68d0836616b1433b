"""Pairs for bench/sw_table.py: equal lengths, and what is left of reads on both sides of a seed."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from wfacli import Aligner
from wfacli.batch import PairBatch
from wfacli.io.memory import pairs_of

LETTERS = np.frombuffer(b"ACGT", np.uint8)
LEAST, MOST, MARGIN = 10, 3800, 0.2  # letters of a query; what a target has beyond its query's length

DISTINCT = 1 << 22  # letters of targets
Pair = tuple[bytes, bytes]


def equal(length: int, count: int, error: float = 0.05, seed: int = 7) -> list[Pair]:
    """Targets of random letters, and queries as long: of `error` of the letters a third each other, new, left out.

    Where they are many some are there several times, in memory of their own.
    """
    rng, n = np.random.default_rng(seed), min(count, max(64, DISTINCT // length))
    targets = LETTERS[rng.integers(0, 4, (n, length))]
    kind = rng.random((n, length))
    new, out = kind < error / 3, (kind >= error / 3) & (kind < 2 * error / 3)
    at = np.cumsum(1 + out.astype(np.int32) - new, axis=1) - 1
    queries = np.take_along_axis(targets, np.minimum(np.maximum(at, 0), length - 1), 1)
    other = new | (at >= length) | (kind > 1 - error / 3)
    queries[other] = LETTERS[rng.integers(0, 4, int(other.sum()))]
    pairs = list(zip(map(bytes, queries), map(bytes, targets), strict=True))
    return (pairs * -(-count // n))[:count]


def seeded(folder: Path, name: str, work: float, letters: float) -> list[Pair]:
    """Of each read and its window: the letters before and those behind the longest run of matches.

    As a mapper would extend a seed: the target's part is longer by MARGIN; both are turned round where they lie before
    it. All of them several times, until there are about so many cells, or letters.
    """
    reads = list(zip(*(records(folder / f"{name}.{side}.fa.gz") for side in ("query", "target")), strict=True))
    pairs: list[Pair] = []
    with Aligner(metric="edit", mode="hw") as aligner:
        found = aligner.align_batch([q for q, _ in reads], [t for _, t in reads])
    for (query, target), cigar, span in zip(reads, found.cigars(), found.span.tolist(), strict=True):
        pairs += around_seed(query, target, cigar, span[0], span[2])
    times = min(work / cells(pairs), letters / sum(len(q) + len(t) for q, t in pairs))
    return pairs * max(1, round(times))


def around_seed(query: bytes, target: bytes, cigar: str, i: int, j: int) -> Iterator[Pair]:
    """Both pairs beside the longest run of matches of an alignment that begins at (i, j)."""
    best, length = (0, i, j), ""
    for letter in cigar:
        if letter.isdigit():
            length += letter
            continue
        run, length = int(length), ""
        if letter == "=" and run > best[0]:
            best = (run, i, j)
        i, j = i + run * (letter in "=XI"), j + run * (letter in "=XD")
    run, i, j = best
    before, behind = query[:i][::-1], query[i + run :]
    for part, rest in ((before, target[:j][::-1]), (behind, target[j + run :])):
        longest = len(part) + int(MARGIN * len(part)) + LEAST
        if LEAST <= len(part) <= MOST and len(rest) >= LEAST:
            yield part, rest[:longest]


def records(path: Path) -> list[bytes]:
    """Sequences of a FASTA file."""
    with gzip.open(path, "rb") as file:
        parts = file.read().split(b">")[1:]
    return [b"".join(part.split(b"\n")[1:]).upper() for part in parts]


def cells(pairs: list[Pair]) -> int:
    return sum(len(q) * len(t) for q, t in pairs)


def batches(pairs: list[Pair], letters: int) -> list[PairBatch]:
    """The same as batches of about so many letters."""
    found, begin, size = [], 0, 0
    for at, (query, target) in enumerate(pairs):
        size += len(query) + len(target)
        if size >= letters or at + 1 == len(pairs):
            found.append(pairs_of([q for q, _ in pairs[begin : at + 1]], [t for _, t in pairs[begin : at + 1]]))
            begin, size = at + 1, 0
    return found
