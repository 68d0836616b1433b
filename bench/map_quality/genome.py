"""Reference sequences from a FASTA file or at random with repeats, and positions on both strands as one number."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
BASES = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = np.arange(256, dtype=np.uint8)
COMPLEMENT[BASES] = BASES[::-1]
_LINE = 80


@dataclass(frozen=True)
class Genome:
    """Sequences in one array; a position counts from the start of the first sequence.

    Attributes:
        names: of the sequences.
        starts: i64[n + 1], where each sequence starts; the last entry is the length of all.
        bases: u8, uppercase A, C, G and T.
    """

    names: tuple[str, ...]
    starts: I64
    bases: U8

    def sequence_of(self, position: int) -> int:
        """Return the number of the sequence that has a position."""
        return int(np.searchsorted(self.starts, position, side="right")) - 1

    def write(self, path: Path) -> None:
        """Write the sequences as FASTA."""
        with path.open("wb") as file:
            for name, begin, end in zip(self.names, self.starts[:-1], self.starts[1:], strict=True):
                file.write(b">%s\n" % name.encode())
                for at in range(begin, end, _LINE):
                    file.write(self.bases[at : min(at + _LINE, end)].tobytes() + b"\n")


def read_fasta(path: Path, rng: np.random.Generator) -> Genome:
    """Return the sequences of a FASTA file, gzip or plain, with random bases instead of other than A, C, G and T."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    names, parts = [], []
    for record in data.split(b">")[1:]:
        header, _, lines = record.partition(b"\n")
        names.append(header.split()[0].decode())
        parts.append(b"".join(lines.split()).upper())
    bases = np.frombuffer(b"".join(parts), np.uint8).copy()
    other = np.flatnonzero(~np.isin(bases, BASES))
    bases[other] = random_bases(rng, len(other))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(part) for part in parts], dtype=np.int64)])
    return Genome(tuple(names), starts, bases)


def random_bases(rng: np.random.Generator, count: int) -> U8:
    """Return `count` random bases."""
    return BASES[rng.integers(0, 4, count)]


def substituted(bases: U8, rng: np.random.Generator) -> U8:
    """Return for each base a random other one."""
    return BASES[(np.searchsorted(BASES, bases) + rng.integers(1, 4, len(bases))) % 4]


def reverse_complement(bases: U8) -> U8:
    """Return the reverse complement."""
    return COMPLEMENT[bases[::-1]]


def random_genome(length: int, rng: np.random.Generator) -> Genome:
    """Return one random sequence, of which dispersed repeats replace about 12% and tandem repeats about 3%."""
    bases = random_bases(rng, length)
    _disperse(bases, length * 12 // 100, rng)
    left = length * 3 // 100
    while left > 0:
        unit = random_bases(rng, log_uniform(rng, 2, 100))
        size = min(log_uniform(rng, max(50, 2 * len(unit)), 1_500), length)
        tandem = np.tile(unit, size // len(unit) + 1)[:size]
        at = int(rng.integers(0, length - size + 1))
        bases[at : at + size] = mutated(tandem, rng.uniform(0, 0.1), rng)
        left -= size
    return Genome(("random",), np.array([0, length], np.int64), bases)


def _disperse(bases: U8, left: int, rng: np.random.Generator) -> None:
    """Overwrite about `left` bases with copies of repeats of 300 bp to 6 kb at 80 to 99% identity, on both strands."""
    while left > 0:
        repeat = random_bases(rng, min(log_uniform(rng, 300, 6_000), len(bases)))
        for _ in range(int(rng.integers(3, 11))):
            copy = mutated(repeat, rng.uniform(0.01, 0.2), rng)
            at = int(rng.integers(0, len(bases) - len(copy) + 1))
            bases[at : at + len(copy)] = copy if rng.random() < 0.5 else reverse_complement(copy)
            left -= len(copy)


def mutated(bases: U8, share: float, rng: np.random.Generator) -> U8:
    """Return a copy in which a share of the bases is substituted."""
    copy = bases.copy()
    at = np.flatnonzero(rng.random(len(copy)) < share)
    copy[at] = substituted(copy[at], rng)
    return copy


def log_uniform(rng: np.random.Generator, least: int, most: int) -> int:
    """Return a random length whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(np.log(least), np.log(most)))))


def coded(positions: I64, reverse: bool) -> I64:
    """Return a position and its strand as one number: twice the position, and 1 more on the reverse strand."""
    return 2 * positions + reverse


def turned(codes: I64) -> I64:
    """Return codes (-1 for none) of the reverse complement: reversed, with the other strand."""
    back = codes[::-1]
    return np.where(back < 0, back, back ^ 1)
