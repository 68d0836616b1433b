"""Records of a BAM file as columns, and what each aligned base, gap and end of them says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.map_quality.donor import SMALLEST_SV
from bench.map_quality.genome import COMPLEMENT, I64, Genome
from bench.map_quality.simulate import Reads
from wfacli.config import Penalties

try:
    import pysam
except ImportError:
    pysam = None

SECONDARY, SUPPLEMENTARY, UNMAPPED, REVERSE, SECOND_MATE = 256, 2048, 4, 16, 128
MATCH, INSERTION, DELETION, SOFT, HARD, EQUAL, DIFFERENT = 0, 1, 2, 4, 5, 7, 8
_ON_READ = np.zeros(10, bool)
_ON_READ[[MATCH, INSERTION, SOFT, HARD, EQUAL, DIFFERENT]] = True  # hard-clipped bases count as bases of the read
_ON_REFERENCE = np.zeros(10, bool)
_ON_REFERENCE[[MATCH, DELETION, 3, EQUAL, DIFFERENT]] = True
_ALIGNED = np.zeros(10, bool)
_ALIGNED[[MATCH, EQUAL, DIFFERENT]] = True
_BATCH = 3_000_000  # bases of records that are read at a time
_GAP = SMALLEST_SV * 8 // 10  # bases of the shortest gap that may be a structural variant


@dataclass(frozen=True)
class Gap:
    """A large gap of a record: `position` is its first deleted base, or the base before which bases are inserted."""

    read: int
    deletes: bool
    position: int
    size: int


@dataclass(frozen=True)
class Columns:
    """Records that align something, as columns of one length.

    Attributes:
        read: number of the read.
        flag, mapq: SAM's.
        begin, end: span on the reference, positions in all sequences together.
        first, last: span on the read as sequenced.
        score: computed from the CIGAR and both sequences.
        tag: AS as written; the minimum of int64 where it is missing.
        clipped: bases of both clips.
    """

    read: I64
    flag: I64
    mapq: I64
    begin: I64
    end: I64
    first: I64
    last: I64
    score: I64
    tag: I64
    clipped: I64

    def __len__(self) -> int:
        return len(self.read)

    @property
    def primary(self) -> np.ndarray:
        """True for primary records."""
        return (self.flag & (SECONDARY | SUPPLEMENTARY)) == 0

    @property
    def secondary(self) -> np.ndarray:
        """True for secondary records."""
        return (self.flag & SECONDARY) != 0

    @property
    def reverse(self) -> np.ndarray:
        """True for records on the reverse strand."""
        return (self.flag & REVERSE) != 0


@dataclass(frozen=True)
class Found:
    """What a BAM file says.

    Attributes:
        records: all mapped records.
        aligned: bool for each base of the reads: a record that is not secondary aligns it to a reference base.
        right: likewise, to its true one.
        covered: likewise, the base is inside the span of such a record.
        gaps: large gaps of such records.
    """

    records: Columns
    aligned: np.ndarray
    right: np.ndarray
    covered: np.ndarray
    gaps: list[Gap]


def gap_costs(lengths: I64, scores: Penalties) -> I64:
    """Return the cost of gaps: the cheapest piece of each."""
    return np.min([opening + extension * lengths for opening, extension in scores.gaps], axis=0)


def path_score(matches: int, mismatches: int, gaps: list[int], scores: Penalties) -> int:
    """Return the score of a path from its numbers of matches and mismatches and the lengths of its gaps."""
    costs = gap_costs(np.array(gaps, np.int64), scores).sum() if gaps else 0
    return matches * scores.match - mismatches * scores.mismatch - int(costs)


class Measured:
    """Reads records of one BAM file in batches and compares each aligned base with the truth."""

    def __init__(self, genome: Genome, reads: Reads, scores: Penalties) -> None:
        self._genome, self._reads, self._scores = genome, reads, scores
        self._bases = len(reads.bases)
        self._aligned, self._right, self._covered = (np.zeros(self._bases, bool) for _ in range(3))
        self._gaps: list[Gap] = []
        self._numbers = {name: number for number, name in enumerate(genome.names)}

    def read(self, path: Path) -> Found:
        """Read a BAM file."""
        parts = [self._batch(*batch) for batch in self._batches(path)]
        columns = Columns(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        return Found(columns, self._aligned, self._right, self._covered, self._gaps)

    def _batches(self, path: Path) -> Iterator[tuple[list[tuple[int, ...]], list[list[tuple[int, int]]]]]:
        heads: list[tuple[int, ...]] = []
        cigars: list[list[tuple[int, int]]] = []
        size = 0
        missing = np.iinfo(np.int64).min
        with pysam.AlignmentFile(str(path), check_sq=False) as file:
            starts = {i: int(self._genome.starts[self._numbers[n]]) for i, n in enumerate(file.references)}
            for record in file.fetch(until_eof=True):
                if record.flag & UNMAPPED:
                    continue
                number = int(record.query_name[1:])
                read = 2 * number + bool(record.flag & SECOND_MATE) if self._reads.paired else number
                tag = record.get_tag("AS") if record.has_tag("AS") else missing
                begin = starts[record.reference_id] + record.reference_start
                heads.append((read, record.flag, record.mapping_quality, begin, tag))
                cigars.append(record.cigartuples)
                size += record.reference_length
                if size > _BATCH:
                    yield heads, cigars
                    heads, cigars, size = [], [], 0
        if heads:
            yield heads, cigars

    def _batch(self, heads: list[tuple[int, ...]], cigars: list[list[tuple[int, int]]]) -> tuple[I64, ...]:
        """Return the columns of a batch, and note what its records say of each base."""
        read, flag, mapq, begin, tag = np.array(heads, np.int64).T
        counts = np.array([len(cigar) for cigar in cigars])
        code, length = np.array([operation for cigar in cigars for operation in cigar], np.int64).T
        record = np.repeat(np.arange(len(cigars)), counts)
        first_of = np.cumsum(counts) - counts
        on_read, on_reference = _before(length * _ON_READ[code], first_of, counts), None
        on_reference = _before(length * _ON_REFERENCE[code], first_of, counts)
        whole = self._reads.starts[read + 1] - self._reads.starts[read]
        assert (np.add.reduceat(length * _ON_READ[code], first_of) == whole).all(), "a CIGAR of another length"
        ends = begin + np.add.reduceat(length * _ON_REFERENCE[code], first_of)
        reverse = (flag & REVERSE) != 0
        clips = np.where((code == SOFT) | (code == HARD), length, 0)
        inside = on_read > 0
        left = np.add.reduceat(clips * ~inside, first_of)
        both = np.add.reduceat(clips, first_of)
        first = np.where(reverse, both - left, left)
        last = whole - (both - first)
        counted = (flag & SECONDARY) == 0
        matches, mismatches = self._bases_of(
            (read, begin, reverse, counted), _ALIGNED[code], record, length, on_read, on_reference
        )
        is_gap = (code == INSERTION) | (code == DELETION)
        costs = np.bincount(record, np.where(is_gap, gap_costs(length, self._scores), 0), len(read))
        score = matches * self._scores.match - mismatches * self._scores.mismatch - costs.astype(np.int64)
        for at in np.flatnonzero(is_gap & (length >= _GAP) & counted[record]).tolist():
            own = int(record[at])
            position = int(begin[own] + on_reference[at])
            self._gaps.append(Gap(int(read[own]), bool(code[at] == DELETION), position, int(length[at])))
        for base, low, high in zip(self._reads.starts[read[counted]], first[counted], last[counted], strict=True):
            self._covered[base + low : base + high] = True
        return read, flag, mapq, begin, ends, first, last, score, tag, both

    def _bases_of(
        self,
        heads: tuple[np.ndarray, ...],
        aligned: np.ndarray,
        record: I64,
        length: I64,
        on_read: I64,
        on_reference: I64,
    ) -> tuple[I64, I64]:
        """Compare aligned bases with the reference and with the truth; return matches and mismatches by record."""
        read, begin, reverse, counted = heads
        rows = np.flatnonzero(aligned)
        own = np.repeat(record[rows], length[rows])
        within = np.arange(len(own)) - np.repeat(np.cumsum(length[rows]) - length[rows], length[rows])
        position = begin[own] + np.repeat(on_reference[rows], length[rows]) + within
        place = np.repeat(on_read[rows], length[rows]) + within
        size = self._reads.starts[read + 1] - self._reads.starts[read]
        back = reverse[own]
        place = self._reads.starts[read][own] + np.where(back, size[own] - 1 - place, place)
        bases = self._reads.bases[place]
        same = np.where(back, COMPLEMENT[bases], bases) == self._genome.bases[position]
        of_main = counted[own]
        self._aligned[place[of_main]] = True
        hit = of_main & (self._reads.codes[place] == 2 * position + back)
        self._right[place[hit]] = True
        matches = np.bincount(own, same, len(read)).astype(np.int64)
        return matches, np.bincount(own, minlength=len(read)) - matches


def _before(lengths: I64, first_of: I64, counts: I64) -> I64:
    """Return for each operation the sum of the lengths before it in its record."""
    sums = np.cumsum(lengths) - lengths
    return sums - np.repeat(sums[first_of], counts)
