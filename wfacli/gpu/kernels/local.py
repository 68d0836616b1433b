"""Builds of cuda/local/local.cu: scoring schemes in their form, memory, and expected time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core import tuning
from ...core.batch import U8

# Catalogue rows: where a path can come from, where it is expected to come from, and cells of stored rows.
CONES, TOPS, WINDOWS, CONE_THREADS = "local-cones", "local-tops", "local-windows", 256
_HALF = 0xFFFF  # maximum 16-bit score, from the floor on
_FLOOR = 128  # minimum floor, so that no symbol's score makes a half negative
_SLOTS = 3  # states that a warp can set aside (cuda/local/local_layout.cuh)
_PAIR_SYMBOLS = 4  # symbols of the target whose scores are looked up two at a time
# Maximum share of other symbols for that: as many tiles of 128 columns and 63 are slow (estimate).
_MAX_RARE = 1 / 2000
_CELL = 8  # bytes per cell of a row
_WARPS = 12  # maximum warps per multiprocessor
STATE_ROWS = 1536  # kLocalStateRows of native/solvers/local/local.hpp: states end, and rows are stored, at multiples

I8 = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Build:
    """A build of the kernel.

    Attributes:
        pairs: whether scores are looked up for two target symbols at a time.
        words: words per lane, each with two rows in its halves; a multiple of 4.
        chunk: steps per tile.
        warps: warps per block.
    """

    pairs: bool
    words: int = 8
    chunk: int = 128
    warps: int = 4

    @property
    def name(self) -> str:
        """Name of the catalogue row."""
        return f"local-{'pairs' if self.pairs else 'bytes'}-{self.words}"

    @property
    def threads(self) -> int:
        """Threads per block."""
        return 32 * self.warps

    @property
    def rows(self) -> int:
        """Rows of a strip."""
        return 64 * self.words

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """Macros that the source is compiled with."""
        sizes = (("WFACLI_WORDS", self.words), ("WFACLI_CHUNK", self.chunk), ("WFACLI_PAIRS", int(self.pairs)))
        return (*sizes, ("WFACLI_RESIDENT", _WARPS // self.warps))

    def shared(self, n_column_codes: int) -> int:
        """Return the bytes of shared memory of a block, as in WarpMemory of cuda/local/local_layout.cuh."""
        scores = _PAIR_SYMBOLS**2 * self.words * 128 if self.pairs else 2 * n_column_codes * (self.words // 4) * 128
        return self.warps * (scores + 4 * (3 * self.chunk + 40))

    def scratch(self, warps: int) -> int:
        """Return the bytes in which warps set states aside."""
        return 4 * warps * _SLOTS * (32 * (2 * self.words + 2) + self.chunk)

    def max_difference(self, scores: Scores) -> int:
        """Return the maximum difference of two scores that a tile handles; same as LocalPair::choose_kernel."""
        steps = self.rows + self.chunk + 2 * 64 + 2
        return steps * (scores.match + scores.extend) + 4 * (scores.open + scores.extend) + 1

    def holds(self, scores: Scores) -> bool:
        """Return whether 16 bits hold all scores of a tile and its inputs."""
        growth = min(self.rows, self.chunk + 63) * scores.match
        return scores.floor + self.max_difference(scores) + growth <= _HALF and scores.match >= 0


# TCUPS on an H200, 2026-11-22, 1.2 Mb with 1.2 Mb, all tiles computed. Pairs, by words: 4 2.6, 8 3.2, 12 3.0 (fewer
# warps, limited by shared memory); 8 with tiles of 64 columns 3.3, of 256 2.9. Bytes: 8 1.5, 12 2.4, 16 2.0 (too few
# strips for all warps). A branch has been removed from each step since.
BUILDS = (Build(pairs=True), Build(pairs=False, words=12))


@dataclass(frozen=True, eq=False)
class Scores:
    """A scoring scheme in the form that the kernel uses, for one pair of sequences.

    Attributes:
        table: i8[row symbols + 1, column symbols]; the last row stands for rows below the matrix.
        row_codes, column_codes: u8[A], the table's code for each code of the scheme.
        open, extend: a gap of length l costs open + l * extend.
        rare: share of the target's symbols that are not among its four most frequent ones.
        match: maximum score of two symbols, at least 0.
    """

    table: I8
    row_codes: U8
    column_codes: U8
    open: int
    extend: int
    rare: float = 0.0

    @classmethod
    def of(cls, matrix: I8, open_: int, extend: int, query: U8, target: U8) -> Scores:
        """Convert i8[A, A], a query code's scores by target code, for two non-empty sequences of codes.

        Symbols with the same scores share a code.
        """
        rows, columns = (np.flatnonzero(np.bincount(side, minlength=len(matrix))) for side in (query, target))
        part = matrix[np.ix_(rows, columns)]
        part, row_of = np.unique(part, axis=0, return_inverse=True)
        part, column_of = np.unique(part, axis=1, return_inverse=True)
        counts = np.bincount(column_of.reshape(-1), np.bincount(target, minlength=len(matrix))[columns])
        order = np.argsort(-counts, kind="stable")  # most frequent first
        part, column_of = part[:, order], np.argsort(order)[column_of.reshape(-1)]
        below = np.full((1, part.shape[1]), min(int(part.min()), -1), np.int8)
        codes = [np.zeros(len(matrix), np.uint8) for _ in range(2)]
        codes[0][rows], codes[1][columns] = row_of.reshape(-1), column_of
        table = np.ascontiguousarray(np.concatenate([part, below]), np.int8)
        rare = float(np.sort(counts)[: max(len(counts) - _PAIR_SYMBOLS, 0)].sum() / counts.sum())
        return cls(table, codes[0], codes[1], open_, extend, rare)

    @property
    def match(self) -> int:
        """Maximum score of two symbols, at least 0."""
        return max(int(self.table.max()), 0)

    @property
    def n_column_codes(self) -> int:
        """Number of different symbols of the target."""
        return int(self.table.shape[1])

    @property
    def floor(self) -> int:
        """The 16-bit value of score 0, large enough that no subtraction makes a value negative."""
        return max(self.open + 2 * self.extend, _FLOOR)


def best_build(scores: Scores, shared: int, builds: tuple[Build, ...] = BUILDS) -> Build | None:
    """Return the fastest build for a scheme, given bytes of shared memory per block; None if none supports it."""
    for build in builds:
        fits = build.shared(scores.n_column_codes) <= shared
        if fits and build.holds(scores) and (not build.pairs or scores.rare <= _MAX_RARE):
            return build
    return None


def strips_between_rows(strips: int, every: int, columns: int, memory: int) -> int:
    """Return the strips between two stored rows: the least divisor of `every` so that rows fit in `memory` bytes."""
    fit = max(memory // (columns * _CELL), 1)
    divisors = (d for d in range(1, every + 1) if every % d == 0)
    return next((d for d in divisors if strips // d <= fit), every)


def seconds(build: Build, multiprocessors: int, rows: int, columns: int) -> float:
    """Return the expected time of a pair's score in seconds, without opening the GPU."""
    strips = -(-rows // build.rows)
    warps = multiprocessors * tuning.GPU_LOCAL_WARPS
    across = columns * -(-strips // warps) if strips > warps else columns
    chain = min(strips, warps) * tuning.GPU_LOCAL_LAG
    return tuning.GPU_LOCAL_START + (across + chain) * tuning.GPU_LOCAL_COLUMN[build.pairs]
