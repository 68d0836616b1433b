"""Choice of the algorithm for a pair, by models of their time. All algorithms return the same distance."""

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

# Without a usable estimate, a pair may have this many times its proven edits; see Choice.instead.
_MORE = 2**0.5
_FEW = 0.02  # edits per symbol of the longer sequence for which wavefronts are compared without an estimate
_WORTH_IT = 1.5  # margin for the error of the other algorithm's model: it may take this many times its expected time
_SLOWEST = 4.0  # upper bound of the slowdown by a busy machine: actual over expected time, of any algorithm


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
    """Choice among the algorithms that `--engine` and `--algorithm` allow."""

    def __init__(
        self,
        means: Means,
        engine: EngineName = EngineName.AUTO,
        kind: str | None = None,
        algorithms: Sequence[Algorithm] = ALGORITHMS,
    ) -> None:
        """Select the algorithms of an engine and a kind (None: any).

        Unless `engine` requests the GPU, it is opened only for pairs whose expected CPU time exceeds the opening time.

        Raises:
            DeviceError: the GPU is requested and there is none.
            UsageError: no algorithm is left.
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
        """Exclude the GPU after a failure; return True if other algorithms are left."""
        gpu, self.means = self.means.gpu, replace(self.means, gpu=None)
        if gpu is not None:
            gpu.leave(failure)
        self._left = [a for a in self._left if a.engine is not EngineName.GPU]
        return bool(self._left)

    def first(self, pair: Pair, edits: int | None) -> Algorithm:
        """Return the fastest algorithm for the estimated edits; without an estimate, the fastest wavefront.

        A wavefront's own growth then shows how many edits there are; see `instead`.

        Raises:
            UsageError: no algorithm supports the pair.
        """
        longest = max(len(pair.query), len(pair.target))
        left = self._for(pair, longest if edits is None else edits, _FEW * longest if edits is None else edits)
        if not left:
            raise UsageError("bits takes 256 different lines, and here are more: leave --algorithm out")
        few = [(seconds, a) for seconds, a in left if a.kind == "wavefront"]
        return min(few if edits is None and few else left, key=lambda one: one[0])[1]

    def _for(self, pair: Pair, most: float, edits: float) -> list[tuple[float, Algorithm]]:
        """Return (seconds, algorithm) of each algorithm that supports the pair, for a number of edits.

        GPU algorithms are included only if opening the GPU takes less than the best CPU algorithm for `most` edits.
        """
        likely = [(self._seconds(a, pair, most), a) for a in self._left if a.engine is not EngineName.GPU]
        soonest = min((seconds for seconds, _ in likely), default=math.inf)
        gpu = self.means.gpu
        with_gpu = gpu is not None and soonest > tuning.GPU_OPEN_SECONDS and gpu.works
        able = [a for a in self._left if with_gpu or a.engine is not EngineName.GPU]
        found = [(self._seconds(a, pair, edits), a) for a in able]
        return [(seconds, a) for seconds, a in found if math.isfinite(seconds)]

    def named(self, name: str) -> Algorithm:
        """Return the algorithm of a checkpoint. Raises UsageError if the options exclude it."""
        for algorithm in self._left:
            if algorithm.name == name:
                return algorithm
        raise UsageError(
            f"the checkpoint is of {name}, which --engine and --algorithm leave out or this version has not"
        )

    def instead(
        self, running: Algorithm, pair: Pair, at_least: int, spent: float, estimate: int | None, grown: float | None
    ) -> Algorithm | None:
        """Return an algorithm that should finish from scratch before the running wavefront does; None to go on.

        A wavefront's time grows with the square of the edits, so the time spent on the proven edits predicts its time
        for any number. The estimate and the growth of the fronts predict that number, but either may be wrong or
        missing. In that case assume that the rest takes as long as the time already spent, which is true for sqrt(2)
        times the proven edits, and switch once another algorithm takes less than that (less than half of it if the
        prediction favours staying). So a wrong estimate costs no more than about twice the best time.

        Args:
            running: the algorithm at work.
            pair: its pair.
            at_least: proven lower bound of the distance.
            spent: seconds that it has run.
            estimate: edits estimated beforehand; None if unknown.
            grown: edits extrapolated from the fronts' progress; None if unknown.
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
        """Return (seconds, algorithm) of the fastest of another kind or engine; None if there is none."""
        left = self._for(pair, edits, edits)
        others = [(s, a) for s, a in left if a.kind != running.kind or a.engine is not running.engine]
        return min(others, key=lambda other: other[0], default=None)

    def _seconds(self, algorithm: Algorithm, pair: Pair, edits: float) -> float:
        m, n = len(pair.query), len(pair.target)
        return algorithm.seconds(pair, min(max(edits, abs(m - n), 1), max(m, n, 1)), self.means)
