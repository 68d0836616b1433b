"""A donor genome: a reference with SNVs, small indels and structural variants, and the reference base of each base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.map_quality.genome import (
    I64,
    U8,
    Genome,
    coded,
    log_uniform,
    random_bases,
    reverse_complement,
    substituted,
    turned,
)

SNV, DELETION, INSERTION, DUPLICATION, INVERSION = "snv", "deletion", "insertion", "duplication", "inversion"
_LARGE_KINDS = (DELETION, INSERTION, DUPLICATION, INVERSION)
_LARGE_SHARES = (0.4, 0.3, 0.1, 0.2)
SMALLEST_SV, LARGEST_SV = 50, 10_000
_APART = 1_000  # bases between structural variants, and between them and the ends of sequences
_NEAR = 100  # bases beside structural variants without small variants
_SPACING = 5  # bases between small variants


@dataclass(frozen=True)
class Variant:
    """A difference between donor and reference.

    Attributes:
        position: first reference base that is removed or replaced, or the one before which bases are inserted.
        removed: number of reference bases that are removed or replaced.
        inserted: bases in their place.
        kind: one of the constants above.
        left, right: all equivalent positions of a deletion or insertion, the first and the last one.
    """

    position: int
    removed: int
    inserted: bytes
    kind: str
    left: int
    right: int

    @property
    def size(self) -> int:
        """Number of bases that are deleted, inserted or inverted."""
        return self.removed or len(self.inserted)

    @property
    def large(self) -> bool:
        """True for a structural variant."""
        return self.size >= SMALLEST_SV


@dataclass(frozen=True)
class Donor:
    """A donor genome.

    Attributes:
        starts: i64[n + 1], where each sequence starts.
        bases: u8.
        codes: true reference position and strand of each base (genome.coded), -1 for inserted bases. Both copies of a
            tandem duplication have the positions of the original.
        variants: in the order of their positions.
        places: i64[m, 2], begin and end of each variant's bases in the donor, equal for deletions.
    """

    starts: I64
    bases: U8
    codes: I64
    variants: tuple[Variant, ...]
    places: I64


def normalised(bases: U8, begin: int, end: int, position: int, sequence: U8, removed: bool) -> tuple[int, int]:
    """Return the first and the last equivalent position of a deletion or insertion.

    Args:
        bases: reference.
        begin, end: of the reference's sequence that has the position.
        position: first deleted base, or the base before which `sequence` is inserted.
        sequence: deleted or inserted bases.
        removed: True for a deletion.
    """
    size = len(sequence)
    left, turn = position, size - 1  # `turn`: the last base of the sequence as it is rotated
    while left > begin and bases[left - 1] == sequence[turn]:
        left, turn = left - 1, (turn - 1) % size
    right, turn = position, 0
    behind = size if removed else 0
    while right + behind < end and bases[right + behind] == sequence[turn]:
        right, turn = right + 1, (turn + 1) % size
    return left, right


def small_variant(genome: Genome, position: int, removed: int, inserted: bytes) -> Variant:
    """Return a left-normalised small indel."""
    own = genome.sequence_of(position)
    begin, end = int(genome.starts[own]), int(genome.starts[own + 1])
    if removed:
        sequence = genome.bases[position : position + removed]
        left, right = normalised(genome.bases, begin, end, position, sequence, True)
        return Variant(left, removed, b"", DELETION, left, right)
    sequence = np.frombuffer(inserted, np.uint8)
    left, right = normalised(genome.bases, begin, end, position, sequence, False)
    rotated = np.roll(sequence, (position - left) % len(sequence))
    return Variant(left, 0, rotated.tobytes(), INSERTION, left, right)


def _large_variant(genome: Genome, position: int, size: int, kind: str, rng: np.random.Generator) -> Variant:
    own = genome.sequence_of(position)
    begin, end = int(genome.starts[own]), int(genome.starts[own + 1])
    here = genome.bases[position : position + size]
    if kind == DELETION:
        return Variant(position, size, b"", kind, *normalised(genome.bases, begin, end, position, here, True))
    if kind == INVERSION:
        return Variant(position, size, reverse_complement(here).tobytes(), kind, position, position)
    # The second copy of a duplication is inserted behind the first one.
    at, put = (position + size, here) if kind == DUPLICATION else (position, random_bases(rng, size))
    return Variant(at, 0, put.tobytes(), kind, *normalised(genome.bases, begin, end, at, put, False))


def _large_variants(genome: Genome, every: int, rng: np.random.Generator) -> list[tuple[int, int, Variant]]:
    """Return (begin, end, variant) of structural variants that lie apart, one for each `every` bases."""
    made: list[tuple[int, int, Variant]] = []
    total = len(genome.bases)
    for _ in range(total // every):
        kind = str(rng.choice(_LARGE_KINDS, p=_LARGE_SHARES))
        size = log_uniform(rng, SMALLEST_SV, LARGEST_SV)
        position = int(rng.integers(0, total))
        own = genome.sequence_of(position)
        begin, end = position - _APART, position + size + _APART
        free = all(end < other[0] or begin > other[1] for other in made)
        if free and begin >= genome.starts[own] and end <= genome.starts[own + 1]:
            made.append((position, position + size, _large_variant(genome, position, size, kind, rng)))
    return made


def _small_variants(
    genome: Genome, taken: list[tuple[int, int, Variant]], snv: float, indel: float, rng: np.random.Generator
) -> list[Variant]:
    """Return SNVs and indels of 1 to 20 bases that lie apart from each other and from structural variants."""
    draws = rng.random(len(genome.bases))
    for begin, end, _ in taken:
        draws[max(0, begin - _NEAR) : end + _NEAR] = 1
    for edge in genome.starts:
        draws[max(0, edge - _NEAR) : edge + _NEAR] = 1
    made: list[Variant] = []
    busy = 0
    for position in np.flatnonzero(draws < snv + indel).tolist():
        if draws[position] < snv:
            other = substituted(genome.bases[position : position + 1], rng)
            one = Variant(position, 1, other.tobytes(), SNV, position, position)
        else:
            size = min(int(rng.geometric(0.4)), 20)
            deletes = rng.random() < 0.5
            one = small_variant(
                genome, position, size if deletes else 0, b"" if deletes else random_bases(rng, size).tobytes()
            )
        if one.left >= busy + _SPACING and draws[one.left] < 1:
            made.append(one)
            busy = max(position, one.right) + one.removed
    return made


def make_donor(genome: Genome, rng: np.random.Generator, snv: float, indel: float, sv_every: int) -> Donor:
    """Return a donor genome.

    Args:
        genome: reference.
        rng: source of random numbers.
        snv, indel: share of the bases that begin one.
        sv_every: reference bases for each structural variant; some are left out where they would be too close.
    """
    large = _large_variants(genome, sv_every, rng)
    small = _small_variants(genome, large, snv, indel, rng)
    return edited(genome, [*small, *(variant for _, _, variant in large)])


def edited(genome: Genome, variants: list[Variant]) -> Donor:
    """Return the donor that a reference and its variants make; they must not overlap."""
    variants = sorted(variants, key=lambda one: one.position)
    bases, codes, places, starts = [], [], [], [0]
    length, done = 0, 0

    def append(some: U8, of: I64) -> None:
        nonlocal length
        bases.append(some)
        codes.append(of)
        length += len(some)

    def copy_until(position: int) -> None:
        nonlocal done
        append(genome.bases[done:position], coded(np.arange(done, position), False))
        done = position

    edges = genome.starts[1:].tolist()
    for one in variants:
        assert one.position >= done, "variants overlap"
        while one.position >= edges[0]:
            copy_until(edges.pop(0))
            starts.append(length)
        copy_until(one.position)
        put = np.frombuffer(one.inserted, np.uint8)
        places.append((length, length + len(put)))
        append(put, _codes_of(one))
        done = one.position + one.removed
    for edge in edges:
        copy_until(edge)
        starts.append(length)
    return Donor(
        np.array(starts, np.int64),
        np.concatenate(bases),
        np.concatenate(codes),
        tuple(variants),
        np.array(places, np.int64).reshape(-1, 2),
    )


def _codes_of(one: Variant) -> I64:
    """Return the true reference positions of the bases that a variant puts into the donor."""
    count = len(one.inserted)
    if one.kind == SNV:
        return coded(np.arange(one.position, one.position + 1), False)
    if one.kind == INVERSION:
        return turned(coded(np.arange(one.position, one.position + count), False))
    if one.kind == DUPLICATION:
        return coded(np.arange(one.position - count, one.position), False)
    return np.full(count, -1, np.int64)


def vcf_key(genome: Genome, one: Variant) -> tuple[int, str, str]:
    """Return (0-based position, REF, ALT) of a small variant as a VCF file has it."""
    text = lambda begin, end: genome.bases[begin:end].tobytes().decode()  # noqa: E731
    if one.kind == SNV:
        return one.position, text(one.position, one.position + 1), one.inserted.decode()
    before = one.position - 1
    return before, text(before, one.position + one.removed), text(before, one.position) + one.inserted.decode()
