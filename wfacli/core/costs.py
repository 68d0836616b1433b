"""Normalised costs, as all kernels use them on CPU and GPU."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from ..config import AlignSpec, Mode

Gaps = tuple[tuple[int, int], ...]
NO_BOUND = (1 << 30) - 1  # on costs


@dataclass(frozen=True)
class UnitCosts:
    """Normalised costs of a specification: a match costs 0, and the unit is the largest possible.

    Kernels have no match bonus b. Since 2 * matches + 2 * mismatches + gap bases is the number of aligned bases of
    both sequences, the best score is the minimum cost with mismatch 2 * (x + b), and the same for ambiguous bases,
    opening 2 * o, extension 2 * e + b, and b for each base that stays unaligned: cost = b * (all bases) - 2 * score.

    Attributes:
        mismatch: cost of a mismatch, in units.
        ambiguous: cost of a column with an ambiguous base, in units; that of a mismatch unless it has its own.
        gaps: (opening, extension) of each piece, in units. A piece that is never cheaper than the other one is
            dropped: it changes neither the cost of a gap nor the choice between paths of equal cost.
        skip: cost in units of a base that free ends or an extension leave unaligned; 0 if all bases are aligned.
        unit: size of a unit, in the user's costs, or in half of them with a match bonus.
    """

    mismatch: int
    ambiguous: int
    gaps: Gaps
    skip: int
    unit: int

    @classmethod
    @functools.cache
    def of(cls, spec: AlignSpec) -> UnitCosts:
        """Return the normalised costs of a specification."""
        p = spec.penalties
        twice = 2 if p.match else 1
        mismatch = twice * (p.mismatch + p.match)
        gaps = _without_dominated(tuple((twice * o, twice * e + p.match) for o, e in p.gaps))
        skip = p.match if spec.free or spec.mode is Mode.EXTENSION else 0
        ambiguous = twice * (p.of_ambiguous + p.match)
        unit = math.gcd(mismatch, ambiguous, skip, *(cost for gap in gaps for cost in gap))
        gaps = tuple((o // unit, e // unit) for o, e in gaps)
        return cls(mismatch // unit, ambiguous // unit, gaps, skip // unit, unit)

    @property
    def is_linear(self) -> bool:
        """True if gap opening is free, so that a gap's cost is proportional to its length."""
        return len(self.gaps) == 1 and self.gaps[0][0] == 0

    def gap(self, length: int) -> int:
        """Return the cost of a gap of `length` bases, in units."""
        return min(o + e * length for o, e in self.gaps) if length else 0


def _without_dominated(gaps: Gaps) -> Gaps:
    """Drop the piece, of two, that costs at least as much as the other one at every length."""
    if len(gaps) == 2:
        one, two = gaps
        if one[0] <= two[0] and one[1] <= two[1]:
            return (one,)
        if two[0] <= one[0] and two[1] <= one[1]:
            return (two,)
    return gaps
