"""What the host needs to know of cuda/sw/sw.cu: its builds, their memory, and which scores their bits hold."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.batch import U8
from ...scoring.scheme import I8

CODES = 32  # in the table of scores
BEYOND_LEAST = -1  # what lies beyond a sequence scores no more than this
_STATE = 3  # words of a lane's state beside two for each column
_EDGE = 8  # bytes of a row of an edge
_LINE = 128  # bytes of directions that are written together
_ROOM_16 = 28_000  # what gaps may cost in 16 bits, and scores of letters reach
_ROOM_32 = 1_400_000_000

# What a lane does in a row, in instructions of the units that are busiest: for each column, and once; for a path
# also with states that are kept; with directions as digits and as flags (counted in machine code for sm_90); and where
# there is more than one stripe, once for as many rows as a group reads ahead. What a stripe takes beside its rows, in
# rows. With CIGARs: by what factor lanes of 32 columns take longer, whose states leave no registers; steps that are
# done again, with what comes in and out of each part; what a step of the way back takes, of a pair's lanes, or of
# a thread; by what factor rows take longer whose directions go to memory. At the end of a launch warps wait for the
# last ones: for how much of the time that a pair takes. Fitted to kernels of each build alone, pairs of 64 to 4,096
# letters on an H200, 2026-11-22 (d1c81ee); _KEPT and _ALONE are rounded.
_SWEEP, _STATES, _DIGITS, _FLAGS, _STRIPES, BEGIN = (5.5, 19.0), 1.1, (7.0, 8.0), (13.3, 8.0), 51.5, 29
_BROAD, _AGAIN, _WALK, _ALONE, _KEPT, _TAIL = 1.12, 0.87, 526.0, 300.0, 1.15, 0.54
_AT_LAST = 3  # launches that leave a GPU together, when no other comes
_RESIDENT = {32: 1584, 16: 2112}  # warps of such a GPU, by the columns of a lane
MOST_LOOKED_AT = 40_000  # pairs of a batch: with more all builds have enough
_DIRECTIONS = 256 << 10  # bytes of directions that a pair may have
_SHARED = 200 << 10  # bytes of a multiprocessor's shared memory
_WARPS = 8  # of a multiprocessor, which fewer do not keep busy
WALK_THREADS = 128  # of a block of sw_walk.cu
_ROWS_A_BLOCK = 512  # of all stripes of what its warps draw, where they leave before a launch ends
_ALL_OPERATIONS = 256  # letters of both sequences whose CIGAR has room for one each

_ANY_LENGTH = (1 << 31) - 1

F64 = npt.NDArray[np.float64]
Lengths = npt.NDArray[np.integer[Any]]  # of sequences, by pair


class Rule(enum.IntEnum):
    """What a launch aligns; SwRule of cuda/common/task.cuh."""

    LOCAL = 0
    SEMIGLOBAL = 1
    GLOBAL = 2
    EXTENSION = 3

    @property
    def build(self) -> Rule:
        """The one that a kernel is built for: SEMIGLOBAL is a matter of the launch."""
        return Rule.GLOBAL if self is Rule.SEMIGLOBAL else self


BUILT = (Rule.LOCAL, Rule.GLOBAL, Rule.EXTENSION)


@dataclass(frozen=True)
class Build:
    """A group of lanes.

    Attributes:
        lanes: that share a group's pairs.
        columns: of a lane.
        bits: of a score; a group has two pairs with 16, one with 32.
        steps: between two states that are kept.
        threads: of a block.
        whole: whether directions of all cells are kept for a path, rather than states.
    """

    lanes: int
    columns: int
    bits: int = 16
    steps: int = 64
    threads: int = 128
    whole: bool = False

    @property
    def width(self) -> int:
        """Columns of a stripe."""
        return self.lanes * self.columns

    @property
    def pairs(self) -> int:
        """Of a group."""
        return 32 // self.bits

    @property
    def groups(self) -> int:
        """Of a block."""
        return self.threads // self.lanes

    def macros(self, rule: Rule, path: bool) -> tuple[tuple[str, int], ...]:
        """What the source is compiled for."""
        return (
            ("WFACLI_LANES", self.lanes),
            ("WFACLI_COLUMNS", self.columns),
            ("WFACLI_BITS", self.bits),
            ("WFACLI_STEPS", self.steps),
            ("WFACLI_RULE", rule.build),
            ("WFACLI_PATH", int(path)),
            ("WFACLI_WHOLE", int(self.whole)),
        )

    def stride(self, rule: Rule, path: bool, longest_query: int, longest_target: int) -> int:
        """Bytes of workspace of a group, as Room of cuda/sw/sw_room.cuh has it."""
        edge = longest_query * _EDGE
        if not path or rule is Rule.EXTENSION:
            return padded(edge)
        stripes = (longest_target - 1) // self.width + 1
        if self.whole:
            steps = longest_query + self.lanes - 1
            lines = -(-steps // (_LINE // self.columns)) * self.lanes
            return padded(padded(edge, _LINE) + stripes * lines * _LINE)
        states = (longest_query + self.lanes - 2) // self.steps + 1
        kept = states * (2 * self.columns + _STATE) * 4 * self.lanes
        return padded(stripes * (edge + kept) + 32 + self.steps * self.width)

    def shared(self, codes: int) -> int:
        """Bytes of dynamic shared memory of a block: scores of a stripe's columns, by codes and the one beyond.

        And a line of directions of each lane, where all of them are kept.
        """
        return self.threads * (self.columns * self.pairs * (codes + 1) + (_LINE if self.whole else 0))

    @property
    def at_once(self) -> int:
        """Pairs that a GPU has at work at a time."""
        return _RESIDENT[32 if self.columns > 16 else 16] * 32 // self.lanes * self.pairs

    def work(
        self, query_len: Lengths, target_len: Lengths, path: bool = False, codes: int = 0, digits: bool = True
    ) -> F64:
        """What a group does for such pairs, in instructions of lanes: also for what lies beyond them.

        Args:
            query_len: letters, [n].
            target_len: letters, [n].
            path: whether CIGARs are wanted.
            codes: of the scheme; where their scores leave room for few warps, all takes longer. 0: not known.
            digits: whether directions come as digits; see Scores.digits.
        """
        rows, stripes = query_len + self.lanes - 1, -(-target_len // self.width)
        sweep, trace = (each * self.columns + once for each, once in (_SWEEP, _DIGITS if digits else _FLAGS))
        several = np.where(stripes > 1, _STRIPES / min(self.lanes, 16), 0)
        row = sweep if not path else _KEPT * trace if self.whole else sweep + _STATES * self.columns
        each = stripes * (rows + BEGIN) * (row + several)
        steps = np.minimum(query_len, target_len)  # of a path, about
        if path and self.whole:
            each = each + steps * _ALONE * self.pairs / self.lanes
        elif path:
            parts = steps / self.steps + steps / self.width + 1
            again = _AGAIN * (self.steps + self.lanes) * trace + _WALK * self.steps * self.pairs / self.lanes
            each = (each + parts * again) * (_BROAD if self.columns > 16 else 1)
        warps = _SHARED // (self.shared(codes) + 6_000) * self.threads // 32
        found: F64 = each * (self.lanes * max(_WARPS / max(warps, 1), 1))
        return found

    def keeps(self, query_len: Lengths, target_len: Lengths) -> npt.NDArray[np.bool_]:
        """Whether directions of all cells of such pairs may be kept."""
        stripes = -(-target_len // self.width)
        return stripes * (query_len + self.lanes) * self.width <= self.pairs * _DIRECTIONS


BUILDS = (Build(2, 32, steps=32), Build(4, 32, steps=32), Build(8, 32), Build(8, 16, steps=32), Build(32, 16))
WHOLE = tuple(replace(build, whole=True) for build in BUILDS[:-1])  # for paths, beside the others
WIDE = Build(32, 16, bits=32)


def row_of(build: Build, rule: Rule, path: bool) -> str:
    """The catalogue's row."""
    rule = rule.build
    kind = "" if not path else "-whole" if build.whole and rule is not Rule.EXTENSION else "-path"
    return _named(build, rule, kind)


def walk_row_of(build: Build, rule: Rule) -> str:
    """That of the way back by directions that were kept."""
    return _named(build, rule.build, "-walk")


def _named(build: Build, rule: Rule, kind: str) -> str:
    what = {Rule.LOCAL: "local", Rule.GLOBAL: "ends", Rule.EXTENSION: "extension"}[rule]
    return f"sw-{what}-{build.lanes}x{build.columns}-bits-{build.bits}{kind}"


@dataclass(frozen=True)
class Scores:
    """A scheme as kernels have it.

    Attributes:
        table: i8[32, 32], of a target's code (row) and a query's; that of `codes` lies beyond the sequences.
        same: bit c says whether code c beside itself is written '='.
        codes: letters.
        open, extend: of gaps.
        most, least: of all scores.
        unit: by which all of these are to be multiplied: kernels have numbers as small as possible.
    """

    table: I8
    same: int
    codes: int
    open: int
    extend: int
    most: int
    least: int
    unit: int

    @classmethod
    def of(cls, matrix: I8, same: npt.NDArray[np.uint8], open_: int, extend: int) -> Scores:
        """From i8[A, A], a query's code by a target's, and u8[A]; A is 30 at most."""
        unit = max(math.gcd(open_, extend, *map(int, np.unique(matrix))), 1)
        matrix, open_, extend = (matrix // unit).astype(np.int8), open_ // unit, extend // unit
        size, least = len(matrix), int(matrix.min())
        table = np.full((CODES, CODES), min(least, BEYOND_LEAST), np.int8)
        table[:size, :size] = matrix.T
        written = sum(1 << code for code, equal in enumerate(same.tolist()) if equal)
        return cls(table, written, size, open_, extend, int(matrix.max()), least, unit)

    @property
    def digits(self) -> bool:
        """Whether directions come as digits, as Gaps::digits of cuda/sw/sw_room.cuh says of the gaps."""
        return 1 <= self.open <= 3

    def into(self, task: npt.NDArray[np.void]) -> None:
        """Writes it into an SwTask."""
        for name in ("codes", "unit", "open", "extend", "most", "same"):
            task[name] = getattr(self, name)
        task["scores"] = self.table.view(np.uint32).reshape(1, -1)

    def longest(self, bits: int, rule: Rule) -> int:
        """Letters of the longest sequence such that so many bits hold all scores of a pair, and those beyond it.

        Local scores are held by any bits, as long as they are no more than the kernel says; others begin with gaps
        along the edges, so no cell has less than two gaps and the gap that it opens.
        """
        room = (_ROOM_16 if bits == 16 else _ROOM_32) - 1
        if rule is Rule.LOCAL and bits == 16:
            return _ANY_LENGTH
        found = room // self.most if self.most > 0 else _ANY_LENGTH
        if rule is not Rule.LOCAL:
            slack = 2 * WIDE.width + 64  # columns and rows beyond
            room -= 3 * self.open + slack * self.extend - 2 * self.least
            found = min(found, room // (2 * self.extend) if self.extend else _ANY_LENGTH if room >= 0 else 0)
        return max(min(found, _ANY_LENGTH), 0)


def padded(nbytes: int, to: int = 512) -> int:
    """The next multiple."""
    return -(-nbytes // to) * to


# Lengths in steps, each of which has one build: multiples of 16, so that none lies across the end of a stripe.
_LONGEST = 16_384  # beyond it all have one
_STEPS = np.concatenate([np.arange(16, 1024, 16), np.arange(1024, 4096, 64), np.arange(4096, _LONGEST + 1, 512)])
STEP: U8 = np.searchsorted(_STEPS, np.arange(_LONGEST + 1)).astype(np.uint8)  # of each length


def best_builds(builds: tuple[Build, ...], count: int, path: bool = False, codes: int = 0, digits: bool = True) -> U8:
    """For pairs of each two steps of lengths (query's, target's) the place of the build that has the least work.

    Of few pairs each gets more lanes than that, as they are more than the GPU has warps to keep it busy, and all wait
    for the last ones.
    """
    quarters = round(4 * math.log2(max(count, 1)))  # of a doubling: counts that are much the same have one answer
    return _best_builds(builds, quarters, path, codes, digits)


@functools.lru_cache(256)
def _best_builds(builds: tuple[Build, ...], quarters: int, path: bool, codes: int, digits: bool) -> U8:
    """The best builds for 2 ** (quarters / 4) pairs."""
    rounds = np.array([[2 ** (quarters / 4) / build.at_once] for build in builds])
    taken = _works(builds, path, codes, digits) * np.maximum(1 / rounds, 1 + _TAIL / rounds)
    best: U8 = taken.argmin(axis=0).astype(np.uint8)
    return best


@functools.lru_cache(64)
def _works(builds: tuple[Build, ...], path: bool, codes: int, digits: bool) -> F64:
    """f64[builds, steps * steps]: what each build does for a pair; infinite where it does not take it."""
    query_len, target_len = (side.reshape(-1) for side in np.meshgrid(_STEPS, _STEPS, indexing="ij"))
    work = np.full((len(builds), len(query_len)), np.inf)
    for place, build in enumerate(builds):
        kept = build.keeps(query_len, target_len) if build.whole else True
        work[place] = np.where(kept, build.work(query_len, target_len, path, codes, digits), np.inf)
    return work


def worth_launching(
    builds: tuple[Build, ...],
    query_len: Lengths,
    target_len: Lengths,
    path: bool,
    codes: int,
    digits: bool,
    count: int = 0,
) -> tuple[Build, ...]:
    """The builds that pairs of such lengths are best shared out among, all or those with more lanes.

    Each has a launch of its own, whose end leaves the GPU idle; few pairs are sooner done in fewer launches, though
    each of them takes more work there. `count`: pairs that are under way with them, and are taken to be alike: other
    launches have what the end of one leaves, but for the last ones.
    """
    times = max(count / len(query_len), 1)
    steps = STEP[np.minimum(query_len, _LONGEST)].astype(np.int64) * len(_STEPS)
    pairs = np.bincount(steps + STEP[np.minimum(target_len, _LONGEST)])
    shapes = np.flatnonzero(pairs)
    best, least = builds, np.inf
    for lanes in sorted({build.lanes for build in builds}):
        some = tuple(build for build in builds if build.lanes >= lanes)
        chosen = best_builds(some, max(count, len(query_len)), path, codes, digits)[shapes]
        works, taken = _works(some, path, codes, digits)[:, shapes], 0.0
        for place, build in enumerate(some):
            if len(own := np.flatnonzero(chosen == place)):
                each = works[place][own]
                work = each @ pairs[shapes[own]]
                rest = build.at_once * each.max() - work if work < np.inf else 0.0
                taken += times * work + max(rest / min(times, _AT_LAST), _TAIL * build.at_once * each.min())
        if taken < least:
            best, least = some, taken
    return best


@dataclass(frozen=True)
class Work:
    """Pairs of a job that have one build.

    Attributes:
        build: of the kernel.
        rule: what is aligned.
        scores: the scheme.
        path: whether CIGARs are wanted.
        count: pairs.
        longest_query, longest_target: letters.
    """

    build: Build
    rule: Rule
    scores: Scores
    path: bool
    count: int
    longest_query: int
    longest_target: int

    @property
    def launches(self) -> tuple[tuple[str, Rule], ...]:
        """Rows of the catalogue, rules: the path of an extension is the global one of the prefixes that it found."""
        rules = (self.rule, Rule.GLOBAL) if self.path and self.rule is Rule.EXTENSION else (self.rule,)
        found = [(row_of(self.build, rule, self.path), rule) for rule in rules]
        return (*found, (walk_row_of(self.build, rules[-1]), rules[-1])) if self.keeps_all else tuple(found)

    def stride(self, rule: Rule) -> int:
        """Bytes of workspace of a group."""
        return self.build.stride(rule, self.path, self.longest_query, self.longest_target)

    def into(self, task: npt.NDArray[np.void]) -> None:
        """Writes sizes into an SwTask."""
        task["longest_query"], task["longest_target"] = self.longest_query, self.longest_target

    @property
    def keeps_all(self) -> bool:
        """Whether directions of all cells are kept, of all pairs of a launch."""
        return self.path and self.build.whole

    @property
    def draws(self) -> int:
        """How often a warp draws pairs, where directions of all cells are kept; else it draws until none is left.

        Seldom, so that other jobs get room before a launch ends. What a warp draws has its own memory there, while
        others have what is theirs as long as the launch lasts. To begin a block takes as long as some ten rows.
        """
        rows = self.longest_query * -(-self.longest_target // self.build.width)
        return max(_ROWS_A_BLOCK // rows, 1)

    @property
    def op_capacity(self) -> int:
        """Operations of a CIGAR at most. Long paths have runs; who needs more is the CPU's."""
        most = self.longest_query + self.longest_target
        return (most if most <= _ALL_OPERATIONS else most * 3 // 4) if self.path else 0
