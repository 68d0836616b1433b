"""Builds of cuda/sw/sw.cu: their memory, their expected time, and the scores that their bits can hold."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...scoring.scheme import I8

CODES = 32  # rows and columns of the score table
MAX_BEYOND = -1  # maximum score of positions beyond a sequence
_STATE = 3  # words of a lane's state, besides two per column
_EDGE = 8  # bytes per row of a stripe's edge
_LINE = 128  # bytes of directions that are written at once
_LIMIT_16 = 28_000  # maximum cost of gaps, and maximum score, in 16 bits
_LIMIT_32 = 1_400_000_000

# Time of a lane's rows, in instructions of the busiest unit, as (per column, once per row). Fitted to kernels of each
# build alone, pairs of 64 to 4,096 symbols on an H200, 2026-11-22 (d1c81ee); _STORE and _THREAD_TRACE are rounded.
#   _SWEEP           scores
#   _DIGITS, _FLAGS  directions as digits, or as flags (counted in machine code for sm_90)
#   _STATES          per column, if states are saved
#   _STRIPES         with several stripes, once for as many rows as a group reads ahead
#   BEGIN            overhead of a stripe, in rows
# With CIGARs:
#   _BROAD           slowdown of lanes of 32 columns, whose states leave no registers
#   _RECOMPUTE       recomputed steps, including input and output of each part
#   _TRACE           a traceback step by the lanes of a pair
#   _THREAD_TRACE    a traceback step by one thread
#   _STORE           slowdown of rows whose directions go to memory
#   TAIL             how long warps wait for the last ones at the end of a launch, as a fraction of a pair's time
_SWEEP, _STATES, _DIGITS, _FLAGS, _STRIPES, BEGIN = (5.5, 19.0), 1.1, (7.0, 8.0), (13.3, 8.0), 51.5, 29
_BROAD, _RECOMPUTE, _TRACE, _THREAD_TRACE, _STORE, TAIL = 1.12, 0.87, 526.0, 300.0, 1.15, 0.54
_RESIDENT = {32: 1584, 16: 2112}  # resident warps of an H200, by columns per lane
_DIRECTIONS = 256 << 10  # maximum bytes of directions per pair
_SHARED = 200 << 10  # bytes of shared memory per multiprocessor
_WARPS = 8  # warps that keep a multiprocessor busy
TRACEBACK_THREADS = 128  # threads per block of sw_traceback.cu
_ROWS_PER_BLOCK = 512  # rows, over all stripes, that a block's warps draw if they leave before the launch ends
_ALL_OPERATIONS = 256  # combined length up to which a CIGAR has room for one operation per symbol

_ANY_LENGTH = (1 << 31) - 1

F64 = npt.NDArray[np.float64]
Lengths = npt.NDArray[np.integer[Any]]  # lengths of sequences, by pair


class Rule(enum.IntEnum):
    """Which parts of the sequences a launch aligns; SwRule of cuda/common/task.cuh."""

    LOCAL = 0
    SEMIGLOBAL = 1
    GLOBAL = 2
    EXTENSION = 3

    @property
    def build(self) -> Rule:
        """The rule that the kernel is compiled for; SEMIGLOBAL and GLOBAL differ only at launch."""
        return Rule.GLOBAL if self is Rule.SEMIGLOBAL else self


BUILT = (Rule.LOCAL, Rule.GLOBAL, Rule.EXTENSION)


@dataclass(frozen=True)
class Build:
    """A build of the kernel: a group of lanes that sweeps stripes of columns.

    Attributes:
        lanes: lanes per group, which share the group's pairs.
        columns: columns per lane.
        bits: bits of a score; with 16 a group has two pairs, with 32 one.
        steps: steps between two saved states.
        threads: threads per block.
        all_directions: whether the directions of all cells are stored for paths, instead of states.
    """

    lanes: int
    columns: int
    bits: int = 16
    steps: int = 64
    threads: int = 128
    all_directions: bool = False

    @property
    def width(self) -> int:
        """Columns of a stripe."""
        return self.lanes * self.columns

    @property
    def pairs(self) -> int:
        """Pairs per group."""
        return 32 // self.bits

    @property
    def groups(self) -> int:
        """Groups per block."""
        return self.threads // self.lanes

    def macros(self, rule: Rule, path: bool) -> tuple[tuple[str, int], ...]:
        """Return the macros that the source is compiled with."""
        return (
            ("WFACLI_LANES", self.lanes),
            ("WFACLI_COLUMNS", self.columns),
            ("WFACLI_BITS", self.bits),
            ("WFACLI_STEPS", self.steps),
            ("WFACLI_RULE", rule.build),
            ("WFACLI_PATH", int(path)),
            ("WFACLI_ALL_DIRECTIONS", int(self.all_directions)),
        )

    def stride(self, rule: Rule, path: bool, longest_query: int, longest_target: int) -> int:
        """Return the bytes of workspace of a group, as in Workspace of cuda/sw/sw_workspace.cuh."""
        edge = longest_query * _EDGE
        if not path or rule is Rule.EXTENSION:
            return padded(edge)
        stripes = (longest_target - 1) // self.width + 1
        if self.all_directions:
            steps = longest_query + self.lanes - 1
            lines = -(-steps // (_LINE // self.columns)) * self.lanes
            return padded(padded(edge, _LINE) + stripes * lines * _LINE)
        states = (longest_query + self.lanes - 2) // self.steps + 1
        state_bytes = states * (2 * self.columns + _STATE) * 4 * self.lanes
        return padded(stripes * (edge + state_bytes) + 32 + self.steps * self.width)

    def shared(self, codes: int) -> int:
        """Return the bytes of dynamic shared memory of a block.

        It holds the scores of a stripe's columns for `codes` codes and the one beyond a sequence, and a line of
        directions per lane if all are stored.
        """
        return self.threads * (self.columns * self.pairs * (codes + 1) + (_LINE if self.all_directions else 0))

    @property
    def resident_pairs(self) -> int:
        """Pairs that a GPU processes at a time."""
        return _RESIDENT[32 if self.columns > 16 else 16] * 32 // self.lanes * self.pairs

    def work(
        self, query_len: Lengths, target_len: Lengths, path: bool = False, codes: int = 0, digits: bool = True
    ) -> F64:
        """Return the work of a group for such pairs, in lane instructions, including rows and columns beyond them.

        Args:
            query_len: lengths of the queries, [n].
            target_len: lengths of the targets, [n].
            path: whether CIGARs are computed.
            codes: codes of the scheme, whose scores limit the warps per multiprocessor; 0: unknown.
            digits: whether directions are stored as digits; see Scores.digits.
        """
        rows, stripes = query_len + self.lanes - 1, -(-target_len // self.width)
        sweep, trace = (each * self.columns + once for each, once in (_SWEEP, _DIGITS if digits else _FLAGS))
        several = np.where(stripes > 1, _STRIPES / min(self.lanes, 16), 0)
        row = sweep if not path else _STORE * trace if self.all_directions else sweep + _STATES * self.columns
        each = stripes * (rows + BEGIN) * (row + several)
        steps = np.minimum(query_len, target_len)  # of a path, approximately
        if path and self.all_directions:
            each = each + steps * _THREAD_TRACE * self.pairs / self.lanes
        elif path:
            parts = steps / self.steps + steps / self.width + 1
            recomputed = _RECOMPUTE * (self.steps + self.lanes) * trace + _TRACE * self.steps * self.pairs / self.lanes
            each = (each + parts * recomputed) * (_BROAD if self.columns > 16 else 1)
        warps = _SHARED // (self.shared(codes) + 6_000) * self.threads // 32
        found: F64 = each * (self.lanes * max(_WARPS / max(warps, 1), 1))
        return found

    def fits_directions(self, query_len: Lengths, target_len: Lengths) -> npt.NDArray[np.bool_]:
        """Return whether the directions of all cells of such pairs may be stored, [n]."""
        stripes = -(-target_len // self.width)
        return stripes * (query_len + self.lanes) * self.width <= self.pairs * _DIRECTIONS


BUILDS = (Build(2, 32, steps=32), Build(4, 32, steps=32), Build(8, 32), Build(8, 16, steps=32), Build(32, 16))
ALL_DIRECTIONS = tuple(replace(build, all_directions=True) for build in BUILDS[:-1])  # for paths, besides BUILDS
WIDE = Build(32, 16, bits=32)


def row_of(build: Build, rule: Rule, path: bool) -> str:
    """Return the name of the catalogue row."""
    rule = rule.build
    kind = "" if not path else "-whole" if build.all_directions and rule is not Rule.EXTENSION else "-path"
    return _named(build, rule, kind)


def traceback_row_of(build: Build, rule: Rule) -> str:
    """Return the name of the catalogue row for the traceback through stored directions."""
    return _named(build, rule.build, "-walk")


def _named(build: Build, rule: Rule, kind: str) -> str:
    what = {Rule.LOCAL: "local", Rule.GLOBAL: "ends", Rule.EXTENSION: "extension"}[rule]
    return f"sw-{what}-{build.lanes}x{build.columns}-bits-{build.bits}{kind}"


@dataclass(frozen=True)
class Scores:
    """A scoring scheme in the form that kernels use.

    Attributes:
        table: i8[32, 32], score of a target code (row) and a query code (column); code `codes` stands for positions
            beyond the sequences.
        self_match: bit c: whether code c aligned with itself is written as '='.
        codes: number of codes.
        open, extend: gap costs.
        max_score, min_score: maximum and minimum of all scores.
        unit: common divisor by which all of these are divided, so that numbers in kernels are small.
    """

    table: I8
    self_match: int
    codes: int
    open: int
    extend: int
    max_score: int
    min_score: int
    unit: int

    @classmethod
    def of(cls, matrix: I8, matches: npt.NDArray[np.uint8], open_: int, extend: int) -> Scores:
        """Convert i8[A, A], a query code's scores by target code, and u8[A], which codes match; A is at most 30."""
        unit = max(math.gcd(open_, extend, *map(int, np.unique(matrix))), 1)
        matrix, open_, extend = (matrix // unit).astype(np.int8), open_ // unit, extend // unit
        size, min_score = len(matrix), int(matrix.min())
        table = np.full((CODES, CODES), min(min_score, MAX_BEYOND), np.int8)
        table[:size, :size] = matrix.T
        written = sum(1 << code for code, equal in enumerate(matches.tolist()) if equal)
        return cls(table, written, size, open_, extend, int(matrix.max()), min_score, unit)

    @property
    def digits(self) -> bool:
        """True if directions are stored as digits; depends on the gap costs (Gaps::digits in sw_workspace.cuh)."""
        return 1 <= self.open <= 3

    def into(self, task: npt.NDArray[np.void]) -> None:
        """Write the scheme into an SwTask."""
        for name in ("codes", "unit", "open", "extend", "max_score", "self_match"):
            task[name] = getattr(self, name)
        task["scores"] = self.table.view(np.uint32).reshape(1, -1)

    def longest(self, bits: int, rule: Rule) -> int:
        """Return the maximum length of a sequence for which `bits` bits hold all scores, including those beyond it.

        Local scores in 16 bits have no limit: the kernel reports scores that do not fit. Other rules start with gaps
        along the edges, so no cell scores less than two gaps and the gap that it opens.
        """
        limit = (_LIMIT_16 if bits == 16 else _LIMIT_32) - 1
        if rule is Rule.LOCAL and bits == 16:
            return _ANY_LENGTH
        found = limit // self.max_score if self.max_score > 0 else _ANY_LENGTH
        if rule is not Rule.LOCAL:
            slack = 2 * WIDE.width + 64  # columns and rows beyond the sequences
            limit -= 3 * self.open + slack * self.extend - 2 * self.min_score
            found = min(found, limit // (2 * self.extend) if self.extend else _ANY_LENGTH if limit >= 0 else 0)
        return max(min(found, _ANY_LENGTH), 0)


def padded(nbytes: int, to: int = 512) -> int:
    """Round up to a multiple of `to`."""
    return -(-nbytes // to) * to


@dataclass(frozen=True)
class Work:
    """Pairs of a launch, which share a build.

    Attributes:
        build: build of the kernel.
        rule: which parts of the sequences to align.
        scores: the scoring scheme.
        path: whether to compute CIGARs.
        count: number of pairs.
        longest_query, longest_target: maximum lengths, in symbols.
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
        """Catalogue rows and rules; the path of an extension is the global one of the prefixes that it found."""
        rules = (self.rule, Rule.GLOBAL) if self.path and self.rule is Rule.EXTENSION else (self.rule,)
        found = [(row_of(self.build, rule, self.path), rule) for rule in rules]
        return (
            (*found, (traceback_row_of(self.build, rules[-1]), rules[-1]))
            if self.stores_all_directions
            else tuple(found)
        )

    def stride(self, rule: Rule) -> int:
        """Return the bytes of workspace of a group."""
        return self.build.stride(rule, self.path, self.longest_query, self.longest_target)

    def into(self, task: npt.NDArray[np.void]) -> None:
        """Write the sizes into an SwTask."""
        task["longest_query"], task["longest_target"] = self.longest_query, self.longest_target

    @property
    def stores_all_directions(self) -> bool:
        """Whether the directions of all cells of all pairs of a launch are stored."""
        return self.path and self.build.all_directions

    @property
    def draws(self) -> int:
        """How many times a warp draws pairs if the directions of all cells are stored; otherwise until none is left.

        A small number, so that other launches get room on the GPU before this one ends. Here memory belongs to the
        pairs; otherwise it belongs to the groups for the whole launch. Starting a block takes about ten rows' time.
        """
        rows = self.longest_query * -(-self.longest_target // self.build.width)
        return max(_ROWS_PER_BLOCK // rows, 1)

    @property
    def op_capacity(self) -> int:
        """Maximum operations of a CIGAR. Long paths have runs; pairs that need more are left to the CPU."""
        total = self.longest_query + self.longest_target
        return (total if total <= _ALL_OPERATIONS else total * 3 // 4) if self.path else 0
