"""Which algorithm a pair gets, by what their models promise. The same distance comes out of any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .. import tuning
from ..config import EngineName
from ..errors import DeviceError, UsageError
from .cpu import CpuBits, CpuWavefront
from .solver import Pair, Solver

# Of how many edits more a pair may have than it is known to have; see Choice.instead.
_MORE = 2**0.5
_WORTH_IT = 1.5  # times as long as another algorithm's model promises is what may well be true
_SLOWEST = 4.0  # times as long as their models promise is what a busy machine is believed to take for all algorithms


@dataclass(frozen=True)
class Shape:
    """What a forecast needs to know of a pair: symbols of its sides, and the edits that it may have."""

    longer: int
    shorter: int
    edits: float

    @classmethod
    def of(cls, pair: Pair, edits: float) -> Shape:
        """A pair's, if it has so many edits."""
        m, n = len(pair.query), len(pair.target)
        return cls(max(m, n), min(m, n), min(max(edits, abs(m - n), 1), max(m, n, 1)))


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
        seconds: what it takes with so many threads, by its model.
        any_symbols: whether it takes symbols of four bytes.
    """

    name: str
    kind: str
    engine: EngineName
    make: Make
    seconds: Callable[[Shape, Means], float]
    any_symbols: bool

    def takes(self, pair: Pair) -> bool:
        """Whether it has symbols wide enough."""
        return self.any_symbols or pair.query.itemsize == 1


def _wavefront_seconds(shape: Shape, means: Means) -> float:
    return _on_cpu(tuning.DISTANCE_WAVEFRONT, shape, shape.edits**2, means)


def _bits_seconds(shape: Shape, means: Means) -> float:
    return _on_cpu(tuning.DISTANCE_BITS, shape, shape.longer * shape.edits, means)


def _on_cpu(model: tuning.Model, shape: Shape, work: float, means: Means) -> float:
    threads = min(means.threads, tuning.DISTANCE_THREADS)
    return 1e-6 * (model.start + model.letter * shape.longer + model.unit * work / threads)


# A card's algorithms come here, with models of their own, and what they are made with comes into Means.
ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "cpu-wavefront",
        "wavefront",
        EngineName.CPU,
        lambda pair, most, means: CpuWavefront(pair, most, means.threads),
        _wavefront_seconds,
        any_symbols=True,
    ),
    Algorithm(
        "cpu-bits",
        "bits",
        EngineName.CPU,
        lambda pair, most, means: CpuBits(pair, most, means.threads),
        _bits_seconds,
        any_symbols=False,
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
        left = [a for a in self._left if a.takes(pair)]
        if not left:
            raise UsageError("bits takes 256 different lines, and here are more: leave --algorithm out")
        if edits is None:
            few = [a for a in left if a.kind == "wavefront"]
            return (few or left)[0]
        return min(left, key=lambda a: a.seconds(Shape.of(pair, edits), self.means))

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
        slow = spent / running.seconds(Shape.of(pair, at_least), self.means)
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
        shape, left = Shape.of(pair, edits), [a for a in self._left if a.kind != running.kind and a.takes(pair)]
        others = [(a.seconds(shape, self.means), a) for a in left]
        return min(others, key=lambda other: other[0], default=None)
