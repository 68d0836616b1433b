"""Choice of the algorithm for a pair, by models of their time. All algorithms return the same distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...config import EngineName
from ...core import tuning
from ...errors import DeviceError, UsageError
from ..base import Pair
from .algorithm import Algorithm, Resources
from .cpu import CpuBits, CpuWavefront, forecast
from .on_gpu import ON_GPU

__all__ = ["ALGORITHMS", "Algorithm", "AlgorithmChoice", "Resources"]

# Without a usable estimate, a pair may have this many times its proven edits; see faster_alternative.
_EDIT_MARGIN = 2**0.5
_DEFAULT_ERROR = 0.02  # edits per symbol of the longer sequence for which wavefronts are compared without an estimate
_MODEL_MARGIN = 1.5  # margin for errors of the other algorithm's model: factor of its expected time
_MAX_SLOWDOWN = 4.0  # upper bound of the slowdown by a busy machine: actual over expected time, of any algorithm


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm(
        "cpu-wavefront",
        "wavefront",
        EngineName.CPU,
        lambda pair, max_distance, resources: CpuWavefront(pair, max_distance, resources.threads),
        lambda pair, edits, resources: forecast(pair, edits, resources.threads)["wavefront"],
        to_cpu_state=lambda pair, max_distance, state: state,
    ),
    Algorithm(
        "cpu-bits",
        "bits",
        EngineName.CPU,
        lambda pair, max_distance, resources: CpuBits(pair, max_distance, resources.threads),
        lambda pair, edits, resources: forecast(pair, edits, resources.threads)["bits"],
    ),
    *ON_GPU,
)


class AlgorithmChoice:
    """Choice among the algorithms that `--engine` and `--algorithm` allow."""

    def __init__(
        self,
        resources: Resources,
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
        self.resources = resources
        on_engine = [a for a in algorithms if engine in (EngineName.AUTO, a.engine)]
        if resources.gpu is None:
            on_engine = [a for a in on_engine if a.engine is not EngineName.GPU]
        elif engine is EngineName.GPU:
            resources.gpu.driver()  # raises DeviceError
        if not on_engine:
            raise DeviceError("--engine gpu requires a GPU, and there is no usable one")
        self._allowed = [a for a in on_engine if kind in (None, a.kind)]
        if not self._allowed:
            raise UsageError(
                f"there is no algorithm {kind}; there are {', '.join(sorted({a.kind for a in on_engine}))}"
            )

    def exclude_gpu(self, failure: DeviceError) -> bool:
        """Exclude the GPU after a failure; return True if other algorithms are left."""
        gpu, self.resources = self.resources.gpu, replace(self.resources, gpu=None)
        if gpu is not None:
            gpu.exclude(failure)
        self._allowed = [a for a in self._allowed if a.engine is not EngineName.GPU]
        return bool(self._allowed)

    def first(self, pair: Pair, edits: int | None) -> Algorithm:
        """Return the fastest algorithm for the estimated edits; without an estimate, the fastest wavefront.

        A wavefront's own growth then shows how many edits there are; see `faster_alternative`.

        Raises:
            UsageError: no algorithm supports the pair.
        """
        longest = max(len(pair.query), len(pair.target))
        left = self._for(
            pair, longest if edits is None else edits, _DEFAULT_ERROR * longest if edits is None else edits
        )
        if not left:
            raise UsageError("bits supports at most 256 different lines: omit --algorithm")
        few = [(seconds, a) for seconds, a in left if a.kind == "wavefront"]
        return min(few if edits is None and few else left, key=lambda one: one[0])[1]

    def _for(self, pair: Pair, max_edits: float, edits: float) -> list[tuple[float, Algorithm]]:
        """Return (seconds, algorithm) of each algorithm that supports the pair, for a number of edits.

        GPU algorithms are included only if opening the GPU takes less than the best CPU algorithm for `max_edits`.
        """
        on_cpu = [self._seconds(a, pair, max_edits) for a in self._allowed if a.engine is not EngineName.GPU]
        fastest = min(on_cpu, default=math.inf)
        gpu = self.resources.gpu
        with_gpu = gpu is not None and fastest > tuning.GPU_OPEN_SECONDS and gpu.works
        usable = [a for a in self._allowed if with_gpu or a.engine is not EngineName.GPU]
        found = [(self._seconds(a, pair, edits), a) for a in usable]
        return [(seconds, a) for seconds, a in found if math.isfinite(seconds)]

    def named(self, name: str) -> Algorithm:
        """Return the algorithm of a checkpoint. Raises UsageError if the options exclude it."""
        for algorithm in self._allowed:
            if algorithm.name == name:
                return algorithm
        raise UsageError(
            f"the checkpoint is of {name}, which --engine and --algorithm exclude or this version does not have"
        )

    def faster_alternative(
        self,
        running: Algorithm,
        pair: Pair,
        lower_bound: int,
        spent: float,
        estimate: int | None,
        extrapolated: float | None,
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
            lower_bound: proven lower bound of the distance.
            spent: seconds that it has run.
            estimate: edits estimated beforehand; None if unknown.
            extrapolated: edits extrapolated from the fronts' progress; None if unknown.
        """
        if running.kind != "wavefront" or not lower_bound:
            return None
        slowdown = spent / self._seconds(running, pair, lower_bound)
        slowdown = min(max(slowdown, 1.0), _MAX_SLOWDOWN)
        expected_edits = max(estimate or 0, extrapolated or 0)
        best = self._best_other(running, pair, expected_edits)
        if (
            best
            and expected_edits > lower_bound
            and _MODEL_MARGIN * slowdown * best[0] < spent * ((expected_edits / lower_bound) ** 2 - 1)
        ):
            return best[1]
        best = self._best_other(running, pair, _EDIT_MARGIN * lower_bound)
        patience = 2 if expected_edits > lower_bound else 1
        return best[1] if best and patience * slowdown * best[0] < spent else None

    def _best_other(self, running: Algorithm, pair: Pair, edits: float) -> tuple[float, Algorithm] | None:
        """Return (seconds, algorithm) of the fastest of another kind or engine; None if there is none."""
        left = self._for(pair, edits, edits)
        others = [(s, a) for s, a in left if a.kind != running.kind or a.engine is not running.engine]
        return min(others, key=lambda other: other[0], default=None)

    def _seconds(self, algorithm: Algorithm, pair: Pair, edits: float) -> float:
        m, n = len(pair.query), len(pair.target)
        return algorithm.seconds(pair, min(max(edits, abs(m - n), 1), max(m, n, 1)), self.resources)
