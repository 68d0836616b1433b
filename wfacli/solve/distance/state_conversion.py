"""Conversion of the GPU wavefront's state into one of the CPU wavefront."""

from __future__ import annotations

import contextlib

import numpy as np

from ...core.batch import I64
from ..base import Pair, State
from .cpu import CpuWavefront

_LOWER_BOUND, _CELLS, _SCORES = (
    7,
    8,
    9,
)  # indices into the CPU state's `numbers` (native/solvers/edit/edit_solver.cpp, edit_wavefront.cpp)


def cpu_wavefront_state(pair: Pair, max_distance: int | None, state: State) -> State | None:
    """Convert a state of `GpuWavefront` into one of `CpuWavefront`; return None if it has no fronts or is damaged.

    Both have two fronts, the second over the reversed sequences, on the same diagonals. The GPU stores offsets in the
    query, the CPU in the target. The GPU omits diagonals that cannot contribute; here they get the offset that gaps
    alone reach, which is a lower bound of the true one.
    """
    place, fronts = np.asarray(state.get("place", ())), np.asarray(state.get("fronts", ()))
    if place.shape != (2,) or fronts.ndim != 2 or fronts.shape[0] != 2 or int(place[0]) < 0:
        return None
    score, first = int(place[0]), int(place[1])
    with contextlib.closing(CpuWavefront(pair, max_distance, 1)) as fresh:
        initial = fresh.save()
    m, n = len(pair.query), len(pair.target)
    limit = max(m, n) if max_distance is None else min(max_distance, max(m, n))
    low, high = max(n - m - (limit - score), -min(score, m)), min(n - m + (limit - score), min(score, n))
    if low > high or 2 * score > limit or initial["numbers"][5]:  # the search is finished
        return None
    diagonals = np.arange(low, high + 1, dtype=np.int64)
    present = (diagonals >= first) & (diagonals < first + fronts.shape[1])
    numbers = np.concatenate([initial["numbers"][:_SCORES], [score, score]]).astype(np.int64)
    numbers[_LOWER_BOUND] = max(numbers[_LOWER_BOUND], 2 * score + 1)
    numbers[_CELLS] = int(np.asarray(state["cells"])[0])
    rows: dict[str, I64] = {}
    for name, front in zip(("ahead", "behind"), fronts, strict=True):
        rows[name] = np.maximum(diagonals, 0)
        own = diagonals[present]
        rows[name][present] = np.maximum(rows[name][present], front[own - first].astype(np.int64) + own)
    if _met(rows["ahead"], rows["behind"], low, n - m, n):
        return None  # the failed launch would have detected this; the CPU solver needs a state before the fronts meet
    return {"numbers": numbers, **rows}


def _met(ahead: I64, behind: I64, low: int, length_difference: int, columns: int) -> bool:
    """Return True if two fronts (i64[n], from diagonal `low` on) meet on any diagonal: no column lies between them."""
    k = np.arange(low, low + len(ahead))
    present = (length_difference - k >= low) & (length_difference - k < low + len(behind))
    return bool((ahead[present] + behind[(length_difference - k - low)[present]] >= columns).any())
