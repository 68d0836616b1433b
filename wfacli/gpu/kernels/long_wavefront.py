"""What the host needs to know of long_wavefront.cu: builds, tiles, which diagonals matter, how long it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ...core import tuning

PAD_ROWS = 32  # of letters that can be read before and after a sequence (cuda/common/planes.cuh)
LETTERS_OF_A_ROW = 32
GHOSTS = (64, 32, 16)  # scores of a launch, thus diagonals at a tile's ends that are not written
NARROW = 1 << 29  # letters of either sequence that 32-bit offsets are for: -2^30 is an unreached diagonal's
THREADS = 128


@dataclass(frozen=True)
class Shape:
    """A build of the kernel.

    Attributes:
        planes: bits of a letter: 2 (A C G T), 8, 32.
        bits: of an offset, 32 or 64.
        diagonals: neighbours that a lane has.
        again: scores after which a lane looks up its windows of letters.
        ghosts: scores that a launch may have, multiples of `diagonals`, less than half a tile's width.
        resident: blocks that a multiprocessor holds, which bounds registers.
    """

    planes: int
    bits: int = 32
    diagonals: int = 8
    again: int = 8
    ghosts: tuple[int, ...] = GHOSTS
    resident: int = 5

    @property
    def width(self) -> int:
        """Diagonals of a tile, which a warp has."""
        return 32 * self.diagonals

    @property
    def row_bytes(self) -> int:
        """Of 32 letters."""
        return 16 if self.planes == 2 else 4 * self.planes

    def written(self, ghost: int) -> int:
        """Diagonals of a tile that are right after `ghost` scores."""
        return self.width - 2 * ghost

    @property
    def slants(self) -> bool:
        """Whether its tiles can go along with a front (cuda/long/long_wavefront_slant.cuh)."""
        return self.planes == 2 and self.diagonals > 1

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """What the kernel is compiled for."""
        names = ("PLANES", "OFFSET", "DIAGONALS", "AGAIN", "RESIDENT")
        values = (self.planes, self.bits, self.diagonals, self.again, self.resident)
        return tuple((f"WFACLI_{name}", value) for name, value in zip(names, values, strict=True))


_RESIDENT = {(2, 32): 4, (2, 64): 2, (8, 32): 5, (8, 64): 3, (32, 32): 5, (32, 64): 3}
SHAPES = tuple(Shape(planes, bits, resident=blocks) for (planes, bits), blocks in _RESIDENT.items())


def shape_for(planes: int, longest: int) -> Shape:
    """The catalogue's build for such letters and so long sequences."""
    return next(s for s in SHAPES if s.planes == planes and s.bits == (32 if longest <= NARROW else 64))


def row_of(shape: Shape) -> str:
    """The catalogue's row for a build."""
    return f"long-wavefront-{shape.planes}" + ("" if shape.bits == 32 else "-wide")


def letters_row_of(planes: int) -> str:
    """The catalogue's row that makes planes of letters."""
    return f"long-letters-{planes}"


def diagonals_that_matter(query_len: int, target_len: int, score: int, bound: int) -> tuple[int, int]:
    """First and last diagonal of either front at a score, if the distance is no more than `bound`.

    Outside the matrix, or of more diagonals than edits, there is nothing. From diagonal k the end, on diagonal `end`,
    is |end - k| edits away at least, which a best path must have left: in the paper's words the dynamic diamond (paper
    002, 4.3), whose other half two fronts have in any case, since neither goes further than half of the distance. When
    both scores together are more than the bound, the cell where a best path changes from one front to the other may be
    any that both have reached; then as much as the score is left.
    """
    end = target_len - query_len
    left = max(bound - score, score)
    return max(-query_len, -score, end - left), min(target_len, score, end + left)


@dataclass(frozen=True)
class Tiles:
    """The tiles of a launch: `count` of them for each front, that together write `count * written` diagonals."""

    first: int
    count: int
    ghost: int
    written: int

    @property
    def diagonals(self) -> int:
        """That are written."""
        return self.count * self.written

    @classmethod
    def over(cls, shape: Shape, ghost: int, low: int, high: int) -> Tiles:
        """For diagonals low to high."""
        first = low // shape.diagonals * shape.diagonals
        written = shape.written(ghost)
        return cls(first, -(-(high - first + 1) // written), ghost, written)


@dataclass(frozen=True)
class Launch:
    """How a launch goes: so many scores, and whether tiles beside what runs ahead go along with it."""

    ghost: int
    slant: bool = False


def launch_seconds(shape: Shape, multiprocessors: int, tiles: int, launch: Launch, speed: float = 0.0) -> float:
    """A launch with so many tiles of each front: of the host's call, a warp's own steps, and all points together.

    `speed` is the letters that fronts move in a score: from a few on, windows of letters serve for one score alone,
    unless tiles go along.
    """
    times, step = 1.0, tuning.GPU_LONG_STEP
    if launch.slant:
        times, step = tuning.GPU_LONG_SLANT, tuning.GPU_LONG_SLANT_STEP
    elif speed > tuning.GPU_LONG_SPEED:
        times, step = tuning.GPU_LONG_FAST, tuning.GPU_LONG_FAST_STEP
    rate = tuning.GPU_LONG_POINTS * multiprocessors / tuning.GPU_MULTIPROCESSORS
    points = 2 * tiles * shape.width * launch.ghost * tuning.GPU_LONG_PLANES[shape.planes] * times
    return max(tuning.GPU_LONG_LAUNCH, launch.ghost * step, tuning.GPU_LONG_GAP + points / rate)


def best_launch(shape: Shape, multiprocessors: int, diagonals: int, speed: float = 0.0) -> Launch:
    """For so many diagonals of a front: narrow fronts take few long launches, wide ones waste less."""

    def a_score(launch: Launch) -> float:
        tiles = -(-diagonals // shape.written(launch.ghost))
        return launch_seconds(shape, multiprocessors, tiles, launch, speed) / launch.ghost

    ways = (False, True) if shape.slants and speed > tuning.GPU_LONG_SPEED else (False,)
    return min((Launch(ghost, slant) for slant in ways for ghost in shape.ghosts), key=a_score)


def seconds(shape: Shape, multiprocessors: int, lengths: tuple[int, int], edits: int) -> float:
    """Of all launches for a pair with so many edits, by steps of the front's width."""
    query_len, target_len = lengths
    speed = min(lengths) / max(edits, 1)
    total, score = 0.0, 0
    for upto in _steps(edits // 2 + 1):
        low, high = diagonals_that_matter(query_len, target_len, upto, max(edits, 1))
        width = max(high - low + 1, 1)
        launch = best_launch(shape, multiprocessors, width, speed)
        one = launch_seconds(shape, multiprocessors, -(-width // shape.written(launch.ghost)), launch, speed)
        total += one * (upto - score) / launch.ghost
        score = upto
    return total


def _steps(last: int) -> Iterable[int]:
    """Scores up to the last one, 64 at most."""
    return sorted({math.ceil(last * part / 64) for part in range(1, 65)})
