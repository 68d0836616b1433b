"""Traits of a specification that the choice of a kernel depends on: its costs and its kind of alignment."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from ..config import AlignSpec, Metric, Mode
from ..core import tuning
from ..core.costs import NO_BOUND, UnitCosts


@dataclass(frozen=True)
class CostTraits:
    """Properties of a specification's normalised costs that kernels' times and limits depend on.

    Attributes:
        edit: mean cost of an edit, taking a third each as mismatches, insertions and deletions.
        extend: smallest gap extension.
        components: matrices of the wavefront: 1 for linear gaps, else 1 + 2 per gap piece.
        mismatch: mismatch cost.
        gaps: (opening, extension) of each gap piece.
        unit: UnitCosts.unit.
        meet: True if two wavefronts, from both ends, share the work.
        need: largest difference of neighbouring cells (lane_need of native/kernels/difference/difference_costs.hpp).
        depth: number of scores that a wavefront looks back.
    """

    edit: float
    extend: int
    components: int
    mismatch: int
    gaps: tuple[tuple[int, int], ...]
    unit: int
    meet: bool
    need: int
    depth: int

    @classmethod
    @functools.cache
    def of(cls, spec: AlignSpec) -> CostTraits:
        """Return those of a specification."""
        costs = UnitCosts.of(spec)
        first_base = [o + e for o, e in costs.gaps]
        depth = max(costs.mismatch, *first_base)
        return cls(
            edit=(costs.mismatch + 2 * first_base[0]) / 3,
            extend=min(e for _, e in costs.gaps),
            components=1 if costs.is_linear else 1 + 2 * len(costs.gaps),
            mismatch=costs.mismatch,
            gaps=costs.gaps,
            unit=costs.unit,
            meet=depth <= tuning.MEETING_DEPTH,
            need=max(first_base) + 2 * min(first_base) + 2 * max(e for _, e in costs.gaps) + 1,
            depth=depth,
        )

    def bound(self, spec: AlignSpec) -> int:
        """Return the maximum cost in normalised units; NO_BOUND where there is none."""
        return NO_BOUND if spec.max_cost is None else spec.max_cost // self.unit

    @property
    def in_bytes(self) -> bool:
        """True if differences of neighbouring cells fit 8 bits."""
        return self.need < 1 << 7

    @property
    def in_words(self) -> bool:
        """True if they fit 16 bits."""
        return self.need < 1 << 15

    @property
    def steep(self) -> bool:
        """True if initialising a wavefront, which looks back so far, takes longer than all cells of a short pair."""
        return self.depth > tuning.STEEP

    @property
    def cap_of_all(self) -> tuple[float, float]:
        """Cost above which a wavefront is slower than all cells: base, and share of the longest sequence.

        (0, 0), for no cap, where even unrelated pairs cost too little per base for that to matter.
        """
        per_base = min(self.mismatch, 2 * self.extend)
        if (
            self.components * per_base**2 <= tuning.MAX_CELL_RATIO * self.extend
            and self.depth <= tuning.MAX_CELL_RATIO
        ):
            return 0.0, 0.0
        return tuning.CAP_OF_ALL, tuning.CELLS_OF_ALL * math.sqrt(self.extend / self.components)


def is_edit(spec: AlignSpec) -> bool:
    """Return True for exact global edit distance, which bit-parallel kernels support."""
    return spec.metric is Metric.EDIT and not spec.penalties.match and plainly_global(spec)


def plainly_global(spec: AlignSpec) -> bool:
    """Return True for global alignments without heuristics."""
    return spec.mode is Mode.GLOBAL and not spec.heuristics


def free_in_target(spec: AlignSpec) -> bool:
    """Return True if the whole query is aligned, ends of the target are free, and there are no heuristics."""
    free = spec.free
    return bool(free) and not (free.query_begin or free.query_end or spec.heuristics)


def free_in_query(spec: AlignSpec) -> bool:
    """Return True if ends of the query are free and there are no heuristics."""
    return bool(spec.free.query_begin or spec.free.query_end) and not spec.heuristics


def leaves_out(spec: AlignSpec) -> bool:
    """Return True if a heuristic leaves out diagonals, which only wavefronts support. A Z-drop does not."""
    return bool(spec.heuristics.band or spec.heuristics.xdrop)


def steep_extension(spec: AlignSpec) -> bool:
    """Return True for extensions that a wavefront initialises so slowly that GOTOH is faster for short pairs."""
    return spec.mode is Mode.EXTENSION and not leaves_out(spec) and CostTraits.of(spec).steep


def is_inside(spec: AlignSpec) -> bool:
    """Return True if INSIDE, which locates the query in the target by edits, supports the specification."""
    return free_in_target(spec) and not spec.penalties.match


def only_banded(spec: AlignSpec) -> bool:
    """Return True for global alignments whose only heuristic is a band that follows the path."""
    h = spec.heuristics
    return spec.mode is Mode.GLOBAL and h.band > 0 and not h.xdrop and not h.zdrop


def weights(spec: AlignSpec) -> tuple[int, int, int] | None:
    """Return the weights of edits in estimates: mismatch, gap opening, gap extension; None if all cost the same."""
    costs = CostTraits.of(spec)
    return None if is_edit(spec) else (costs.mismatch, *costs.gaps[0])


def edits_per_edit(spec: AlignSpec) -> float:
    """Return how many edits a cheapest path may have for each edit of the path with fewest (engine_inside.cpp)."""
    costs = CostTraits.of(spec)
    return max(costs.mismatch, min(o + e for o, e in costs.gaps)) / min(costs.mismatch, costs.extend)
