"""What the host needs to know of cuda/local/local.cu: builds, letters as they have them, memory, how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core import tuning
from ...core.batch import U8

# Rows of the catalogue: where a path can come from, where it is believed to, and cells of kept rows.
CONES, TOPS, WINDOWS, CONE_THREADS = "local-cones", "local-tops", "local-windows", 256
_HALF = 0xFFFF  # the greatest score of a half, from its floor on
_FLOOR = 128  # at least, so that no letters' score leaves a half
_SLOTS = 3  # states that a warp can put aside (cuda/local/local_room.cuh)
_PAIR_LETTERS = 4  # of the target, that are looked up two at a time
_OTHERS = 1 / 2000  # of its letters may be others for that: as many tiles of 128 columns and 63 are slow (guess)
_CELL = 8  # bytes of a row
_WARPS = 12  # of a multiprocessor, at most
STATE_ROWS = 1536  # kLocalStateRows of native/solvers/local/local.hpp: states stop, and keep rows, at multiples of it

I8 = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Build:
    """A build of the kernel.

    Attributes:
        pairs: whether scores are looked up for two letters at a time.
        words: that a lane has, each with a row in either half; a multiple of 4.
        chunk: steps of a tile.
        warps: of a block.
    """

    pairs: bool
    words: int = 8
    chunk: int = 128
    warps: int = 4

    @property
    def name(self) -> str:
        """Of its row in the catalogue."""
        return f"local-{'pairs' if self.pairs else 'bytes'}-{self.words}"

    @property
    def threads(self) -> int:
        """Of a block."""
        return 32 * self.warps

    @property
    def rows(self) -> int:
        """Of a strip."""
        return 64 * self.words

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """What the source is compiled for."""
        sizes = (("WFACLI_ROWS", self.words), ("WFACLI_CHUNK", self.chunk), ("WFACLI_PAIRS", int(self.pairs)))
        return (*sizes, ("WFACLI_RESIDENT", _WARPS // self.warps))

    def shared(self, letters: int) -> int:
        """Bytes of shared memory of a block, as Room of cuda/local/local_room.cuh has it."""
        scores = _PAIR_LETTERS**2 * self.words * 128 if self.pairs else 2 * letters * (self.words // 4) * 128
        return self.warps * (scores + 4 * (3 * self.chunk + 40))

    def scratch(self, warps: int) -> int:
        """Bytes that warps put states aside in."""
        return 4 * warps * _SLOTS * (32 * (2 * self.words + 2) + self.chunk)

    def apart(self, scores: Scores) -> int:
        """By which scores of two cells that a tile has to do with differ at most; as LocalPair::choose_kernel."""
        way = self.rows + self.chunk + 2 * 64 + 2
        return way * (scores.match + scores.extend) + 4 * (scores.open + scores.extend) + 1

    def holds(self, scores: Scores) -> bool:
        """Whether halves hold all scores of a tile, and what comes into one."""
        grows = min(self.rows, self.chunk + 63) * scores.match
        return scores.floor + self.apart(scores) + grows <= _HALF and scores.match >= 0


# One H200, 2026-11-22, 1.2 Mb with 1.2 Mb, every tile, TCUPS. Pairs by words: 4 2.6, 8 3.2, 12 3.0 (with fewer warps,
# for lack of shared memory); 8 with tiles of 64 columns 3.3, of 256 2.9. Bytes: 8 1.5, 12 2.4, 16 2.0 (which has too
# few strips for all warps). Since then a branch has been taken out of each step.
BUILDS = (Build(pairs=True), Build(pairs=False, words=12))


@dataclass(frozen=True, eq=False)
class Scores:
    """A scheme as the kernel has it, for two sequences.

    Attributes:
        table: i8[row letters + 1, letters]; the last row is of no letter.
        row_codes, column_codes: u8[A], of each code of the scheme that of the table.
        open, extend: a gap of l letters costs open + l * extend.
        others: the share of the target's letters that are none of its four most frequent ones.
        match: the most that two letters score, 0 at least.
    """

    table: I8
    row_codes: U8
    column_codes: U8
    open: int
    extend: int
    others: float = 0.0

    @classmethod
    def of(cls, matrix: I8, open_: int, extend: int, query: U8, target: U8) -> Scores:
        """From i8[A, A], a query's code by a target's, and both sequences' codes, neither of them empty.

        Letters that score alike are one.
        """
        rows, columns = (np.flatnonzero(np.bincount(side, minlength=len(matrix))) for side in (query, target))
        part = matrix[np.ix_(rows, columns)]
        part, row_of = np.unique(part, axis=0, return_inverse=True)
        part, column_of = np.unique(part, axis=1, return_inverse=True)
        counts = np.bincount(column_of.reshape(-1), np.bincount(target, minlength=len(matrix))[columns])
        order = np.argsort(-counts, kind="stable")  # the most frequent ones first
        part, column_of = part[:, order], np.argsort(order)[column_of.reshape(-1)]
        below = np.full((1, part.shape[1]), min(int(part.min()), -1), np.int8)
        codes = [np.zeros(len(matrix), np.uint8) for _ in range(2)]
        codes[0][rows], codes[1][columns] = row_of.reshape(-1), column_of
        table = np.ascontiguousarray(np.concatenate([part, below]), np.int8)
        others = float(np.sort(counts)[: max(len(counts) - _PAIR_LETTERS, 0)].sum() / counts.sum())
        return cls(table, codes[0], codes[1], open_, extend, others)

    @property
    def match(self) -> int:
        """See above."""
        return max(int(self.table.max()), 0)

    @property
    def letters(self) -> int:
        """Different ones of the target."""
        return int(self.table.shape[1])

    @property
    def floor(self) -> int:
        """What a score of 0 is in a half: nothing that is taken from a score leaves it."""
        return max(self.open + 2 * self.extend, _FLOOR)


def best_build(scores: Scores, shared: int, builds: tuple[Build, ...] = BUILDS) -> Build | None:
    """The fastest build that can take a scheme where a block may have so much shared memory; None: there is none."""
    for build in builds:
        fits = build.shared(scores.letters) <= shared
        if fits and build.holds(scores) and (not build.pairs or scores.others <= _OTHERS):
            return build
    return None


def kept_apart(strips: int, every: int, columns: int, memory: int) -> int:
    """Strips between two kept rows: a divisor of `every`, the least for which all of them fit so many bytes."""
    fit = max(memory // (columns * _CELL), 1)
    divisors = (d for d in range(1, every + 1) if every % d == 0)
    return next((d for d in divisors if strips // d <= fit), every)


def seconds(build: Build, multiprocessors: int, rows: int, columns: int) -> float:
    """Of the score of a pair, without the GPU's opening."""
    strips = -(-rows // build.rows)
    warps = multiprocessors * tuning.GPU_LOCAL_WARPS
    across = columns * -(-strips // warps) if strips > warps else columns
    chain = min(strips, warps) * tuning.GPU_LOCAL_BEHIND
    return tuning.GPU_LOCAL_START + (across + chain) * tuning.GPU_LOCAL_COLUMN[build.pairs]
