"""Reads of a donor genome with the errors of a technology, and the true reference position of each base."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.map_quality.donor import Donor
from bench.map_quality.genome import I64, U8, random_bases, reverse_complement, substituted, turned

_CHUNK = 4_000_000  # bases that get their errors at a time
_PHRED = 33


@dataclass(frozen=True)
class Technology:
    """How reads are made.

    Attributes:
        lengths: shortest, mean and longest length.
        errors: least and greatest share of wrong bases of a read.
        kinds: shares of mismatches, insertions and deletions among errors.
        coverage: bases of all reads divided by those of the donor.
        chimeras: share of reads that join two places.
        quality: of each base; 0 writes FASTA.
        spread: standard deviation of lengths divided by their mean.
        fragment: mean and standard deviation of the length of a pair's fragment; None for single reads.
        flank: bases that a read must have on both sides of a structural variant for it to count as spanned.
    """

    lengths: tuple[int, int, int]
    errors: tuple[float, float]
    kinds: tuple[float, float, float]
    coverage: float
    chimeras: float = 0.0
    quality: int = 0
    spread: float = 0.5
    fragment: tuple[float, float] | None = None
    flank: int = 500


_CLR = Technology((1_000, 8_000, 40_000), (0.10, 0.14), (0.15, 0.5, 0.35), 6, 0.02, 9)
TECHNOLOGIES = {
    "map-ont": Technology((500, 8_000, 60_000), (0.06, 0.10), (0.4, 0.25, 0.35), 8, 0.02, 12, 0.8),
    "map-hifi": Technology((5_000, 14_000, 25_000), (0.002, 0.005), (0.2, 0.4, 0.4), 8, 0.01, 30, 0.2),
    "map-pb": _CLR,
    "lr:hq": Technology((500, 10_000, 60_000), (0.005, 0.02), (0.4, 0.25, 0.35), 8, 0.02, 20, 0.8),
    "sr": Technology((150, 150, 150), (0.003, 0.003), (0.98, 0.01, 0.01), 8, 0, 33, 0, (400, 50), 40),
    "asm5": Technology((50_000, 100_000, 200_000), (1e-5, 1e-5), (0.4, 0.3, 0.3), 2),
}


@dataclass(frozen=True)
class Reads:
    """Reads in one array.

    Attributes:
        starts: i64[n + 1], where each read starts.
        bases: u8, as sequenced.
        codes: true reference position and strand of each base (genome.coded), -1 for bases without one.
        part_read: i64[m], the read of each part of the donor that was sequenced; chimeras have two.
        parts: i64[m, 2], begin and end of these parts in the donor.
        paired: True if reads 2k and 2k + 1 are mates.
    """

    starts: I64
    bases: U8
    codes: I64
    part_read: I64
    parts: I64
    paired: bool

    def __len__(self) -> int:
        return len(self.starts) - 1

    def name(self, read: int) -> str:
        """Return the name of a read, which mates share."""
        return f"r{read // 2 if self.paired else read}"


@dataclass(frozen=True)
class _Parts:
    """Parts of the donor that are sequenced, a row each."""

    read: I64
    begin: I64
    end: I64
    reverse: np.ndarray


def simulated(donor: Donor, how: Technology, coverage: float, rng: np.random.Generator) -> Reads:
    """Return reads of a donor."""
    parts = _pairs(donor, how, coverage, rng) if how.fragment else _singles(donor, how, coverage, rng)
    ends = np.cumsum(parts.end - parts.begin)
    count = int(parts.read[-1]) + 1
    error = rng.uniform(*how.errors, count)
    bases, codes, lengths = [], [], []
    cuts = [0, *(np.searchsorted(ends, np.arange(_CHUNK, ends[-1], _CHUNK)) + 1).tolist(), len(ends)]
    for first, last in itertools.pairwise(cuts):
        if first < last:
            some = [_part_of(donor, parts, row) for row in range(first, last)]
            made = _with_errors(some, error[parts.read[first:last]], how.kinds, rng)
            for column, new in zip((bases, codes, lengths), made, strict=True):
                column.append(new)
    of_reads = np.bincount(parts.read, np.concatenate(lengths), minlength=count).astype(np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(of_reads)])
    spans = np.stack([parts.begin, parts.end], axis=1)
    return Reads(starts, np.concatenate(bases), np.concatenate(codes), parts.read, spans, how.fragment is not None)


def _singles(donor: Donor, how: Technology, coverage: float, rng: np.random.Generator) -> _Parts:
    least, mean, most = how.lengths
    wanted = max(1, round(coverage * len(donor.bases) / mean))
    chimeric = rng.random(wanted) < how.chimeras
    read = np.repeat(np.arange(wanted), 1 + chimeric)
    shape = 1 / how.spread**2
    drawn = np.clip(rng.gamma(shape, mean / shape, len(read)), least, most)
    length = np.where(chimeric[read], np.maximum(drawn / 2, least), drawn).astype(np.int64)
    begin, end = _places(donor, length, rng)
    return _Parts(read, begin, end, rng.random(len(read)) < 0.5)


def _pairs(donor: Donor, how: Technology, coverage: float, rng: np.random.Generator) -> _Parts:
    length = how.lengths[1]
    wanted = max(1, round(coverage * len(donor.bases) / (2 * length)))
    assert how.fragment
    fragment = np.maximum(rng.normal(*how.fragment, wanted), length).astype(np.int64)
    begin, end = _places(donor, fragment, rng)
    left, right = (begin, np.minimum(begin + length, end)), (np.maximum(end - length, begin), end)
    second = rng.random(wanted) < 0.5  # the first mate is the one on the right
    begins, ends = np.empty(2 * wanted, np.int64), np.empty(2 * wanted, np.int64)
    begins[0::2], ends[0::2] = np.where(second, right[0], left[0]), np.where(second, right[1], left[1])
    begins[1::2], ends[1::2] = np.where(second, left[0], right[0]), np.where(second, left[1], right[1])
    reverse = np.stack([second, ~second], axis=1).ravel()
    return _Parts(np.arange(2 * wanted), begins, ends, reverse)


def _places(donor: Donor, length: I64, rng: np.random.Generator) -> tuple[I64, I64]:
    """Return random places of parts inside sequences of the donor; parts of short sequences are shortened."""
    sizes = np.diff(donor.starts)
    own = rng.choice(len(sizes), len(length), p=sizes / sizes.sum())
    length = np.minimum(length, sizes[own])
    begin = donor.starts[own] + (rng.random(len(length)) * (sizes[own] - length + 1)).astype(np.int64)
    return begin, begin + length


def _part_of(donor: Donor, parts: _Parts, row: int) -> tuple[U8, I64]:
    here = slice(int(parts.begin[row]), int(parts.end[row]))
    if parts.reverse[row]:
        return reverse_complement(donor.bases[here]), turned(donor.codes[here])
    return donor.bases[here], donor.codes[here]


def _with_errors(
    parts: list[tuple[U8, I64]], error: np.ndarray, kinds: tuple[float, float, float], rng: np.random.Generator
) -> tuple[U8, I64, I64]:
    """Return bases and codes of sequenced parts, and the new length of each part.

    Args:
        parts: bases and codes of each part.
        error: share of wrong bases of each part.
        kinds: shares of mismatches, insertions and deletions among errors.
        rng: source of random numbers.
    """
    bases, codes = np.concatenate([b for b, _ in parts]), np.concatenate([c for _, c in parts])
    sizes = np.array([len(b) for b, _ in parts])
    draw = rng.random(len(bases)) / np.repeat(error, sizes)
    mismatch, inserted, _ = np.cumsum(kinds)
    wrong = np.flatnonzero(draw < mismatch)
    bases[wrong] = substituted(bases[wrong], rng)
    extra = np.zeros(len(bases), np.int64)
    before = np.flatnonzero((draw >= mismatch) & (draw < inserted))
    extra[before] = rng.geometric(0.75, len(before))
    kept = (draw < inserted) | (draw >= 1)
    counts = extra + kept
    source = np.repeat(np.arange(len(bases)), counts)
    within = np.arange(len(source)) - (np.cumsum(counts) - counts)[source]
    own = within == extra[source]
    new_bases = np.where(own, bases[source], random_bases(rng, len(source)))
    new_codes = np.where(own, codes[source], -1)
    firsts = np.cumsum(sizes) - sizes
    return new_bases, new_codes, np.add.reduceat(counts, firsts)


def write(reads: Reads, quality: int, folder: Path) -> list[Path]:
    """Write reads as FASTQ, mates in two files, or as FASTA where `quality` is 0; return the paths."""
    suffix = "fq" if quality else "fa"
    paths = [folder / f"reads{number}.{suffix}" for number in ((1, 2) if reads.paired else ("",))]
    for side, path in enumerate(paths):
        with path.open("wb") as file:
            file.writelines(_records(reads, range(side, len(reads), len(paths)), quality))
    return paths


def _records(reads: Reads, numbers: range, quality: int) -> Iterator[bytes]:
    for read in numbers:
        bases = reads.bases[reads.starts[read] : reads.starts[read + 1]].tobytes()
        name = reads.name(read).encode()
        if quality:
            yield b"@%s\n%s\n+\n%s\n" % (name, bases, bytes([quality + _PHRED]) * len(bases))
        else:
            yield b">%s\n%s\n" % (name, bases)
