"""How mappings of reads are turned into pairs, and how their ends are extended."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..errors import UsageError
from .alignment import MAX_HEURISTIC, Mode, Penalties
from .run import MIB


class Span(enum.StrEnum):
    """Which parts of a mapped read and of its target are aligned."""

    EXTENDED = "extended"
    MAPPED = "mapped"
    PADDED = "padded"
    READ = "read"

    @property
    def mode(self) -> Mode:
        """Alignment mode of these parts."""
        return Mode.GLOBAL if self in (Span.EXTENDED, Span.MAPPED) else Mode.SEMIGLOBAL


@dataclass(frozen=True)
class Ends:
    """How alignments of mapped reads are extended beyond the mapped parts.

    Attributes:
        penalties: scoring scheme of the extensions, with a match bonus.
        zdrop: an extension ends, and an alignment is split, where its score is more than this, plus the cost of
            extending the gap, below its best; 0 for no Z-drop.
        zdrop_inversion: an alignment is split at inversions where its score is more than this below its best; 0 for
            no search for inversions.
        min_score: minimum score of an inversion, and of a piece of a split alignment, unless it is the best piece.
        bonus: end bonus, added to the score of an extension that reaches the end of the read.
        max_extension: maximum number of bases of the read on either side.
        band: maximum number of bases by which the reference part of an extension is longer than the read part.
    """

    penalties: Penalties
    zdrop: int
    zdrop_inversion: int
    min_score: int
    bonus: int
    max_extension: int
    band: int

    def __post_init__(self) -> None:
        if not self.penalties.match:
            raise UsageError("an extension needs a match bonus (--match)")
        for name, value in (
            ("Z-drop", self.zdrop),
            ("Z-drop of inversions", self.zdrop_inversion),
            ("end bonus", self.bonus),
            ("maximum extension", self.max_extension),
        ):
            if not 0 <= value <= MAX_HEURISTIC:
                raise UsageError(f"the {name} is {value}; it must be 0 to {MAX_HEURISTIC:,}")


@dataclass(frozen=True)
class MappingSpec:
    """How mappings are turned into pairs.

    Attributes:
        span: which parts of a read and its target are aligned.
        pad: bases beside the mapped parts that are included, unless span is MAPPED.
        keep_unmapped: write unmapped reads: after all others, or in the reads' order with in_order.
        skip: skip and count invalid mappings; otherwise the first one ends the run.
        spill_threshold: bytes of memory for reads that wait for their mappings; further reads are spilled to a file.
        copy_tags: copy SAM tags in the comments of the reads to their records.
        mates: the second mates of pairs are in a file of their own.
        mates_in_order: mates have to be in the order that mappers expect, or the run ends: at the same position of
            both files, or the second mate directly after the first.
        in_order: mappings are in the order of the reads, as a mapper writes them.
        ends: how ends are extended; only with span EXTENDED.
    """

    span: Span = Span.MAPPED
    pad: int = 0
    keep_unmapped: bool = False
    skip: bool = False
    spill_threshold: int = 256 * MIB
    copy_tags: bool = False
    mates: bool = False
    mates_in_order: bool = False
    in_order: bool = False
    ends: Ends | None = None

    def __post_init__(self) -> None:
        if (self.span is Span.EXTENDED) != (self.ends is not None):
            raise UsageError("ends are extended with --span extended, and with no other span")
