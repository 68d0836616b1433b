"""What a kernel needs to align some pairs: which launches, how much memory. Pure functions of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from . import catalogue
from .properties import Gpu

NO_BOUND = (1 << 30) - 1  # on costs
PREFIX = "gpu-"  # of kernels of the GPU in routes and reports


@dataclass(frozen=True)
class Shape:
    """Pairs that are aligned together.

    Attributes:
        count: pairs.
        longest: letters of the longest sequence.
        mismatch, gaps: costs, divided by their greatest common divisor; gaps are (open, extend), one or two.
        max_cost: in the same units; pairs above it have no alignment.
        path: whether CIGARs are wanted.
        coded: whether letters are codes, as where some are not A C G T.
        wildcard: whether codes match that share a bit.
        likely: a cost that few of the pairs exceed; NO_BOUND where nothing is known.
        cut: what the route wants its kernel cut to: diagonals of a band, or the cost up to which a wavefront looks; 0:
            that is left to the likely cost.
        apart: by how much the lengths of a pair's sequences differ at most.
        band: diagonals on either side of the most promising one that are looked at, and scores after which that is
            looked for again; (0, 0): all diagonals.
    """

    count: int
    longest: int
    mismatch: int
    gaps: tuple[tuple[int, int], ...]
    max_cost: int
    path: bool
    coded: bool = False
    wildcard: bool = False
    likely: int = NO_BOUND
    apart: int = 0
    cut: int = 0
    band: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Plan:
    """How pairs go through a kernel.

    Attributes:
        rows: of the catalogue, launched one after another.
        blocks: pairs that a block of threads of each row takes at a time.
        unit: pairs that share a piece of the workspace.
        stride: bytes of that piece.
        op_capacity: operations of a pair's CIGAR at most, 0 without the path.
        resident: whether as many groups as the GPU holds draw pairs until none is left; `unit` pieces of the
            workspace are then the groups' and not the pairs'.
        spread: whether all blocks that the GPU holds work on any pairs, with a workspace that is theirs as a whole.
        shared: bytes of dynamic shared memory a block.
        max_cost: above which the kernel need not look; the shape's counts as well.
        first_cost: up to which a wavefront looks first; what costs more it looks at a second time.
        band: diagonals, for kernels that take any number.
        band_step: scores after which a band is centred again, for those whose band follows the path.
        follows: whether it does: they tell whether it left anything out.
        lone: whether each block has a multiprocessor to itself.
    """

    rows: tuple[catalogue.Row, ...]
    blocks: tuple[int, ...]
    unit: int
    stride: int
    op_capacity: int
    resident: bool = False
    spread: bool = False
    shared: int = 0
    max_cost: int = NO_BOUND
    first_cost: int = NO_BOUND
    band: int = 0
    band_step: int = 0
    follows: bool = False
    lone: bool = False

    def least_workspace(self, count: int) -> int:
        """Bytes without which no launch over so many pairs is possible: those of one block."""
        pairs = self.blocks[0] if self.resident else min(count, self.blocks[0])
        return -(-pairs // self.unit) * self.stride

    def shared_on(self, gpu: Gpu) -> int:
        """Bytes of dynamic shared memory that a block asks for; all that there is where no other one is to fit."""
        return gpu.shared_per_block if self.lone else self.shared
