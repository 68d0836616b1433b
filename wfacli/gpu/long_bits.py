"""What the host needs to know of cuda/long_bits.cu: builds, bands, memory, how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

from .. import tuning

THREADS = 32  # a block: a warp has a stripe
_LEAST_BAND = 64  # diagonals beside the first one, so that each stripe begins below the one before
_MOST_RESIDENT = 32  # blocks of a multiprocessor, on every card


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
        """Of 32 letters on the card."""
        return 32 if self.planes == 8 else 16

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """What the kernel is compiled for."""
        return (("WFACLI_PLANES", self.planes), ("WFACLI_WORDS", self.words))


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


def stripes(shape: Shape, query_len: int) -> int:
    """Of a pair."""
    return -(-query_len // shape.rows)


def edge_words(shape: Shape, band: Band, target_len: int) -> int:
    """Words of 32 columns that a stripe has at most."""
    return min((shape.rows + band.diagonals) // 32 + 3, -(-target_len // 32) + 1)


def columns(shape: Shape, band: Band, stripe: int, target_len: int) -> tuple[int, int]:
    """The first of a stripe's columns, and the one behind the last, in words of 32."""
    first = max(stripe * shape.rows + band.low, 0) // 32
    return first, -(-min((stripe + 1) * shape.rows + band.high, target_len) // 32)


def cells(shape: Shape, band: Band, first: int, end: int, target_len: int) -> int:
    """Of some stripes, about."""
    middle = (first + end) // 2
    begin, behind = columns(shape, band, middle, target_len)
    return (end - first) * 32 * (behind - begin) * shape.rows


def seconds(shape: Shape, multiprocessors: int, lengths: tuple[int, int], band: Band) -> float:
    """Of a band: stripes go side by side, one begins when the one before is far enough ahead of it.

    A step of a warp takes a while, however few there are; a card full of them takes as long as their instructions.
    """
    query_len, target_len = lengths
    count, across = stripes(shape, query_len), min(shape.rows + band.diagonals, target_len)
    behind = min(shape.rows, query_len) + tuning.GPU_BITS_BEHIND  # columns that a stripe begins after the one before
    together = min(count, across / behind, multiprocessors * _MOST_RESIDENT)
    planes = tuning.GPU_BITS_PLANES[shape.planes]
    alone, full = (
        planes * tuning.GPU_BITS_ALONE[shape.words],
        planes * tuning.GPU_BITS_STEP[shape.words] * together / multiprocessors,
    )
    total = count * across / together + across
    return total * max(alone, full)


def best_shape(planes: int, multiprocessors: int, lengths: tuple[int, int], band: Band) -> Shape:
    """The fastest build for a band."""
    return min((s for s in SHAPES if s.planes == planes), key=lambda s: seconds(s, multiprocessors, lengths, band))
