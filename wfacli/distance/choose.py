"""Which algorithm a pair gets, by what their models promise. The same distance comes out of any of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..config import EngineName
from ..errors import DeviceError, UsageError
from .cpu import CpuBits, CpuWavefront, forecast
from .solver import Pair, Solver

# Of how many edits more a pair may have than it is known to have; see Choice.instead.
_MORE = 2**0.5
_WORTH_IT = 1.5  # times as long as another algorithm's model promises is what may well be true
_SLOWEST = 4.0  # times as long as their models promise is what a busy machine is believed to take for all algorithms


@dataclass(frozen=True)
class Means:
    """What solvers may use.

    Attributes:
        threads: of the CPU.
    """

    threads: int


class Make(Protocol):
    """Makes a solver; an error leaves nothing behind."""

    def __call__(self, pair: Pair, most: int | None, means: Means) -> Solver:
        """For a pair of which more than `most` edits do not matter."""


@dataclass(frozen=True)
class Algorithm:
    """A solver to be had.

    Attributes:
        name: the engine's and the kind's, as checkpoints and --stats have it.
        kind: "wavefront" (few edits) or "bits" (any).
        engine: where it runs.
        make: makes it.
        seconds: what it will take for a pair with so many edits, by its model; infinite where it does not take the
            pair.
    """

    name: str
    kind: str
    engine: EngineName
    make: Make
    seconds: Callable[[Pair, float, Means], float]


# A card's algorithms come here, with models of their own, and what they are made with comes into Means.
ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "cpu-wavefront",
        "wavefront",
        EngineName.CPU,
        lambda pair, most, means: CpuWavefront(pair, most, means.threads),
        lambda pair, edits, means: forecast(pair, edits, means.threads)["wavefront"],
    ),
    Algorithm(
        "cpu-bits",
        "bits",
        EngineName.CPU,
        lambda pair, most, means: CpuBits(pair, most, means.threads),
        lambda pair, edits, means: forecast(pair, edits, means.threads)["bits"],
    ),
)


class Choice:
    """Among the algorithms that an engine's name and a kind's leave."""

    def __init__(
        self,
        means: Means,
        engine: EngineName = EngineName.AUTO,
        kind: str | None = None,
        algorithms: Sequence[Algorithm] = ALGORITHMS,
    ) -> None:
        """None of a kind means any. Raises DeviceError, UsageError where nothing is left."""
        self.means = means
        there = [a for a in algorithms if engine in (EngineName.AUTO, a.engine)]
        if not there:
            raise DeviceError("wfacli distance has no algorithm for a GPU in this version: leave --engine gpu out")
        self._left = [a for a in there if kind in (None, a.kind)]
        if not self._left:
            raise UsageError(f"there is no algorithm {kind}; there are {', '.join(sorted({a.kind for a in there}))}")

    def first(self, pair: Pair, edits: int | None) -> Algorithm:
        """The soonest, for an estimate of the edits; without one, the algorithm that is good for few edits.

        That one shows by its own growth how many they are; see instead(). Raises UsageError where none takes the pair.
        """
        left = [(self._seconds(a, pair, edits or 0), a) for a in self._left]
        left = [(seconds, a) for seconds, a in left if math.isfinite(seconds)]
        if not left:
            raise UsageError("bits takes 256 different lines, and here are more: leave --algorithm out")
        few = [(seconds, a) for seconds, a in left if a.kind == "wavefront"]
        return min(few if edits is None and few else left, key=lambda one: one[0])[1]

    def named(self, name: str) -> Algorithm:
        """The one of a checkpoint. Raises UsageError where the options exclude it."""
        for algorithm in self._left:
            if algorithm.name == name:
                return algorithm
        raise UsageError(
            f"the checkpoint is of {name}, which --engine and --algorithm leave out or this version has not"
        )

    def instead(
        self, running: Algorithm, pair: Pair, at_least: int, spent: float, estimate: int | None, grown: float | None
    ) -> Algorithm | None:
        """What would sooner be done from scratch than a wavefront that has run into more edits than expected.

        Its time goes with the square of the edits, so what it has `spent` on the `at_least` that it has proved says
        what it will take for any number. By the estimate, and by how it has `grown`, there will be so many; but both
        may be wrong, or say nothing. Then there may be so many edits more that the rest would take as long as what was
        spent: who leaves at the moment when another algorithm takes no longer than that, or half as long where there
        is reason to stay, never loses much more than he would by knowing.
        """
        if running.kind != "wavefront" or not at_least:
            return None
        slow = spent / self._seconds(running, pair, at_least)
        slow = min(max(slow, 1.0), _SLOWEST)
        likely = max(estimate or 0, grown or 0)
        best = self._best_other(running, pair, likely)
        if best and likely > at_least and _WORTH_IT * slow * best[0] < spent * ((likely / at_least) ** 2 - 1):
            return best[1]
        best = self._best_other(running, pair, _MORE * at_least)
        patience = 2 if likely > at_least else 1
        return best[1] if best and patience * slow * best[0] < spent else None

    def _best_other(self, running: Algorithm, pair: Pair, edits: float) -> tuple[float, Algorithm] | None:
        """The soonest of another kind, with its seconds."""
        others = [(self._seconds(a, pair, edits), a) for a in self._left if a.kind != running.kind]
        return min(others, key=lambda other: other[0], default=None)

    def _seconds(self, algorithm: Algorithm, pair: Pair, edits: float) -> float:
        m, n = len(pair.query), len(pair.target)
        return algorithm.seconds(pair, min(max(edits, abs(m - n), 1), max(m, n, 1)), self.means)
