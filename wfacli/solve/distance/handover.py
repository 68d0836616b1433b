"""Conversion of the GPU wavefront's state into one of the CPU wavefront."""

from __future__ import annotations

import contextlib

import numpy as np

from ...core.batch import I64
from ..base import Pair, State
from .cpu import CpuWavefront

_AT_LEAST, _CELLS, _SCORES = (
    7,
    8,
    9,
)  # indices into the CPU state's `numbers` (native/solvers/edit/edit_solver.cpp, edit_wavefront.cpp)


def wavefront_on_cpu(pair: Pair, most: int | None, state: State) -> State | None:
    """Convert a state of `GpuWavefront` into one of `CpuWavefront`; return None if it has no fronts or is damaged.

    Both have two fronts, the second over the reversed sequences, on the same diagonals. The GPU stores offsets in the
    query, the CPU in the target. The GPU omits diagonals that cannot contribute; here they get the offset that gaps
    alone reach, which is a lower bound of the true one.
    """
    place, fronts = np.asarray(state.get("place", ())), np.asarray(state.get("fronts", ()))
    if place.shape != (2,) or fronts.ndim != 2 or fronts.shape[0] != 2 or int(place[0]) < 0:
        return None
    score, first = int(place[0]), int(place[1])
    with contextlib.closing(CpuWavefront(pair, most, 1)) as fresh:
        begun = fresh.save()
    m, n = len(pair.query), len(pair.target)
    limit = max(m, n) if most is None else min(most, max(m, n))
    low, high = max(n - m - (limit - score), -min(score, m)), min(n - m + (limit - score), min(score, n))
    if low > high or 2 * score > limit or begun["numbers"][5]:  # the search is finished
        return None
    diagonals = np.arange(low, high + 1, dtype=np.int64)
    there = (diagonals >= first) & (diagonals < first + fronts.shape[1])
    numbers = np.concatenate([begun["numbers"][:_SCORES], [score, score]]).astype(np.int64)
    numbers[_AT_LEAST] = max(numbers[_AT_LEAST], 2 * score + 1)
    numbers[_CELLS] = int(np.asarray(state["cells"])[0])
    rows: dict[str, I64] = {}
    for name, front in zip(("ahead", "behind"), fronts, strict=True):
        rows[name] = np.maximum(diagonals, 0)
        own = diagonals[there]
        rows[name][there] = np.maximum(rows[name][there], front[own - first].astype(np.int64) + own)
    if _met(rows["ahead"], rows["behind"], low, n - m, n):
        return None  # the failed launch would have detected this; the CPU solver needs a state before the fronts meet
    return {"numbers": numbers, **rows}


def _met(ahead: I64, behind: I64, low: int, apart: int, columns: int) -> bool:
    """Return True if two fronts (i64[n], from diagonal `low` on) meet on any diagonal: no column lies between them."""
    k = np.arange(low, low + len(ahead))
    there = (apart - k >= low) & (apart - k < low + len(behind))
    return bool((ahead[there] + behind[(apart - k - low)[there]] >= columns).any())
