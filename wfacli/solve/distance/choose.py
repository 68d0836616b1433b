"""Which algorithm a pair gets, by what their models promise. The same distance comes out of any of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...config import EngineName
from ...core import tuning
from ...errors import DeviceError, UsageError
from ..base import Pair
from .algorithm import Algorithm, Means
from .cpu import CpuBits, CpuWavefront, forecast
from .on_gpu import ON_GPU

__all__ = ["ALGORITHMS", "Algorithm", "Choice", "Means"]

# Of how many edits more a pair may have than it is known to have; see Choice.instead.
_MORE = 2**0.5
_FEW = 0.02  # edits by the longer sequence, by which wavefronts are compared where there is no telling
_WORTH_IT = 1.5  # times as long as another algorithm's model promises is what may well be true
_SLOWEST = 4.0  # times as long as their models promise is what a busy machine is believed to take for all algorithms


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "cpu-wavefront",
        "wavefront",
        EngineName.CPU,
        lambda pair, most, means: CpuWavefront(pair, most, means.threads),
        lambda pair, edits, means: forecast(pair, edits, means.threads)["wavefront"],
        on_cpu=lambda pair, most, state: state,
    ),
    Algorithm(
        "cpu-bits",
        "bits",
        EngineName.CPU,
        lambda pair, most, means: CpuBits(pair, most, means.threads),
        lambda pair, edits, means: forecast(pair, edits, means.threads)["bits"],
    ),
    *ON_GPU,
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

        Unless the engine's name asks for it, a GPU is opened only for a pair that takes the CPU longer than that.
        """
        self.means = means
        there = [a for a in algorithms if engine in (EngineName.AUTO, a.engine)]
        if means.gpu is None:
            there = [a for a in there if a.engine is not EngineName.GPU]
        elif engine is EngineName.GPU:
            means.gpu.driver()  # raises DeviceError
        if not there:
            raise DeviceError("--engine gpu asks for a GPU, and there is none to be used")
        self._left = [a for a in there if kind in (None, a.kind)]
        if not self._left:
            raise UsageError(f"there is no algorithm {kind}; there are {', '.join(sorted({a.kind for a in there}))}")

    def leave_gpu(self, failure: DeviceError) -> bool:
        """Does without a GPU that has failed, from now on; whether there is anything else."""
        gpu, self.means = self.means.gpu, replace(self.means, gpu=None)
        if gpu is not None:
            gpu.leave(failure)
        self._left = [a for a in self._left if a.engine is not EngineName.GPU]
        return bool(self._left)

    def first(self, pair: Pair, edits: int | None) -> Algorithm:
        """The soonest, for an estimate of the edits; without one, the algorithm that is good for few edits.

        That one shows by its own growth how many they are; see instead(). Raises UsageError where none takes the pair.
        """
        longest = max(len(pair.query), len(pair.target))
        left = self._for(pair, longest if edits is None else edits, _FEW * longest if edits is None else edits)
        if not left:
            raise UsageError("bits takes 256 different lines, and here are more: leave --algorithm out")
        few = [(seconds, a) for seconds, a in left if a.kind == "wavefront"]
        return min(few if edits is None and few else left, key=lambda one: one[0])[1]

    def _for(self, pair: Pair, most: float, edits: float) -> list[tuple[float, Algorithm]]:
        """What algorithms take for so many edits; those of a GPU only if it is open, or worth it for `most` edits."""
        likely = [(self._seconds(a, pair, most), a) for a in self._left if a.engine is not EngineName.GPU]
        soonest = min((seconds for seconds, _ in likely), default=math.inf)
        gpu = self.means.gpu
        with_gpu = gpu is not None and soonest > tuning.OPENING_A_GPU and gpu.works
        able = [a for a in self._left if with_gpu or a.engine is not EngineName.GPU]
        found = [(self._seconds(a, pair, edits), a) for a in able]
        return [(seconds, a) for seconds, a in found if math.isfinite(seconds)]

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
        """The soonest of another kind, or elsewhere, with its seconds."""
        left = self._for(pair, edits, edits)
        others = [(s, a) for s, a in left if a.kind != running.kind or a.engine is not running.engine]
        return min(others, key=lambda other: other[0], default=None)

    def _seconds(self, algorithm: Algorithm, pair: Pair, edits: float) -> float:
        m, n = len(pair.query), len(pair.target)
        return algorithm.seconds(pair, min(max(edits, abs(m - n), 1), max(m, n, 1)), self.means)
