"""The GPU's kernels as dispatch sees them: which pairs each one can be trusted with, and how long it takes.

Times are microseconds a pair of a card that is full of such pairs, so they compare with each other and, being small
against the CPU's, send to the card whatever it can align.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import tuning
from ..batch import I32
from . import catalogue, dp

PREFIX = "gpu-"
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """What a kernel is chosen by.

    Attributes:
        q_len, t_len: i32[n].
        cost: f64[n], expected, in units of the costs.
        mismatch, gaps: costs, divided by their greatest common divisor.
    """

    q_len: I32
    t_len: I32
    cost: F64
    mismatch: int
    gaps: tuple[tuple[int, int], ...]

    @functools.cached_property
    def longest(self) -> F64:
        """Letters of the longer sequence, f64[n]."""
        return np.maximum(self.q_len, self.t_len).astype(np.float64)


@dataclass(frozen=True)
class Rung:
    """A kernel.

    Attributes:
        name: with PREFIX.
        size: diagonals of its band.
        reach: the cost (f64[n]) below which pairs are surely aligned.
        model: of its time; work is letters times diagonals.
    """

    name: str
    size: int
    reach: Callable[[Pairs, int], F64]
    model: tuning.Model

    def microseconds(self, pairs: Pairs) -> F64:
        """For each pair (f64[n]); infinite where it is not to be trusted with one."""
        sure = pairs.cost * tuning.SAFETY < self.reach(pairs, self.size)
        return np.where(sure, self.tried(pairs), np.inf)

    def tried(self, pairs: Pairs) -> F64:
        """What it takes for each pair (f64[n]) whether it aligns it or not."""
        return self.model.of(pairs.longest, pairs.longest * self.size)


def _bits_reach(pairs: Pairs, diagonals: int) -> F64:
    """See layout.bits_provable."""
    apart = pairs.q_len.astype(np.float64) - pairs.t_len
    origin = np.floor((diagonals - 1 - apart) / 2)
    end = origin + apart
    room = np.minimum(np.minimum(origin, end), diagonals - 1 - np.maximum(origin, end))
    return np.where(np.abs(apart) < diagonals, np.abs(apart) + 2 * (room + 1), 0.0)


def _dp_reach(pairs: Pairs, band: int) -> F64:
    """See dp.provable_cost; a warp's costs have 32 bits where they need them."""
    bits = 16 if band <= dp.WIDEST_OF_THREADS else 32
    return dp.provable_cost(pairs.mismatch, pairs.gaps, pairs.q_len, pairs.t_len, band, bits).astype(np.float64)


_EDIT = tuple(
    Rung(f"{PREFIX}bits-{d}", d, _bits_reach, tuning.GPU_BITS if lanes == 1 else tuning.GPU_BITS_WARP)
    for d, (_, lanes) in catalogue.BITS.items()
)
_GAPS = tuple(
    Rung(f"{PREFIX}dp-{band}", band, _dp_reach, model)
    for bands, model in ((catalogue.DP_THREAD, tuning.GPU_DP), (catalogue.DP_WARP, tuning.GPU_DP_WARP))
    for band in bands
)
RUNGS = {rung.name: rung for rung in (*_EDIT, *_GAPS)}
KERNELS = tuple(RUNGS)


def rungs_of(edit: bool) -> tuple[Rung, ...]:
    """The kernels for edit distance, or for other costs; narrow ones first."""
    return _EDIT if edit else _GAPS


def wider(kernel: str) -> str | None:
    """The next one of the same family."""
    for family in (_EDIT, _GAPS):
        names = [rung.name for rung in family]
        if kernel in names[:-1]:
            return names[names.index(kernel) + 1]
    return None
