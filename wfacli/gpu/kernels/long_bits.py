"""What the host needs to know of cuda/long/long_bits.cu: builds, bands, memory, how long it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...core import tuning

THREADS = 128  # a block: a warp for each scheduler of a multiprocessor, which has one block
WARPS = THREADS // 32
MEETING = "long-bits-meet"  # the row of the catalogue for the matrices' meeting
MEETING_THREADS = 1024
_BOTH = 4  # stripes from which on two matrices share them
_LEAST_BAND = 64  # diagonals beside the first one, so that each stripe begins below the one before
_SAMPLES = 16  # stripes that stand for all, where their columns are counted


@dataclass(frozen=True)
class Shape:
    """A build of the kernel.

    Attributes:
        planes: bits of a letter: 2 (A C G T), 4 (16 letters) or 8.
        words: of 32 rows that a lane has.
    """

    planes: int
    words: int

    @property
    def rows(self) -> int:
        """Of a stripe."""
        return 32 * 32 * self.words

    @property
    def name(self) -> str:
        """Of its row in the catalogue."""
        return f"long-bits-{self.planes}-{self.words}"

    @property
    def row_bytes(self) -> int:
        """Of 32 letters on the GPU."""
        return 32 if self.planes == 8 else 16

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """What the kernel is compiled for."""
        # Letters in registers: for sm_100 nvcc takes fewer than they need, unless it knows that there is one block.
        resident = (("WFACLI_RESIDENT", 1),) if self.planes == 8 else ()
        return (("WFACLI_PLANES", self.planes), ("WFACLI_WORDS", self.words), *resident)


SHAPES = tuple(Shape(planes, words) for planes in (2, 4, 8) for words in (1, 2, 4, 8) if planes * words <= 16)


@dataclass(frozen=True)
class Band:
    """The diagonals (column - row) that are computed, and up to which distance that suffices.

    Attributes:
        low, high: the first and the last diagonal.
        proves: distances that are no more than this are right (Ukkonen 1985): a path that leaves the band costs a step
            for each diagonal that it goes out, beyond those of the lengths, and one for each that it comes back.
    """

    low: int
    high: int
    proves: int

    @classmethod
    def for_distance(cls, query_len: int, target_len: int, distance: int) -> Band:
        """The narrowest that proves a distance."""
        apart = target_len - query_len
        beyond = max((distance - abs(apart)) // 2, (_LEAST_BAND - abs(apart)) // 2 + 1, 0)
        low, high = min(apart, 0) - beyond, max(apart, 0) + beyond
        whole = low <= -query_len and high >= target_len
        return cls(
            max(low, -query_len - _LEAST_BAND),
            min(high, target_len + _LEAST_BAND),
            max(query_len, target_len) if whole else abs(apart) + 2 * beyond + 1,
        )

    @property
    def diagonals(self) -> int:
        """How many."""
        return self.high - self.low + 1


def stripes(shape: Shape, query_len: int) -> tuple[int, int]:
    """Of both matrices; the second has one more, or there is only the first."""
    count = -(-query_len // shape.rows)
    return (count // 2, count - count // 2) if count >= _BOTH else (count, 0)


def turns(shape: Shape, query_len: int) -> int:
    """Stripes of both matrices."""
    return sum(stripes(shape, query_len))


def before(turn: int, both: bool) -> tuple[int, int]:
    """How many of each matrix come before a turn: they take turns, the second one first."""
    return (turn // 2, (turn + 1) // 2) if both else (turn, 0)


def above(shape: Shape, query_len: int) -> int:
    """Rows of the second matrix's first stripe that lie above it, so that the last one ends where the two meet."""
    first, second = stripes(shape, query_len)
    return (first + second) * shape.rows - query_len if second else 0


def edge_words(shape: Shape, band: Band, target_len: int) -> int:
    """Words of 32 columns that a stripe has at most."""
    return min((shape.rows + band.diagonals) // 32 + 3, -(-target_len // 32) + 1)


def columns(shape: Shape, band: Band, stripe: int, target_len: int) -> tuple[int, int]:
    """The first of a stripe's columns, and the one behind the last, in words of 32; in the first matrix."""
    first = max(stripe * shape.rows + band.low, 0) // 32
    return first, -(-min((stripe + 1) * shape.rows + band.high, target_len) // 32)


def cells(shape: Shape, band: Band, first: int, end: int, lengths: tuple[int, int]) -> int:
    """Between two turns, about."""
    both = stripes(shape, lengths[0])[1] > 0
    middle = before((first + end) // 2, both)[0]
    begin, behind = columns(shape, band, middle, lengths[1])
    return (end - first) * 32 * max(behind - begin, 0) * shape.rows


def together(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band) -> float:
    """Stripes that are under way at a time: one begins when the one before is far enough ahead of it."""
    query_len, target_len = lengths
    across = min(shape.rows + band.diagonals, target_len)
    behind = min(shape.rows, query_len) + tuning.GPU_BITS_BEHIND
    matrices = 2 if stripes(shape, query_len)[1] else 1
    return max(min(turns(shape, query_len), matrices * across / behind, multiprocessors * WARPS), 1.0)


def seconds(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band) -> float:
    """Of a band's stripes, from both ends where there are several."""
    return seconds_of(shape, multiprocessors, lengths, band, 2 if stripes(shape, lengths[0])[1] else 1)


def seconds_of(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band, matrices: int) -> float:
    """Of one matrix or two: a stripe waits for those before it, or for a warp, in parts for both."""
    query_len, target_len = lengths
    count = turns(shape, query_len)
    last = min(query_len // matrices + band.high, target_len)
    chain = last + count / matrices * tuning.GPU_BITS_BEHIND
    each = -(-count // matrices)
    some = range(0, each, -(-each // _SAMPLES))
    mean = sum(32 * (end - first) for first, end in (columns(shape, band, s, target_len) for s in some)) / len(some)
    work = count * mean / min(multiprocessors * WARPS, count)
    return tuning.GPU_BITS_COLUMN[shape.planes, shape.words] * math.sqrt(math.hypot(chain**2, work**2))


def best_shape(planes: int, multiprocessors: int, lengths: tuple[int, int], band: Band) -> Shape:
    """The fastest build for a band."""
    return min((s for s in SHAPES if s.planes == planes), key=lambda s: seconds(s, multiprocessors, lengths, band))
