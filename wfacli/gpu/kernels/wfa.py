"""The wavefront kernels (cuda/wfa/wfa.cu): memory of a launch, as the source lays it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

NO_TRACE, CARRIED, BLOCKS, CODES = range(4)  # WFACLI_TRACE
NONE, SPILLED, BANDED = range(3)  # WFACLI_OUTSIDE
Gaps = Sequence[tuple[int, int]]  # (open, extend), one or two

_STATE = 16  # bytes of GroupState
_MAX_LENGTH = {16: (1 << 15) - 1, 32: (1 << 27) - 1}  # maximum length of a sequence, by WFACLI_OFFSET
_MAX_SCORE = {16: (1 << 14) - 2, 32: (1 << 27) - 2}  # maximum score, by WFACLI_OFFSET
_STEPS = 16  # steps per word
_CENTRE_INTERVAL = 64  # scores between two recorded centres of the band in a trace of codes


@dataclass(frozen=True)
class Variant:
    """Macros of a build of wfa.cu; see the head of that file.

    Attributes:
        threads: threads per block, WFACLI_BLOCK.
        group: threads per pair, WFACLI_GROUP.
        pieces: pieces of the gap cost, WFACLI_PIECES.
        trace: one of NO_TRACE, CARRIED, BLOCKS, CODES, WFACLI_TRACE.
        width: diagonals in shared memory, WFACLI_WIDTH.
        words: words of steps that a cell carries, WFACLI_WORDS; for CARRIED and BLOCKS.
        offset: bits of an offset, WFACLI_OFFSET.
        coded: whether symbols are codes, WFACLI_CODED.
        outside: where other diagonals are, one of NONE, SPILLED, BANDED, WFACLI_OUTSIDE.
        resident: blocks per multiprocessor, WFACLI_RESIDENT: as many as registers allow without spills; 0: not set.
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
        """Macros for the catalogue, without WFACLI_BLOCK, which has its own column."""
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
        """Pairs that a block aligns at a time; each has its own part of the workspace."""
        return self.threads // self.group

    @property
    def longest(self) -> int:
        """Maximum length of a sequence."""
        return _MAX_LENGTH[self.offset]

    def cost_limit(self, mismatch: int, gaps: Gaps, max_cost: int) -> int:
        """Return the highest score that offsets, diagonals and carried steps allow, in units of costs."""
        limit = min(max_cost, _MAX_SCORE[self.offset])
        if self.outside == NONE:
            limit = min(limit, *(o + (self.width // 2 - 1) * e - 1 for o, e in gaps))
        return (
            min(limit, self.words * _STEPS * _twice_min_step(self.pieces, mismatch, gaps) // 2)
            if self._carries_all
            else limit
        )

    def shared_bytes(self, mismatch: int, gaps: Gaps) -> int:
        """Return the bytes of dynamic shared memory of a block."""
        rows = _rows(self.pieces, mismatch, gaps)
        pair_bytes = _STATE + _padded(rows * self.width * self.offset // 8) + 4 * rows * self.width * self._cell_words
        pair_bytes += _padded(8 * (_depth(mismatch, gaps) + 2)) if self.outside == BANDED else 0
        pair_bytes += _padded(4 * self.words) if self._carries_all else 0
        return self.pairs * _padded(pair_bytes)

    def spilled_bytes(self, mismatch: int, gaps: Gaps, max_cost: int, longest: int) -> int:
        """Return the bytes of workspace of a pair for the diagonals outside shared memory."""
        half = min(_max_gap_length(gaps, self.cost_limit(mismatch, gaps, max_cost)), longest) + 1
        if self.outside != SPILLED or half <= self.width // 2 - 1:
            return 0
        cells = _rows(self.pieces, mismatch, gaps) * (2 * half + 1)
        return _padded(cells * self.offset // 8) + _padded(4 * cells * self._cell_words)

    def trace_bytes(self, mismatch: int, gaps: Gaps, cost: int, band: int = 0) -> int:
        """Return the bytes of workspace of a pair for the trace of paths up to `cost`, in `band` diagonals if not 0.

        This suffices for any sequences, except with BLOCKS, where it is an estimate: a pair that needs more gets
        MEMORY_LIMIT.
        """
        if self.trace not in (BLOCKS, CODES):
            return 0
        words = cost // (_STEPS // 2) + 2
        cells = (cost + 1) * (2 * _max_gap_length(gaps, cost) + 1) // 2 + cost  # rows grow like a triangle
        cells = min(cells, (cost + 1) * band) if band else cells
        if self.trace == CODES and self.outside == BANDED:  # as in Codes of cuda/wfa/wfa_trace.cuh
            pieces = 64 * (cost + cost // 8 + 640) + 40 * (cost // _CENTRE_INTERVAL + 1)
            return _padded(2 * cells + 4 * (cost + cost // _CENTRE_INTERVAL + 2 + words) + pieces + 16)
        if self.trace == CODES:
            return _padded(cells + 4 * (cost + 1 + words))
        # A path offloads a block every 16 * `words` steps, in whichever component it is.
        blocks = cells * (1 + 2 * self.pieces) // (_STEPS * self.words) + cost
        return _padded(4 * (self.words + 1) * blocks + 4 * words)

    def stride(
        self, mismatch: int, gaps: Gaps, max_cost: int, longest: int, cost: int | None = None, band: int = 0
    ) -> int:
        """Return the bytes of workspace of a pair, 256-byte aligned. `cost`: bound of the trace; default: max_cost."""
        limit = self.cost_limit(mismatch, gaps, max_cost)
        trace = self.trace_bytes(mismatch, gaps, limit if cost is None else min(cost, limit), band)
        return -(-(self.spilled_bytes(mismatch, gaps, max_cost, longest) + trace) // 256) * 256

    @property
    def _carries_all(self) -> bool:
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


def _max_gap_length(gaps: Gaps, cost: int) -> int:
    """Return the length of the longest gap within a cost."""
    return max(0, *((cost - o) // e for o, e in gaps if cost >= o + e), 0)


def _twice_min_step(pieces: int, mismatch: int, gaps: Gaps) -> int:
    minimum = min(2 * mismatch, *(2 * e for _, e in gaps))
    return min(minimum, *(o + e for o, e in gaps)) if pieces else minimum


def _variants() -> dict[str, Variant]:
    rows = {
        # The three kernels of eWFA-GPU: cells carry the whole path with their offsets.
        "wfa-edit-32": Variant(128, 8, 0, CARRIED, 68, 2, outside=NONE, resident=7),
        "wfa-edit-64": Variant(128, 16, 0, CARRIED, 132, 4, outside=NONE, resident=7),
        "wfa-edit-128": Variant(128, 32, 0, CARRIED, 260, 8, outside=NONE, resident=7),
        "wfa-edit-500": Variant(128, 32, 0, CODES, 1008, outside=NONE, resident=7),
        "wfa-edit-2000": Variant(128, 128, 0, CODES, 4004, outside=NONE, resident=7),
        # Affine costs: WFA-GPU's blocks, and codes, which need less memory and fewer instructions.
        "wfa-affine-30": Variant(128, 8, 1, CODES, 64, outside=NONE, resident=7),
        "wfa-affine-60": Variant(128, 16, 1, CODES, 128, outside=NONE, resident=7),
        "wfa-affine-120": Variant(128, 32, 1, CODES, 256, outside=NONE, resident=7),
        "wfa-affine-250": Variant(128, 32, 1, CODES, 512, outside=NONE, resident=6),
        "wfa-affine-1000": Variant(128, 128, 1, CODES, 2048, outside=NONE, resident=6),
        "wfa-affine-3000": Variant(512, 512, 1, CODES, 6144, outside=NONE, resident=2),
        "wfa-affine-blocks": Variant(128, 32, 1, BLOCKS, 128, outside=SPILLED, resident=3),
        "wfa-affine-spilled": Variant(256, 256, 1, CODES, 2048, offset=32, outside=SPILLED, resident=2),
        "wfa-affine-band": Variant(256, 256, 1, CODES, 512, offset=32, outside=BANDED, resident=3),
        # The same with the maximum of registers, for a block that has a multiprocessor to itself.
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
    score_only = {f"{name}-score": replace(rows[name], trace=NO_TRACE) for name in rows if name in scores}
    # A band's score is the cost of its path, so banded kernels always compute the path.
    coded = {f"{name}-coded": replace(row, coded=True) for name, row in (rows | score_only).items()}
    return rows | score_only | coded


# Builds by name of their catalogue row.
VARIANTS: dict[str, Variant] = _variants()
# Unbanded kernels for paths of A C G T, in ascending order of reach; the names of other rows derive from these.
LADDER = tuple(
    name for name, row in VARIANTS.items() if row.trace != NO_TRACE and not row.coded and row.outside != BANDED
)

# Kernels whose band follows the path, by gap pieces: for many pairs, and for pairs that all others would wait for.
FOLLOWING = tuple(name for name, row in VARIANTS.items() if row.outside == BANDED and not row.coded)
BANDS = {VARIANTS[name].pieces: name for name in FOLLOWING if not name.endswith("-lone")}
EXCLUSIVE = {VARIANTS[name].pieces: name for name in FOLLOWING if name.endswith("-lone")}


def has_score(name: str) -> bool:
    """Return whether a kernel of LADDER has a score-only row; others would be no faster than the next one's."""
    return f"{name}-score" in VARIANTS


def row_name(name: str, path: bool, coded: bool) -> str:
    """Return the name of a LADDER kernel's row for paths or scores, coded or not."""
    return f"{name}{'' if path or not has_score(name) else '-score'}{'-coded' if coded else ''}"


def bound(name: str, mismatch: int, gaps: Gaps, max_cost: int, likely: int) -> int:
    """Return the score up to which a kernel of LADDER searches if few of its pairs cost more than `likely`.

    A lower bound narrows rows, and shrinks the trace's memory. It is never below the reach of the previous kernel, so
    that a pair above the bound gets further with each kernel.
    """
    variant = VARIANTS[name]
    previous = [v for other in LADDER if (v := VARIANTS[other]).pieces == variant.pieces and v.outside == NONE]
    limit = variant.cost_limit(mismatch, gaps, max_cost)
    if variant.outside != NONE:
        minimum = 2 * max(v.cost_limit(mismatch, gaps, max_cost) for v in previous)
        return min(limit, minimum if likely >= max_cost else max(likely, minimum))
    reached = [v.cost_limit(mismatch, gaps, max_cost) for v in previous[: previous.index(variant)]]
    return min(limit, max(likely, reached[-1] if reached else 0))
