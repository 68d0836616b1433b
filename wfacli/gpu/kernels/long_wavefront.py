"""Builds of cuda/long/long_wavefront.cu: tiles, relevant diagonals, and expected time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ...core import tuning

PAD_ROWS = 32  # readable rows of symbols before and after a sequence (cuda/common/planes.cuh)
SYMBOLS_PER_ROW = 32
GHOSTS = (64, 32, 16)  # scores per launch, thus diagonals at a tile's ends that are not written
NARROW = 1 << 29  # maximum length for 32-bit offsets: -2^30 marks an unreached diagonal
THREADS = 128


@dataclass(frozen=True)
class Shape:
    """A build of the kernel.

    Attributes:
        planes: bits per symbol: 2 (A C G T), 8, 32.
        bits: bits of an offset, 32 or 64.
        diagonals: neighbouring diagonals per lane.
        window_scores: scores after which a lane reloads its windows of symbols.
        ghosts: possible scores per launch, multiples of `diagonals`, less than half a tile's width.
        resident: blocks per multiprocessor, which bounds registers.
    """

    planes: int
    bits: int = 32
    diagonals: int = 8
    window_scores: int = 8
    ghosts: tuple[int, ...] = GHOSTS
    resident: int = 5

    @property
    def width(self) -> int:
        """Diagonals of a tile, which a warp computes."""
        return 32 * self.diagonals

    @property
    def row_bytes(self) -> int:
        """Bytes of 32 symbols."""
        return 16 if self.planes == 2 else 4 * self.planes

    def written(self, ghost: int) -> int:
        """Return the diagonals of a tile that are valid after `ghost` scores."""
        return self.width - 2 * ghost

    @property
    def slants(self) -> bool:
        """Whether the build's tiles can follow a steep front (cuda/long/long_wavefront_slant.cuh)."""
        return self.planes == 2 and self.diagonals > 1

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """Macros that the kernel is compiled with."""
        names = ("PLANES", "OFFSET", "DIAGONALS", "WINDOW_SCORES", "RESIDENT")
        values = (self.planes, self.bits, self.diagonals, self.window_scores, self.resident)
        return tuple((f"WFACLI_{name}", value) for name, value in zip(names, values, strict=True))


_RESIDENT = {(2, 32): 4, (2, 64): 2, (8, 32): 5, (8, 64): 3, (32, 32): 5, (32, 64): 3}
SHAPES = tuple(Shape(planes, bits, resident=blocks) for (planes, bits), blocks in _RESIDENT.items())


def shape_for(planes: int, longest: int) -> Shape:
    """Return the catalogue's build for such symbols and sequences of at most this length."""
    return next(s for s in SHAPES if s.planes == planes and s.bits == (32 if longest <= NARROW else 64))


def row_of(shape: Shape) -> str:
    """Return the catalogue row of a build."""
    return f"long-wavefront-{shape.planes}" + ("" if shape.bits == 32 else "-wide")


def planes_row_of(planes: int) -> str:
    """Return the catalogue row that converts symbols to bit planes."""
    return f"long-planes-{planes}"


def relevant_diagonals(query_len: int, target_len: int, score: int, bound: int) -> tuple[int, int]:
    """Return the first and last relevant diagonal of either front at a score, if the distance is at most `bound`.

    Diagonals outside the matrix, or further out than the number of edits, are not reached. From diagonal k the end, on
    diagonal `end`, is at least |end - k| edits away, which a best path must have left: the dynamic diamond (paper 002,
    4.3). Two fronts have its other half in any case, because neither goes further than half of the distance. If both
    scores together exceed the bound, a best path may change from one front to the other at any cell that both have
    reached; then as many edits as the score are left.
    """
    end = target_len - query_len
    remaining = max(bound - score, score)
    return max(-query_len, -score, end - remaining), min(target_len, score, end + remaining)


@dataclass(frozen=True)
class Tiles:
    """The tiles of a launch: `count` for each front, which together write `count * written` diagonals."""

    first: int
    count: int
    ghost: int
    written: int

    @property
    def diagonals(self) -> int:
        """Diagonals that are written."""
        return self.count * self.written

    @classmethod
    def over(cls, shape: Shape, ghost: int, low: int, high: int) -> Tiles:
        """Return the tiles that cover diagonals low to high."""
        first = low // shape.diagonals * shape.diagonals
        written = shape.written(ghost)
        return cls(first, -(-(high - first + 1) // written), ghost, written)


@dataclass(frozen=True)
class Launch:
    """Parameters of a launch: its number of scores, and whether tiles may follow a steep front."""

    ghost: int
    slant: bool = False


def launch_seconds(shape: Shape, multiprocessors: int, tiles: int, launch: Launch, speed: float = 0.0) -> float:
    """Return the expected time in seconds of a launch with `tiles` tiles per front.

    It is the longest of the host's call, a warp's own steps, and all points together. `speed`: bases that fronts
    advance per score; above a few, windows of bases last only one score, unless tiles follow the front.
    """
    factor, step = 1.0, tuning.GPU_LONG_STEP
    if launch.slant:
        factor, step = tuning.GPU_LONG_SLANT, tuning.GPU_LONG_SLANT_STEP
    elif speed > tuning.GPU_LONG_SPEED:
        factor, step = tuning.GPU_LONG_FAST, tuning.GPU_LONG_FAST_STEP
    rate = tuning.GPU_LONG_POINTS * multiprocessors / tuning.GPU_MULTIPROCESSORS
    points = 2 * tiles * shape.width * launch.ghost * tuning.GPU_LONG_PLANES[shape.planes] * factor
    return max(tuning.GPU_LONG_LAUNCH, launch.ghost * step, tuning.GPU_LONG_GAP + points / rate)


def best_launch(shape: Shape, multiprocessors: int, diagonals: int, speed: float = 0.0) -> Launch:
    """Return the best launch for `diagonals` diagonals of a front: long for narrow fronts, short for wide ones."""

    def per_score(launch: Launch) -> float:
        tiles = -(-diagonals // shape.written(launch.ghost))
        return launch_seconds(shape, multiprocessors, tiles, launch, speed) / launch.ghost

    slants = (False, True) if shape.slants and speed > tuning.GPU_LONG_SPEED else (False,)
    return min((Launch(ghost, slant) for slant in slants for ghost in shape.ghosts), key=per_score)


def seconds(shape: Shape, multiprocessors: int, lengths: tuple[int, int], edits: int) -> float:
    """Return the expected time in seconds of all launches for a pair, sampled over the front's width."""
    query_len, target_len = lengths
    speed = min(lengths) / max(edits, 1)
    total, score = 0.0, 0
    for next_score in _steps(edits // 2 + 1):
        low, high = relevant_diagonals(query_len, target_len, next_score, max(edits, 1))
        width = max(high - low + 1, 1)
        launch = best_launch(shape, multiprocessors, width, speed)
        one = launch_seconds(shape, multiprocessors, -(-width // shape.written(launch.ghost)), launch, speed)
        total += one * (next_score - score) / launch.ghost
        score = next_score
    return total


def _steps(last: int) -> Iterable[int]:
    """Return scores up to the last one, at most 64 of them."""
    return sorted({math.ceil(last * part / 64) for part in range(1, 65)})
