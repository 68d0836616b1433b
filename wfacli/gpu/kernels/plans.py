"""What a kernel needs to align a set of pairs: launches and memory. Pure functions of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.costs import NO_BOUND
from . import catalogue
from .properties import Gpu


@dataclass(frozen=True)
class Shape:
    """A set of pairs that are aligned together.

    Attributes:
        count: number of pairs.
        longest: length of the longest sequence, in bases.
        mismatch, gaps: costs, divided by their greatest common divisor; gaps are one or two (open, extend).
        max_cost: maximum cost in the same units; pairs above it have no alignment.
        path: whether to compute CIGARs.
        coded: whether symbols are codes, as in pairs with symbols other than A C G T.
        wildcard: whether codes match if they share a bit.
        likely: a cost that few of the pairs exceed; NO_BOUND if unknown.
        cut: limit that the route sets its kernel: the width of a band in diagonals, or a wavefront's maximum cost; 0:
            derived from the likely cost.
        length_difference: maximum length difference of a pair's sequences.
        band: heuristic band: diagonals on either side of its centre, and scores after which it is centred again;
            (0, 0): all diagonals.
        as_long: number of pairs as long as the longest one that have as many bases as all pairs; 0: count.
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
    length_difference: int = 0
    cut: int = 0
    band: tuple[int, int] = (0, 0)
    as_long: int = 0


@dataclass(frozen=True)
class Plan:
    """How a set of pairs is run through a kernel.

    Attributes:
        rows: catalogue rows, launched one after another.
        blocks: pairs per thread block of each row.
        unit: pairs that share a unit of the workspace.
        stride: bytes of a unit of the workspace.
        op_capacity: maximum operations of a pair's CIGAR; 0 without paths.
        resident: whether as many groups as fit on the GPU draw pairs until none is left; units of the workspace then
            belong to groups rather than pairs.
        spread: whether all blocks resident on the GPU share all pairs, and the workspace as a whole.
        shared: bytes of dynamic shared memory per block.
        max_cost: maximum cost that the kernel searches; the shape's applies as well.
        first_cost: cost bound of a wavefront's first attempt; pairs that cost more are aligned again.
        band: band width in diagonals, for kernels that accept any.
        band_step: scores after which a band that follows the path is centred again.
        band_follows_path: whether the band follows the path; such kernels report whether it excluded anything.
        exclusive: whether each block has a multiprocessor to itself.
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
    band_follows_path: bool = False
    exclusive: bool = False

    def min_workspace(self, count: int) -> int:
        """Return the minimum workspace in bytes of a launch over `count` pairs: that of one block."""
        pairs = self.blocks[0] if self.resident else min(count, self.blocks[0])
        return -(-pairs // self.unit) * self.stride

    def shared_on(self, gpu: Gpu) -> int:
        """Return the bytes of dynamic shared memory to request per block: the maximum if no other block is to fit."""
        return gpu.shared_per_block if self.exclusive else self.shared
