"""Which algorithm a pair gets, by what their models promise. The same distance comes out of any of them."""

from __future__ import annotations

from collections.abc import Sequence

from .. import tuning
from ..config import EngineName
from ..errors import DeviceError, UsageError
from .algorithm import Algorithm, Means, Shape
from .card import ON_CARD
from .cpu import CpuBits, CpuWavefront
from .solver import Pair

__all__ = ["ALGORITHMS", "Algorithm", "Choice", "Means", "Shape"]

# Of how many edits more a pair may have than it is known to have; see Choice.instead.
_MORE = 2**0.5


def _wavefront_seconds(shape: Shape, means: Means) -> float:
    return _on_cpu(tuning.DISTANCE_WAVEFRONT, shape, shape.edits**2, means)


def _bits_seconds(shape: Shape, means: Means) -> float:
    return _on_cpu(tuning.DISTANCE_BITS, shape, shape.longer * shape.edits, means)


def _on_cpu(model: tuning.Model, shape: Shape, work: float, means: Means) -> float:
    threads = min(means.threads, tuning.DISTANCE_THREADS)
    return 1e-6 * (model.start + model.letter * shape.longer + model.unit * work / threads)


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
    *ON_CARD,
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
        """None of a kind means any. Raises DeviceError, UsageError where nothing is left.

        Unless the engine's name asks for it, a card is opened only for a pair that takes the CPU longer than that.
        """
        self.means = means
        there = [a for a in algorithms if engine in (EngineName.AUTO, a.engine)]
        if means.card is None:
            there = [a for a in there if a.engine is not EngineName.GPU]
        elif engine is EngineName.GPU:
            means.card.driver()  # raises DeviceError
        if not there:
            raise DeviceError("--engine gpu asks for a GPU, and there is none to be used")
        self._left = [a for a in there if kind in (None, a.kind)]
        if not self._left:
            raise UsageError(f"there is no algorithm {kind}; there are {', '.join(sorted({a.kind for a in there}))}")

    def first(self, pair: Pair, edits: int | None) -> Algorithm:
        """The soonest, for an estimate of the edits; without one, the algorithm that is good for few edits.

        That one shows by its own growth how many they are; see instead(). Raises UsageError where none takes the pair.
        """
        left = self._for(pair, edits)
        if not left:
            raise UsageError("bits takes 256 different lines, and here are more: leave --algorithm out")
        if edits is None:
            few = [a for a in left if a.kind == "wavefront"]
            return (few or left)[-1]  # where there is a card, that
        return min(left, key=lambda a: a.seconds(Shape.of(pair, edits), self.means))

    def _for(self, pair: Pair, edits: int | None) -> list[Algorithm]:
        """Those that take a pair; of a card's only if it is open, or worth being opened."""
        able = [a for a in self._left if a.takes(pair)]
        others = [a for a in able if a.engine is not EngineName.GPU]
        if not others or len(others) == len(able):
            return able
        likely = edits if edits is not None else max(len(pair.query), len(pair.target))
        least = min(a.seconds(Shape.of(pair, likely), self.means) for a in others)
        assert self.means.card
        return able if least > tuning.OPENING_A_CARD and self.means.card.works else others

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
        likely = max(estimate or 0, grown or 0)
        best = self._best_other(running, pair, likely)
        if best and likely > at_least and best[0] < spent * ((likely / at_least) ** 2 - 1):
            return best[1]
        best = self._best_other(running, pair, _MORE * at_least)
        patience = 2 if likely > at_least else 1
        return best[1] if best and patience * best[0] < spent else None

    def _best_other(self, running: Algorithm, pair: Pair, edits: float) -> tuple[float, Algorithm] | None:
        """The soonest of another kind, or elsewhere, with its seconds."""
        left = [a for a in self._for(pair, int(edits)) if a.kind != running.kind or a.engine is not running.engine]
        shape = Shape.of(pair, edits)
        others = [(a.seconds(shape, self.means), a) for a in left]
        return min(others, key=lambda other: other[0], default=None)
