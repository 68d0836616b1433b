"""The wavefront kernels (cuda/wfa/wfa.cu): what a launch of each needs, as the source lays its memory out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

NO_TRACE, CARRIED, BLOCKS, CODES = range(4)  # WFACLI_TRACE
NONE, SPILLED, BANDED = range(3)  # WFACLI_OUTSIDE
Gaps = Sequence[tuple[int, int]]  # (open, extend), one or two

_STATE = 16  # bytes of GroupState
_LONGEST = {16: (1 << 15) - 1, 32: (1 << 27) - 1}  # letters, by WFACLI_OFFSET
_HIGHEST = {16: (1 << 14) - 2, 32: (1 << 27) - 2}  # scores
_STEPS = 16  # of a word
_EVERY = 64  # scores after which a trace of codes keeps where the band is


@dataclass(frozen=True)
class Variant:
    """What wfa.cu is compiled for; see its beginning.

    Attributes:
        threads: a block's, WFACLI_BLOCK.
        group: a pair's, WFACLI_GROUP.
        pieces: of a gap's cost, WFACLI_PIECES.
        trace: one of NO_TRACE, CARRIED, BLOCKS, CODES, WFACLI_TRACE.
        words: of steps that a cell carries, WFACLI_WORDS; for CARRIED and BLOCKS.
        offset: bits, WFACLI_OFFSET.
        width: diagonals in shared memory, WFACLI_WIDTH.
        coded: whether letters are codes, WFACLI_CODED.
        outside: where other diagonals are, one of NONE, SPILLED, BANDED, WFACLI_OUTSIDE.
        resident: blocks that a multiprocessor shall hold, WFACLI_RESIDENT: as many as registers allow without spills.
    """

    threads: int
    group: int
    pieces: int
    trace: int
    width: int
    words: int = 1
    offset: int = 16
    coded: bool = False
    outside: int = SPILLED
    resident: int = 0

    @property
    def macros(self) -> tuple[tuple[str, int], ...]:
        """For the catalogue; WFACLI_BLOCK is its own column."""
        return (
            ("WFACLI_GROUP", self.group),
            ("WFACLI_PIECES", self.pieces),
            ("WFACLI_CODED", int(self.coded)),
            ("WFACLI_TRACE", self.trace),
            ("WFACLI_WORDS", self.words),
            ("WFACLI_OFFSET", self.offset),
            ("WFACLI_WIDTH", self.width),
            ("WFACLI_OUTSIDE", self.outside),
            ("WFACLI_RESIDENT", self.resident),
        )

    @property
    def pairs(self) -> int:
        """That a block works on at a time; each has its own piece of the workspace."""
        return self.threads // self.group

    @property
    def longest(self) -> int:
        """Letters of the longest sequence that it serves."""
        return _LONGEST[self.offset]

    def most_cost(self, mismatch: int, gaps: Gaps, max_cost: int) -> int:
        """The highest score that it finds, in units of costs: what offsets, diagonals and carried steps allow."""
        most = min(max_cost, _HIGHEST[self.offset])
        if self.outside == NONE:
            most = min(most, *(o + (self.width // 2 - 1) * e - 1 for o, e in gaps))
        return min(most, self.words * _STEPS * _twice_step(self.pieces, mismatch, gaps) // 2) if self._alone else most

    def shared_bytes(self, mismatch: int, gaps: Gaps) -> int:
        """Dynamic shared memory of a block."""
        rows = _rows(self.pieces, mismatch, gaps)
        one = _STATE + _padded(rows * self.width * self.offset // 8) + 4 * rows * self.width * self._cell_words
        one += _padded(8 * (_depth(mismatch, gaps) + 2)) if self.outside == BANDED else 0
        one += _padded(4 * self.words) if self._alone else 0
        return self.pairs * _padded(one)

    def spilled_bytes(self, mismatch: int, gaps: Gaps, max_cost: int, longest: int) -> int:
        """Workspace of a pair for the diagonals that are not in shared memory."""
        half = min(_letters(gaps, self.most_cost(mismatch, gaps, max_cost)), longest) + 1
        if self.outside != SPILLED or half <= self.width // 2 - 1:
            return 0
        cells = _rows(self.pieces, mismatch, gaps) * (2 * half + 1)
        return _padded(cells * self.offset // 8) + _padded(4 * cells * self._cell_words)

    def trace_bytes(self, mismatch: int, gaps: Gaps, cost: int, band: int = 0) -> int:
        """Workspace of a pair for the trace of paths of up to such a cost, and of a band of so many diagonals if any.

        It suffices for any sequences; for BLOCKS it is an estimate, and a pair that needs more gets MEMORY_LIMIT.
        """
        if self.trace not in (BLOCKS, CODES):
            return 0
        words = cost // (_STEPS // 2) + 2
        cells = (cost + 1) * (2 * _letters(gaps, cost) + 1) // 2 + cost  # rows grow as a triangle does
        cells = min(cells, (cost + 1) * band) if band else cells
        if self.trace == CODES and self.outside == BANDED:  # as in Codes of cuda/wfa/wfa_trace.cuh
            pieces = 64 * (cost + cost // 8 + 640) + 40 * (cost // _EVERY + 1)
            return _padded(2 * cells + 4 * (cost + cost // _EVERY + 2 + words) + pieces + 16)
        if self.trace == CODES:
            return _padded(cells + 4 * (cost + 1 + words))
        # A path puts aside a block every 16 * `words` steps, in whichever component it is.
        blocks = cells * (1 + 2 * self.pieces) // (_STEPS * self.words) + cost
        return _padded(4 * (self.words + 1) * blocks + 4 * words)

    def stride(
        self, mismatch: int, gaps: Gaps, max_cost: int, longest: int, cost: int | None = None, band: int = 0
    ) -> int:
        """Workspace of a pair, 256-byte aligned. `cost`: up to which the trace has room, max_cost unless told."""
        most = self.most_cost(mismatch, gaps, max_cost)
        trace = self.trace_bytes(mismatch, gaps, most if cost is None else min(cost, most), band)
        return -(-(self.spilled_bytes(mismatch, gaps, max_cost, longest) + trace) // 256) * 256

    @property
    def _alone(self) -> bool:
        return self.trace == CARRIED

    @property
    def _cell_words(self) -> int:
        return {CARRIED: self.words, BLOCKS: self.words + 1}.get(self.trace, 0)


def _padded(size: int) -> int:
    return -(-size // 16) * 16


def _depth(mismatch: int, gaps: Gaps) -> int:
    return max(mismatch, *(o + e for o, e in gaps))


def _rows(pieces: int, mismatch: int, gaps: Gaps) -> int:
    return _depth(mismatch, gaps) + 1 + sum(2 * (e + 1) for _, e in gaps[:pieces])


def _letters(gaps: Gaps, cost: int) -> int:
    """Of the longest gap."""
    return max(0, *((cost - o) // e for o, e in gaps if cost >= o + e), 0)


def _twice_step(pieces: int, mismatch: int, gaps: Gaps) -> int:
    least = min(2 * mismatch, *(2 * e for _, e in gaps))
    return min(least, *(o + e for o, e in gaps)) if pieces else least


def _rungs() -> dict[str, Variant]:
    rows = {
        # eWFA-GPU's three kernels: the whole path travels with the offsets.
        "wfa-edit-32": Variant(128, 8, 0, CARRIED, 68, 2, outside=NONE, resident=7),
        "wfa-edit-64": Variant(128, 16, 0, CARRIED, 132, 4, outside=NONE, resident=7),
        "wfa-edit-128": Variant(128, 32, 0, CARRIED, 260, 8, outside=NONE, resident=7),
        "wfa-edit-500": Variant(128, 32, 0, CODES, 1008, outside=NONE, resident=7),
        "wfa-edit-2000": Variant(128, 128, 0, CODES, 4004, outside=NONE, resident=7),
        # Rungs of affine costs; WFA-GPU's blocks, and codes, which need less memory and fewer instructions.
        "wfa-affine-30": Variant(128, 8, 1, CODES, 64, outside=NONE, resident=7),
        "wfa-affine-60": Variant(128, 16, 1, CODES, 128, outside=NONE, resident=7),
        "wfa-affine-120": Variant(128, 32, 1, CODES, 256, outside=NONE, resident=7),
        "wfa-affine-250": Variant(128, 32, 1, CODES, 512, outside=NONE, resident=6),
        "wfa-affine-1000": Variant(128, 128, 1, CODES, 2048, outside=NONE, resident=6),
        "wfa-affine-3000": Variant(512, 512, 1, CODES, 6144, outside=NONE, resident=2),
        "wfa-affine-blocks": Variant(128, 32, 1, BLOCKS, 128, outside=SPILLED, resident=3),
        "wfa-affine-spilled": Variant(256, 256, 1, CODES, 2048, offset=32, outside=SPILLED, resident=2),
        "wfa-affine-band": Variant(256, 256, 1, CODES, 512, offset=32, outside=BANDED, resident=3),
        # The same with as many registers as there are, for a block that has a multiprocessor to itself.
        "wfa-affine-band-lone": Variant(256, 256, 1, CODES, 512, offset=32, outside=BANDED, resident=1),
        "wfa-edit-band": Variant(256, 256, 0, CODES, 512, offset=32, outside=BANDED, resident=3),
        "wfa-affine2p-60": Variant(128, 16, 2, CODES, 128, outside=NONE, resident=5),
        "wfa-affine2p-250": Variant(128, 128, 2, CODES, 512, outside=NONE, resident=5),
        "wfa-affine2p-1000": Variant(256, 256, 2, CODES, 1536, outside=NONE, resident=2),
        "wfa-affine2p-blocks": Variant(128, 32, 2, BLOCKS, 64, outside=SPILLED, resident=3),
        "wfa-affine2p-band": Variant(128, 128, 2, CODES, 256, offset=32, outside=BANDED, resident=5),
        "wfa-affine2p-spilled": Variant(256, 256, 2, CODES, 1024, offset=32, outside=SPILLED, resident=2),
    }
    scores = {"wfa-edit-32", "wfa-edit-128", "wfa-edit-500", "wfa-edit-2000"} | {
        name for name, row in rows.items() if row.pieces and row.trace == CODES and row.outside != BANDED
    }
    alone = {f"{name}-score": replace(rows[name], trace=NO_TRACE) for name in rows if name in scores}
    # A band's score is that of its path, so that kernel always has one.
    coded = {f"{name}-coded": replace(row, coded=True) for name, row in (rows | alone).items()}
    return rows | alone | coded


# What the kernels are compiled for, by the names of the catalogue's rows.
VARIANTS: dict[str, Variant] = _rungs()
# Those that find paths of A C G T in every cell, in the order of their reach; further rows are named after them.
LADDER = tuple(
    name for name, row in VARIANTS.items() if row.trace != NO_TRACE and not row.coded and row.outside != BANDED
)

# Those with a band that follows the path, by pieces of gap costs: for many pairs, and for any that keep it waiting.
FOLLOWING = tuple(name for name, row in VARIANTS.items() if row.outside == BANDED and not row.coded)
BANDS = {VARIANTS[name].pieces: name for name in FOLLOWING if not name.endswith("-lone")}
LONE = {VARIANTS[name].pieces: name for name in FOLLOWING if name.endswith("-lone")}


def has_score(name: str) -> bool:
    """Whether one of LADDER has a row for scores alone; those without are no faster than the next that has."""
    return f"{name}-score" in VARIANTS


def row_name(name: str, path: bool, coded: bool) -> str:
    """The row of one of LADDER for what is wanted."""
    return f"{name}{'' if path or not has_score(name) else '-score'}{'-coded' if coded else ''}"


def bound(name: str, mismatch: int, gaps: Gaps, max_cost: int, likely: int) -> int:
    """The score up to which one of LADDER looks, where few of its pairs cost more than `likely`.

    Rows narrow as what is left of the score does, and a trace needs memory for all that it may reach. No less than
    the row before it reaches, so that a pair above the bound gets further with each row.
    """
    variant = VARIANTS[name]
    before = [v for other in LADDER if (v := VARIANTS[other]).pieces == variant.pieces and v.outside == NONE]
    most = variant.most_cost(mismatch, gaps, max_cost)
    if variant.outside != NONE:
        least = 2 * max(v.most_cost(mismatch, gaps, max_cost) for v in before)
        return min(most, least if likely >= max_cost else max(likely, least))
    reached = [v.most_cost(mismatch, gaps, max_cost) for v in before[: before.index(variant)]]
    return min(most, max(likely, reached[-1] if reached else 0))
