"""Pairs for GPU tests: of all lengths and error rates, and with costs exactly at a kernel's reach."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

REAL = Path(os.environ.get("WFACLI_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")

Pair = tuple[bytes, bytes]
Gaps = Sequence[tuple[int, int]]  # (open, extend)

_SYMBOLS = np.frombuffer(b"ACGT", np.uint8)
LONGEST_GAP = 64


def real_symbols(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the first record (u8, upper case) of both files of a real pair; None if it is missing."""
    files = [REAL / f"{name}.{side}.fa.gz" for side in ("query", "target")]
    if not all(file.exists() for file in files):
        return None
    records = [gzip.decompress(file.read_bytes()).split(b">")[1] for file in files]
    query, target = (b"".join(record.split(b"\n")[1:]).upper() for record in records)
    return np.frombuffer(query, np.uint8), np.frombuffer(target, np.uint8)


def symbols(rng: np.random.Generator, length: int) -> np.ndarray:
    """Return random bases."""
    return _SYMBOLS[rng.integers(0, 4, length)]


def copied(rng: np.random.Generator, target: np.ndarray, error: float) -> np.ndarray:
    """Return a copy with `error` edits per base, a third each of mismatches, insertions and deletions.

    Gaps are 1 to 3 bases long.
    """
    kinds = np.where(rng.random(len(target)) < error, rng.integers(1, 4, len(target)), 0)
    times = np.ones(len(target), np.int64)
    times[kinds == 2] += rng.integers(1, 4, int((kinds == 2).sum()))
    times[kinds == 3] = 0
    query = np.repeat(target, times)
    first = np.cumsum(times) - times
    query[first[kinds == 1]] = symbols(rng, int((kinds == 1).sum()))
    inserted = np.ones(len(query), bool)
    inserted[first[kinds < 2]] = False
    inserted[first[kinds == 2]] = False
    query[inserted] = symbols(rng, int(inserted.sum()))
    return query


def mixed(seed: int, lengths: Iterable[int], errors: Sequence[float], other_symbols: float = 0.0) -> list[Pair]:
    """Return a pair for each length, cycling through the errors.

    `other_symbols`: the share with N, R or lower case.
    """
    rng = np.random.default_rng(seed)
    pairs = []
    for number, length in enumerate(lengths):
        target = symbols(rng, length)
        query = copied(rng, target, errors[number % len(errors)])
        if number % 50 == 49 and length > 100:  # a long gap
            query = np.delete(query, slice(len(query) // 3, len(query) // 3 + min(length // 5, 400)))
        if rng.random() < other_symbols and length:
            target[rng.integers(0, length, 1 + length // 50)] = rng.choice(np.frombuffer(b"NRacgtu", np.uint8))
        pairs.append((query.tobytes(), target.tobytes()))
    return pairs


def gap_cost(gaps: Gaps, length: int) -> int:
    """Return the cost of a gap; 0 for length 0."""
    return min(opened + extend * length for opened, extend in gaps) if length else 0


def length_for(mismatches: int, gap: int, longest: int) -> int | None:
    """Return a length with 10 to 20 bases per edit, for edits that are far apart; None if it exceeds `longest`."""
    length = min(20 * max(mismatches, 2) + 2 * gap + 60, longest)
    return None if length < 10 * mismatches + 2 * gap + 40 else length


def at_distance(rng: np.random.Generator, mismatches: int, gap: int, length: int, deleted: bool) -> Pair:
    """Return a pair of `length` random bases with mismatches and one gap, in the query if `deleted`."""
    target = symbols(rng, length)
    query = target.copy()
    places = 10 + np.arange(mismatches, dtype=np.int64) * ((length - gap - 20) // max(mismatches, 1))
    query[places] = _SYMBOLS[(np.searchsorted(_SYMBOLS, query[places]) + rng.integers(1, 4, mismatches)) % 4]
    query = np.delete(query, slice(length - gap - 5, length - 5))
    sides = (query.tobytes(), target.tobytes())
    return sides if deleted else (sides[1], sides[0])


def write(folder: Path, name: str, pairs: Sequence[Pair]) -> tuple[Path, Path]:
    """Write FASTA files of the queries and of the targets."""
    files = folder / f"{name}.query.fa", folder / f"{name}.target.fa"
    for side, path in enumerate(files):
        path.write_bytes(b"".join(b">p%d\n%s\n" % (i, pair[side]) for i, pair in enumerate(pairs)))
    return files


LENGTHS: dict[str, Callable[[np.random.Generator], list[int]]] = {
    "0 to 1 kb": lambda rng: [*range(40), *rng.integers(0, 1000, 8000).tolist()],
    "1 to 10 kb": lambda rng: rng.integers(1000, 10_000, 300).tolist(),
    "20 to 200 kb": lambda rng: [20_000, 35_000, 50_000, 70_000, 90_000, 110_000, 130_000, 160_000, 200_000],
}
ERRORS = {
    "0 to 1 kb": (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6),
    "1 to 10 kb": (0, 0.002, 0.01, 0.05, 0.1, 0.2, 0.35, 0.6),
    "20 to 200 kb": (0.6, 0.3, 0.15, 0.05, 0.01, 0.15, 0.1, 0.001, 0.01),
}


def generated(name: str, seed: int) -> list[Pair]:
    """Return the pairs of an entry of LENGTHS."""
    lengths = LENGTHS[name](np.random.default_rng(seed))
    return mixed(seed, lengths, ERRORS[name], 0.1 if name == "0 to 1 kb" else 0.0)
