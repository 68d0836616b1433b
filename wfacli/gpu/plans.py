"""What a kernel needs to align some pairs: which launches, how much memory. Pure functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import catalogue


@dataclass(frozen=True)
class Shape:
    """Pairs that are aligned together.

    Attributes:
        count: pairs.
        longest: letters of the longest sequence.
        mismatch, gaps: costs, divided by their greatest common divisor; gaps are (open, extend), one or two.
        max_cost: in the same units; pairs above it have no alignment.
        path: whether CIGARs are wanted.
    """

    count: int
    longest: int
    mismatch: int
    gaps: tuple[tuple[int, int], ...]
    max_cost: int
    path: bool


@dataclass(frozen=True)
class Plan:
    """How pairs go through a kernel.

    Attributes:
        rows: of the catalogue, launched one after another.
        blocks: pairs that a block of threads of each row takes at a time.
        unit: pairs that share a piece of the workspace.
        stride: bytes of that piece.
        op_capacity: operations of a pair's CIGAR at most, 0 without the path.
        resident: whether as many groups as the card holds draw pairs until none is left; `unit` pieces of the
            workspace are then the groups' and not the pairs'.
        shared: bytes of dynamic shared memory a block.
    """

    rows: tuple[catalogue.Row, ...]
    blocks: tuple[int, ...]
    unit: int
    stride: int
    op_capacity: int
    resident: bool = False
    shared: int = 0

    def least_workspace(self, count: int) -> int:
        """Bytes without which no launch over so many pairs is possible: those of one block."""
        pairs = self.blocks[0] if self.resident else min(count, self.blocks[0])
        return -(-pairs // self.unit) * self.stride


Planner = Callable[[str, Shape], Plan]
