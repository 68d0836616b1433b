"""Builds of cuda/long/long_bits.cu: bands, memory, and expected time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...core import tuning

THREADS = 128  # per block: a warp for each scheduler of a multiprocessor; one block per multiprocessor
WARPS = THREADS // 32
MEETING = "long-bits-meet"  # catalogue row that joins the two matrices
MEETING_THREADS = 1024
_MIN_FOR_TWO = 4  # minimum stripes for two matrices
_MIN_BAND = 64  # minimum diagonals beyond the first, so that each stripe begins below the previous one
_SAMPLES = 16  # stripes sampled to count columns


@dataclass(frozen=True)
class Shape:
    """A build of the kernel.

    Attributes:
        planes: bits per symbol: 2 (A C G T), 4 (16 symbols) or 8.
        words: words of 32 rows per lane.
    """

    planes: int
    words: int

    @property
    def rows(self) -> int:
        """Rows of a stripe."""
        return 32 * 32 * self.words

    @property
    def name(self) -> str:
        """Name of the catalogue row."""
        return f"long-bits-{self.planes}-{self.words}"

    @property
    def row_bytes(self) -> int:
        """Bytes of 32 symbols on the GPU."""
        return 32 if self.planes == 8 else 16

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """Macros that the kernel is compiled with."""
        # With 8 planes, symbols are in registers. For sm_100 nvcc allocates too few of them unless it is told that one
        # block is enough.
        resident = (("WFACLI_RESIDENT", 1),) if self.planes == 8 else ()
        return (("WFACLI_PLANES", self.planes), ("WFACLI_WORDS", self.words), *resident)


SHAPES = tuple(Shape(planes, words) for planes in (2, 4, 8) for words in (1, 2, 4, 8) if planes * words <= 16)


@dataclass(frozen=True)
class Band:
    """The diagonals (column - row) to compute, and the distance that they prove.

    Attributes:
        low, high: the first and the last diagonal.
        proves: distances up to this are exact (Ukkonen 1985): a path that leaves the band costs one step for each
            diagonal that it goes beyond those of the lengths, and one for each that it comes back.
    """

    low: int
    high: int
    proves: int

    @classmethod
    def for_distance(cls, query_len: int, target_len: int, distance: int) -> Band:
        """Return the narrowest band that proves a distance."""
        difference = target_len - query_len
        beyond = max((distance - abs(difference)) // 2, (_MIN_BAND - abs(difference)) // 2 + 1, 0)
        low, high = min(difference, 0) - beyond, max(difference, 0) + beyond
        whole = low <= -query_len and high >= target_len
        return cls(
            max(low, -query_len - _MIN_BAND),
            min(high, target_len + _MIN_BAND),
            max(query_len, target_len) if whole else abs(difference) + 2 * beyond + 1,
        )

    @property
    def diagonals(self) -> int:
        """Number of diagonals."""
        return self.high - self.low + 1


def stripes(shape: Shape, query_len: int) -> tuple[int, int]:
    """Return the stripes of both matrices: the second has as many or one more, or the first has all."""
    count = -(-query_len // shape.rows)
    return (count // 2, count - count // 2) if count >= _MIN_FOR_TWO else (count, 0)


def total_stripes(shape: Shape, query_len: int) -> int:
    """Return the stripes of both matrices together."""
    return sum(stripes(shape, query_len))


def stripes_before(index: int, both: bool) -> tuple[int, int]:
    """Return how many stripes of each matrix precede a stripe, by its index; they alternate, the second first."""
    return (index // 2, (index + 1) // 2) if both else (index, 0)


def padding_rows(shape: Shape, query_len: int) -> int:
    """Return the padding rows above the second matrix, so that its last stripe ends where the matrices meet."""
    first, second = stripes(shape, query_len)
    return (first + second) * shape.rows - query_len if second else 0


def edge_words(shape: Shape, band: Band, target_len: int) -> int:
    """Return the maximum words of 32 columns of a stripe."""
    return min((shape.rows + band.diagonals) // 32 + 3, -(-target_len // 32) + 1)


def columns(shape: Shape, band: Band, stripe: int, target_len: int) -> tuple[int, int]:
    """Return a stripe's range of columns in words of 32, end exclusive; in the first matrix."""
    first = max(stripe * shape.rows + band.low, 0) // 32
    return first, -(-min((stripe + 1) * shape.rows + band.high, target_len) // 32)


def cells(shape: Shape, band: Band, first: int, end: int, lengths: tuple[int, int]) -> int:
    """Return the approximate number of cells of the stripes from index `first` to `end` (exclusive)."""
    both = stripes(shape, lengths[0])[1] > 0
    middle = stripes_before((first + end) // 2, both)[0]
    begin, behind = columns(shape, band, middle, lengths[1])
    return (end - first) * 32 * max(behind - begin, 0) * shape.rows


def concurrent_stripes(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band) -> float:
    """Return how many stripes run concurrently: one begins when the previous one is far enough ahead."""
    query_len, target_len = lengths
    across = min(shape.rows + band.diagonals, target_len)
    behind = min(shape.rows, query_len) + tuning.GPU_BITS_LAG
    matrices = 2 if stripes(shape, query_len)[1] else 1
    return max(min(total_stripes(shape, query_len), matrices * across / behind, multiprocessors * WARPS), 1.0)


def seconds(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band) -> float:
    """Return the expected time of a band's stripes in seconds, with two matrices if there are several stripes."""
    return seconds_of(shape, multiprocessors, lengths, band, 2 if stripes(shape, lengths[0])[1] else 1)


def seconds_of(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band, matrices: int) -> float:
    """Return the same for one or two matrices: a stripe waits for earlier stripes or for a warp, modelled together."""
    query_len, target_len = lengths
    count = total_stripes(shape, query_len)
    last = min(query_len // matrices + band.high, target_len)
    chain = last + count / matrices * tuning.GPU_BITS_LAG
    each = -(-count // matrices)
    some = range(0, each, -(-each // _SAMPLES))
    mean = sum(32 * (end - first) for first, end in (columns(shape, band, s, target_len) for s in some)) / len(some)
    work = count * mean / min(multiprocessors * WARPS, count)
    return tuning.GPU_BITS_COLUMN[shape.planes, shape.words] * math.sqrt(math.hypot(chain**2, work**2))


def best_shape(planes: int, multiprocessors: int, lengths: tuple[int, int], band: Band) -> Shape:
    """Return the fastest build for a band."""
    return min((s for s in SHAPES if s.planes == planes), key=lambda s: seconds(s, multiprocessors, lengths, band))
