"""Costs as every kernel counts them, on the CPU and on a GPU."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from ..config import AlignSpec, Mode

Gaps = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class UnitCosts:
    """Normalised costs of a specification: a match costs nothing, and the unit is as large as it can be.

    Kernels know no match bonus b. Since 2 * matches + 2 * mismatches + gap bases is the number of aligned bases of
    both sequences, the best score is the least cost with mismatch 2 * (x + b), opening 2 * o, extension 2 * e + b, and
    b for each base that stays unaligned: cost = b * (all bases) - 2 * score.

    Attributes:
        mismatch: of a mismatch, in units.
        gaps: (opening, extension) of each piece, in units. A piece that is never cheaper than the other one is left
            out: it changes neither the cost of a gap nor which of equally cheap paths is taken.
        skip: of a base that free ends or an extension leave unaligned, in units; 0 where no base may.
        unit: what a unit is worth, in the user's costs, or in half of them where matches earn a bonus.
    """

    mismatch: int
    gaps: Gaps
    skip: int
    unit: int

    @classmethod
    @functools.cache
    def of(cls, spec: AlignSpec) -> UnitCosts:
        """Those of a specification."""
        p = spec.penalties
        twice = 2 if p.match else 1
        mismatch = twice * (p.mismatch + p.match)
        gaps = _without_dominated(tuple((twice * o, twice * e + p.match) for o, e in p.gaps))
        skip = p.match if spec.free or spec.mode is Mode.EXTENSION else 0
        unit = math.gcd(mismatch, skip, *(cost for gap in gaps for cost in gap))
        return cls(mismatch // unit, tuple((o // unit, e // unit) for o, e in gaps), skip // unit, unit)

    @property
    def is_linear(self) -> bool:
        """Whether a gap costs the same for each of its bases."""
        return len(self.gaps) == 1 and self.gaps[0][0] == 0

    def gap(self, length: int) -> int:
        """What a gap of so many bases costs."""
        return min(o + e * length for o, e in self.gaps) if length else 0


def _without_dominated(gaps: Gaps) -> Gaps:
    """Drop the piece, of two, that costs at least as much as the other one for every length."""
    if len(gaps) == 2:
        one, two = gaps
        if one[0] <= two[0] and one[1] <= two[1]:
            return (one,)
        if two[0] <= one[0] and two[1] <= one[1]:
            return (two,)
    return gaps
