"""The solvers that run on the CPU: a thin layer over the native ones."""

from __future__ import annotations

import math
from typing import ClassVar

from ... import _native
from ...core import tuning
from ..base import Pair, Position, State


class _CpuSolver:
    """What both have in common; the protocol is `solver.Solver`."""

    name: ClassVar[str]
    _native: _native.EditSolver

    def advance(self, seconds: float) -> bool:
        """Works on for about so long, one step at least; whether it has come to an end."""
        return self._native.advance(seconds)

    @property
    def distance(self) -> int | None:
        """After the end: the distance; None: it is more than the most that matters."""
        return self._native.distance

    @property
    def position(self) -> Position:
        """How far it is."""
        return Position(*self._native.position)

    def save(self) -> State:
        """Arrays, all i64, from which a new solver of the same pair and `most` goes on."""
        return self._native.save()

    def restore(self, state: State) -> None:
        """Goes on from there; raises ValueError where it is no state of this pair, this `most` and this algorithm."""
        self._native.restore(dict(state))

    def close(self) -> None:
        """Gives back its memory; it may be called again, anything else raises ValueError."""
        self._native.close()


class CpuWavefront(_CpuSolver):
    """Two fronts of furthest-reaching points that meet: work goes with the square of the distance, memory with it.

    `position.share` is what both fronts have behind them of both sequences, by the furthest point of each. The
    distance will be about at_least / share, and of the work about the square of share is done.
    """

    name = "wavefront"

    def __init__(self, pair: Pair, most: int | None, threads: int) -> None:
        """Ready to advance.

        Args:
            pair: letters of any values.
            most: edits that matter; None: any number.
            threads: two are used.
        """
        self._native = _native.EditWavefront(pair.query, pair.target, -1 if most is None else most, threads)


class CpuBits(_CpuSolver):
    """Bit-vectors over the cells that matter: work goes with length and distance, about half their product.

    A state may be taken to a machine with other instructions.
    """

    name = "bits"

    def __init__(self, pair: Pair, most: int | None, threads: int) -> None:
        """Ready to advance.

        Args:
            pair: letters u8 of any values; the fewer different ones, the faster.
            most: edits that matter; None: any number.
            threads: two are used.

        Raises:
            TypeError: letters are u32.
        """
        self._native = _native.EditBits(pair.query, pair.target, -1 if most is None else most, threads)


def forecast(pair: Pair, estimate_edits: float, threads: int = 1) -> dict[str, float]:
    """Seconds that each algorithm will take, about: {"wavefront": s, "bits": s}; infinite for one that cannot.

    Args:
        pair: whose lengths and letters matter.
        estimate_edits: its distance, as far as it is known.
        threads: that it may use.
    """
    rows, columns = max(len(pair.query), len(pair.target)), min(len(pair.query), len(pair.target))
    edits = min(max(estimate_edits, rows - columns, 1.0), float(rows))
    base, share = tuning.DISTANCE_COLUMNS
    cell = tuning.DISTANCE_CELL * (1.0 if pair.plain else tuning.DISTANCE_LETTERS)
    alone = {
        "wavefront": edits * edits / 2 * tuning.DISTANCE_POINT,
        "bits": rows * min(float(columns), base + share * edits) * cell if pair.query.dtype == "u1" else math.inf,
    }
    return {name: tuning.DISTANCE_START + _shared(seconds, threads) for name, seconds in alone.items()}


def _shared(seconds: float, threads: int) -> float:
    """What is left of one thread's seconds with more of them."""
    if threads < 2 or seconds <= tuning.DISTANCE_ALONE:
        return seconds
    return tuning.DISTANCE_ALONE + (seconds - tuning.DISTANCE_ALONE) / tuning.DISTANCE_SECOND_THREAD
