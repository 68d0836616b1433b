"""CPU solvers: thin wrappers of the native ones, and a model of their time."""

from __future__ import annotations

import math
from typing import ClassVar

from ... import _native
from ...core import tuning
from ..base import Pair, Position, State


class _CpuSolver:
    """Common part of both solvers; implements `solve.base.Solver`."""

    name: ClassVar[str]
    _native: _native.EditSolver

    def advance(self, seconds: float) -> bool:
        """Work for about `seconds`, at least one step; return True when finished."""
        return self._native.advance(seconds)

    @property
    def distance(self) -> int | None:
        """The distance once finished; None if it exceeds the maximum."""
        return self._native.distance

    @property
    def position(self) -> Position:
        """Current progress."""
        return Position(*self._native.position)

    def save(self) -> State:
        """Return arrays (i64) from which a new solver of the same pair and `max_distance` can resume."""
        return self._native.save()

    def restore(self, state: State) -> None:
        """Resume from a saved state. Raises ValueError if pair, `max_distance` or algorithm differ."""
        self._native.restore(dict(state))

    def close(self) -> None:
        """Release its memory; idempotent. Any other call afterwards raises ValueError."""
        self._native.close()


class CpuWavefront(_CpuSolver):
    """Bidirectional wavefront: time grows with the square of the distance, memory with the distance.

    `position.fraction_done` is the fraction of both sequences that the fronts have covered, by the furthest point of
    each. The distance is then expected to be lower_bound / fraction_done, and fraction_done² of the work is done.
    """

    name = "wavefront"

    def __init__(self, pair: Pair, max_distance: int | None, threads: int) -> None:
        """Construct the native solver.

        Args:
            pair: sequences, u8 or u32.
            max_distance: maximum distance of interest; None: unlimited.
            threads: CPU threads; at most two are used.
        """
        self._native = _native.EditWavefront(
            pair.query, pair.target, -1 if max_distance is None else max_distance, threads
        )


class CpuBits(_CpuSolver):
    """Banded bit-vectors (Myers): work is about half the product of length and distance.

    A state can be resumed on a machine with another instruction set.
    """

    name = "bits"

    def __init__(self, pair: Pair, max_distance: int | None, threads: int) -> None:
        """Construct the native solver.

        Args:
            pair: sequences, u8; fewer distinct symbols are faster.
            max_distance: maximum distance of interest; None: unlimited.
            threads: CPU threads; at most two are used.

        Raises:
            TypeError: the symbols are u32.
        """
        self._native = _native.EditBits(pair.query, pair.target, -1 if max_distance is None else max_distance, threads)


def forecast(pair: Pair, estimate_edits: float, threads: int = 1) -> dict[str, float]:
    """Return the expected seconds of each algorithm, {"wavefront": s, "bits": s}; infinite if unsupported.

    Args:
        pair: sequences; only their lengths, dtype and `plain` are used.
        estimate_edits: expected distance.
        threads: CPU threads.
    """
    rows, columns = max(len(pair.query), len(pair.target)), min(len(pair.query), len(pair.target))
    edits = min(max(estimate_edits, rows - columns, 1.0), float(rows))
    base, per_edit = tuning.DISTANCE_COLUMNS
    cell = tuning.DISTANCE_CELL * (1.0 if pair.plain else tuning.DISTANCE_NON_ACGT_FACTOR)
    one_thread = {
        "wavefront": edits * edits / 2 * tuning.DISTANCE_POINT,
        "bits": rows * min(float(columns), base + per_edit * edits) * cell if pair.query.dtype == "u1" else math.inf,
    }
    return {name: tuning.DISTANCE_START + _with_threads(seconds, threads) for name, seconds in one_thread.items()}


def _with_threads(seconds: float, threads: int) -> float:
    """Return the seconds with several threads of work that takes one thread `seconds`."""
    if threads < 2 or seconds <= tuning.DISTANCE_ONE_THREAD:
        return seconds
    return tuning.DISTANCE_ONE_THREAD + (seconds - tuning.DISTANCE_ONE_THREAD) / tuning.DISTANCE_SECOND_THREAD
