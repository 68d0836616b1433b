"""Blocks of random pairs of all kinds: dense in lengths up to 40 bases, sparse up to 5,000."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from wfacli.config import AlignSpec, Ambiguous, Metric, Mode
from wfacli.plan.kernels import DIFFERENCE, INSIDE

Pair = tuple[bytes, bytes]
Kinds = tuple[Callable[[Random, int, bytes], Pair], ...]

_NUCLEOTIDES = (b"ACGT", b"ACGT", b"ACGT", b"AC", b"A", b"ACG")
_OTHERS = (
    b"ACGTACGTACGTN",
    b"ACGTUACGTURYSWKMBDHVN",
    b"ACGTacgtNnuU",
    b"acgt",
    b"ACGU",
    b"ACDEFGHIKLMNPQRSTVWYX*",
    b"NN-",
)
_SHARES = ((1, 1, 1), (1, 8, 1), (1, 1, 8), (1, 0, 0), (0, 1, 1))  # weights of mismatches, insertions and deletions


class Size(NamedTuple):
    """Size of a block: its share of all blocks, minimum and maximum length in bases, and range of the number of pairs.

    `kernels` align a block of long pairs, besides the chosen ones; empty: any kernels.
    """

    share: float
    shortest: int
    longest: int
    pairs: tuple[int, int]
    kernels: tuple[str, ...] = ()


SIZES = (
    Size(0.52, 0, 12, (150, 300)),
    Size(0.26, 0, 40, (100, 250)),
    Size(0.15, 30, 150, (40, 120)),
    Size(0.04, 100, 400, (12, 30)),
    Size(0.02, 300, 1500, (3, 10)),
    Size(0.01, 1500, 4990, (1, 3)),
)
# Pairs at the limits of what kernels can prove: with the maximum edits of bit-parallel bands (_PROVED); queries
# slightly longer than a slab of 512 rows (inside.hpp); large gaps, in bands that narrow every 256 rows; traceback
# windows wider than the rows of a band in memory (both difference_solve.hpp).
BANDS = Size(0, 280, 330, (24, 36))
SLABS = Size(0, 515, 640, (8, 12), (INSIDE, INSIDE))
CLOSING = Size(0, 500, 700, (50, 70), (DIFFERENCE,))
WINDOWS = Size(0, 60, 220, (60, 90), (DIFFERENCE,))
_PROVED = (64, 128, 256, 260, 512, 520)  # edits; 260 or 520 for stripes (native/kernels/bits/bits_band.hpp)


def alphabet(rng: Random, spec: AlignSpec) -> bytes:
    """Draw an alphabet; symbols other than A, C, G and T are rarer where they match nothing and cost as a mismatch."""
    share = 0.3 if spec.ambiguous is Ambiguous.MISMATCH and not spec.charges_ambiguous else 0.75
    return rng.choice(_OTHERS if rng.random() < share else _NUCLEOTIDES)


def sequence(rng: Random, length: int, symbols: bytes) -> bytes:
    """Draw a random sequence, repeats of a unit of 1 to 7 bases with few errors, or short tandem repeats."""
    if rng.random() < 0.6:
        return bytes(rng.choices(symbols, k=length))
    if rng.random() < 0.5:
        unit = bytes(rng.choices(symbols, k=rng.randint(1, 7)))
        return mutated(rng, (unit * (length // len(unit) + 1))[:length], symbols, rng.choice((0, 0, 0.05)))[:length]
    found = b""
    while len(found) < length:
        found += bytes(rng.choices(symbols, k=rng.randint(1, 4))) * rng.randint(1, 8)
    return found[:length]


def mutated(rng: Random, bases: bytes, symbols: bytes, error: float) -> bytes:
    """Return a copy with about `error` edits per base; gaps are 1 to 4 bases long, rarely longer."""
    out, at = bytearray(), 0
    shares = rng.choice(_SHARES)
    places = sorted(rng.sample(range(len(bases)), min(len(bases), _count(rng, error * len(bases)))))
    for place in places:
        if place < at:
            continue
        out += bases[at:place]
        kind, gap = rng.choices("XID", shares)[0], rng.choice((1, 1, 1, 2, 3, 4, 9))
        out += bytes(rng.choices(symbols, k={"X": 1, "I": gap, "D": 0}[kind]))
        at = place + {"X": 1, "I": 0, "D": gap}[kind]
    return bytes(out + bases[at:])


def _count(rng: Random, expected: float) -> int:
    return int(expected + rng.random())


def _alike(rng: Random, length: int, symbols: bytes) -> Pair:
    target = sequence(rng, length, symbols)
    return mutated(rng, target, symbols, rng.choice((0, 0.01, 0.05, 0.15, 0.3, 0.6))), target


def _large_gap(rng: Random, length: int, symbols: bytes) -> Pair:
    query, target = _alike(rng, length, symbols)
    for _ in range(rng.randint(1, 2)):
        at, gap = rng.randint(0, len(query)), rng.randint(0, length // 2 + 1)
        query = query[:at] + query[at + gap :] if rng.random() < 0.5 else _inserted(rng, query, at, gap, symbols)
    return query[: length + 2], target


def _inserted(rng: Random, bases: bytes, at: int, gap: int, symbols: bytes) -> bytes:
    return bases[:at] + bytes(rng.choices(symbols, k=gap)) + bases[at:]


def _inside(rng: Random, length: int, symbols: bytes) -> Pair:
    """Draw a target and a query from anywhere in it, with errors and perhaps repeated; or the reverse."""
    target = sequence(rng, length, symbols)
    begin = rng.randint(0, length)
    end = min(length, begin + rng.randint(0, max(1, length // rng.choice((1, 2, 4, 12)))))
    query = mutated(rng, target[begin:end], symbols, rng.choice((0, 0.05, 0.15, 0.3)))
    if rng.random() < 0.3:
        target = target[: length // 2] + mutated(rng, query, symbols, 0.1) + target[length // 2 :]
    return (query, target[: length + 2]) if rng.random() < 0.8 else (target[: length + 2], query)


def _short_inside(rng: Random, length: int, symbols: bytes) -> Pair:
    """Draw a query far shorter than its target, which contains several similar copies of it."""
    query = sequence(rng, rng.randint(1, min(length, 12) + 1), symbols)
    target = b""
    while len(target) < length + 20:
        target += (
            mutated(rng, query, symbols, 0.3) if rng.random() < 0.3 else sequence(rng, rng.randint(1, 12), symbols)
        )
    return query, target[: rng.randint(len(query), length + 20)]


def _overlapping(rng: Random, length: int, symbols: bytes) -> Pair:
    common = sequence(rng, rng.randint(0, length), symbols)
    rest = [sequence(rng, rng.randint(0, length - len(common)), symbols) for _ in "qt"]
    query = rest[0] + mutated(rng, common, symbols, rng.choice((0, 0.1, 0.3)))
    return query[: length + 2], common + rest[1]


def _unlike(rng: Random, length: int, symbols: bytes) -> Pair:
    return sequence(rng, rng.randint(0, length), symbols), sequence(rng, length, symbols)


def _disjoint(rng: Random, length: int, symbols: bytes) -> Pair:
    """Draw two homopolymers, mostly of different bases."""
    one, other = (bytes([symbols[0]]), bytes([symbols[-1]])) if rng.random() < 0.5 else (b"A", b"C")
    return one * rng.randint(0, length), other * length


def _moved(rng: Random, length: int, symbols: bytes) -> Pair:
    """Draw a pair in which a block and a homopolymer of equal length have changed places, plus a gap.

    Two gaps cost as many edits as mismatching both, so that a band without the gaps finds the cost, but not the
    canonical path. If the pair is long enough, the edits are the maximum that a bit-parallel band proves, or one more.
    """
    bounds = [edits for edits in _PROVED if edits < length - 16]
    edits = rng.choice(bounds) + rng.choice((0, 0, 1)) if bounds else rng.randint(0, length * 2 // 3)
    size = rng.choice((edits // 2, edits // 2, edits // 4, rng.randint(0, edits // 2)))
    base = rng.choice(symbols)
    block = bytes(rng.choices([b for b in symbols if b != base] or [base], k=size))
    run = bytes([base]) * (size + rng.randint(0, 4))
    one, other = (block + run, run + block) if rng.random() < 0.5 else (run + block, block + run)
    before, behind = (sequence(rng, rng.randint(0, max(0, length - edits) // 2), symbols) for _ in "qt")
    gap = sequence(rng, edits - 2 * size, symbols)
    middle = one + gap if rng.random() < 0.5 else gap + one
    pair = before + middle + behind, before + other + behind
    return pair if rng.random() < 0.5 else pair[::-1]


def _uneven(rng: Random, length: int, symbols: bytes) -> Pair:
    """Draw a query in a target, with all its errors, or none, in the last 0 to 128 bases."""
    begin = rng.randint(0, length // 2)
    target = sequence(rng, begin + length, symbols)
    query, rest = target[begin:], rng.randint(0, 128)
    query = query[:-rest] + mutated(rng, query[-rest:], symbols, rng.choice((0, 0, 0.05))) if rest else query
    return query, target + sequence(rng, rng.randint(0, length // 2), symbols)


_KINDS: Kinds = (
    _alike,
    _alike,
    _inside,
    _inside,
    _large_gap,
    _overlapping,
    _unlike,
    _disjoint,
    _moved,
)
_OF_SIZE: dict[Size, Kinds] = {
    BANDS: (_moved, _moved, _moved, _large_gap),
    SLABS: (_uneven, _uneven, _uneven, _inside),
    CLOSING: (_inside,),
    WINDOWS: (_alike, _alike, _alike, _overlapping),
}
_PLAIN = 0.8  # share of limit blocks over ACGT: bit-parallel bands support only these bases
_EMPTY = (0.01, 0.02, 0.03)  # cumulative shares of an empty query, an empty target, or both


def pair(rng: Random, length: int, symbols: bytes, inside: float = 0.0, kinds: Kinds = _KINDS) -> Pair:
    """Draw a pair whose target has about `length` bases; `inside`: the share of queries in far longer targets."""
    kind = _short_inside if rng.random() < inside else rng.choice(kinds)
    query, target = kind(rng, length, symbols)
    if (empty := rng.random()) < _EMPTY[-1]:
        query, target = [(b"", target), (query, b""), (b"", b"")][sum(empty > share for share in _EMPTY[:-1])]
    return (target, query) if rng.random() < 0.1 else (query, target)


def size_of(rng: Random) -> Size:
    """Draw the size of a block's pairs."""
    return rng.choices(SIZES, [size.share for size in SIZES])[0]


def limits_of(mode: Mode, metric: Metric) -> tuple[Size, ...]:
    """Return the sizes of pairs at the limits of what the kernels of a mode and metric can prove."""
    if mode is Mode.ENDS_FREE and metric is Metric.AFFINE2P:
        return (WINDOWS, SLABS)
    if mode in (Mode.SEMIGLOBAL, Mode.ENDS_FREE):
        return (SLABS,)
    return (CLOSING,) if (mode, metric) == (Mode.GLOBAL, Metric.AFFINE2P) else (BANDS,)


def block(rng: Random, size: Size, spec: AlignSpec, inside: float = 0.0) -> list[Pair]:
    """Draw a block of pairs over one alphabet, for a specification. `inside`: see `pair`."""
    symbols = b"ACGT" if size in _OF_SIZE and rng.random() < _PLAIN else alphabet(rng, spec)
    count = rng.randint(*size.pairs)
    kinds = _OF_SIZE.get(size, _KINDS)
    inside = inside if kinds is _KINDS else 0.0
    return [pair(rng, rng.randint(size.shortest, size.longest), symbols, inside, kinds) for _ in range(count)]
