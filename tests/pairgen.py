"""Seeded random pairs that are hard for aligners: empty, at word boundaries, repetitive, unrelated."""

from __future__ import annotations

import random
from collections.abc import Iterator

Pair = tuple[bytes, bytes]

ALPHABETS = {
    "A": b"A",
    "AC": b"AC",
    "ACGT": b"ACGT",
    "ACGTN": b"ACGTACGTACGTN",
    "iupac": b"ACGTUACGTURYSWKMBDHVN",
    "lower": b"acgt",
    "mixed": b"ACGTacgtNnuU",
    "protein": b"ACDEFGHIKLMNPQRSTVWYX*",
}
EDGES = (7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
_SHARES = {  # weights of mismatches, insertions and deletions
    "uniform": (1, 1, 1),
    "insertions": (1, 8, 1),
    "deletions": (1, 1, 8),
}
KINDS = (*_SHARES, "repeats", "homopolymers", "unrelated")


def sequence(rng: random.Random, length: int, alphabet: bytes) -> bytes:
    """Return a random sequence over the alphabet."""
    return bytes(rng.choices(alphabet, k=length))


def mutated(rng: random.Random, symbols: bytes, alphabet: bytes, error: float, kind: str = "uniform") -> bytes:
    """Return a copy with edits at rate `error` per symbol; gaps are 1 to 4 symbols long, rarely 9."""
    shares = _SHARES.get(kind, _SHARES["uniform"])
    out, i = bytearray(), 0
    while i < len(symbols):
        if rng.random() >= error:
            out.append(symbols[i])
            i += 1
            continue
        edit = rng.choices("XID", shares)[0]
        gap = rng.choice((1, 1, 1, 2, 3, 4, 9))
        out += sequence(rng, {"X": 1, "I": gap, "D": 0}[edit], alphabet)
        i += {"X": 1, "I": 0, "D": gap}[edit]
    return bytes(out)


def repetitive(rng: random.Random, length: int, alphabet: bytes, unit: int) -> bytes:
    """Return tandem repeats of units of up to `unit` symbols; `unit=1` gives homopolymers."""
    out = b""
    while len(out) < length:
        out += sequence(rng, rng.randint(1, unit), alphabet) * rng.randint(2, 8)
    return out[:length]


def pair(rng: random.Random, length: int, alphabet: bytes, error: float, kind: str) -> Pair:
    """Return a (query, target) pair of the given kind; the target has exactly `length` symbols."""
    if kind == "unrelated":
        return sequence(rng, rng.randint(0, length + 4), alphabet), sequence(rng, length, alphabet)
    if kind in ("repeats", "homopolymers"):
        target = repetitive(rng, length, alphabet, 4 if kind == "repeats" else 1)
    else:
        target = sequence(rng, length, alphabet)
    return mutated(rng, target, alphabet, error, kind), target


def random_pairs(seed: int, count: int, longest: int, alphabet: bytes) -> list[Pair]:
    """Return pairs of all kinds with 0 to 100% errors; short pairs are more frequent than long ones."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        length = int(longest * rng.random() ** 1.5 + 0.5)
        query, target = pair(rng, length, alphabet, rng.choice((0, 0.02, 0.1, 0.3, 0.6, 1)), rng.choice(KINDS))
        pairs.append((query[:longest], target))
    return pairs


def all_lengths(seed: int, longest: int, alphabet: bytes) -> list[Pair]:
    """Return one pair for each combination of query and target length from 0 to `longest`."""
    rng = random.Random(seed)
    both = range(longest + 1)
    return [_of_lengths(rng, n, m, alphabet) for m in both for n in both]


def some_lengths(seed: int, longest: int, alphabet: bytes, count: int) -> list[Pair]:
    """Return `count` pairs with distinct combinations of lengths from 0 to `longest`."""
    rng = random.Random(seed)
    chosen = (divmod(both, longest + 1) for both in rng.sample(range((longest + 1) ** 2), count))
    return [_of_lengths(rng, n, m, alphabet) for n, m in chosen]


def _of_lengths(rng: random.Random, query_len: int, target_len: int, alphabet: bytes) -> Pair:
    target = sequence(rng, target_len, alphabet)
    query = mutated(rng, target, alphabet, 0.3)[:query_len]
    return query + sequence(rng, query_len - len(query), alphabet), target


def edge_pairs(seed: int, alphabet: bytes) -> Iterator[Pair]:
    """Yield pairs whose lengths or match runs end at boundaries of machine words and vectors."""
    rng = random.Random(seed)
    for length in EDGES:
        target = sequence(rng, length, alphabet)
        other = alphabet[(alphabet.index(target[-1]) + 1) % len(alphabet)]
        yield target, target
        yield target[:-1] + bytes([other]), target
        yield target + bytes([other]), target
        yield target, target + bytes([other])
        yield target[1:], target
        yield target + bytes([other]) + target, target + target
        yield b"", target
        yield target, b""
        for kind in KINDS:
            yield pair(rng, length, alphabet, rng.choice((0.05, 0.2, 0.5)), kind)
