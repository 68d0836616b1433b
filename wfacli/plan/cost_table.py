"""Expected times of pairs in the kernels of a GPU, and of the CPU beside it. Pure functions of columns."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, PairBatch, all_rows
from ..core.route import GPU_PREFIX
from ..gpu.kernels import dp, tiles, wfa
from . import gpu_kernels
from .forecast import ALIKE, F64, Forecast
from .traits import CostTraits

_QUANTILES = (0.25, 0.5, 0.9)  # of pairs, by which samples are compared
# Doublings by which quantiles of similar samples may differ, and the maxima. Batches of a run's reads differ as much.
_ALIKE, _ALIKE_MOST = 0.35, 1.0
_MIN_FOR_SPREAD = 16  # estimates that are needed to tell how much pairs differ
# A kernel is not tried for pairs that it fails with a higher probability. Pairs that one kernel has failed already are
# few, and the CPU would take long for them while the GPU is idle: for those nearly any chance is worth a try.
_MAX_P_FAIL, _MAX_P_FAIL_AGAIN = 0.5, 0.8
_BANDS = 12  # band widths that are compared
_TAILS = (1.0, 1.75, 2.5, 3.5, 5.0, 7.0)  # spreads above the expected cost for which bands of each pair are compared
_SURE = 0.05  # probability of failure up to which a kernel counts as certain
_TAIL = 3.0  # spreads above the expected cost up to which a wavefront is computed
_LOGISTIC = 1.7  # scale at which a logistic distribution resembles a normal one

T = TypeVar("T")


class Sample:
    """Pairs that represent a batch. A sample holds no bases.

    Most batches of a run resemble one another, so the choice of kernels for one is used for the others.

    Attributes:
        pairs: the sample, with estimates.
        count: pairs of the batch.
        exceeded: f64[m], costs that the pairs are known to exceed; None if nothing is known.
    """

    def __init__(self, pairs: PairBatch, count: int, exceeded: F64 | None = None) -> None:
        """See the attributes."""
        self.pairs, self.count, self.exceeded = pairs.shapes(all_rows(len(pairs))), count, exceeded
        longest, edits = np.maximum(pairs.q_len, pairs.t_len), pairs.est_edits + 1
        # Bands are as wide as edits and differences of lengths together require.
        ordered = np.sort([longest, np.abs(pairs.q_len - pairs.t_len) + edits, edits], axis=1)
        places = [int(share * (len(pairs) - 1)) for share in _QUANTILES]
        found = [np.array([len(pairs) / 4, count]), ordered[:, places].ravel(), ordered[:, -1]]
        if exceeded is not None:
            found.append(np.quantile(exceeded, (0, *_QUANTILES, 1)))
        each = [_ALIKE, _ALIKE, _ALIKE_MOST, _ALIKE]
        self._kind = int(np.bitwise_or.reduce(pairs.flags, initial=0)), exceeded is not None
        self._place: F64 = np.concatenate([np.log2(v + 1.0) / e for v, e in zip(found, each, strict=False)])

    @property
    def weight(self) -> float:
        """Pairs of the batch per pair of the sample."""
        return self.count / len(self.pairs)

    def is_like(self, other: Sample) -> bool:
        """Return whether kernels for both would be chosen by about the same numbers."""
        return self._kind == other._kind and bool(np.abs(self._place - other._place).max() <= 1)


class Remembered(Generic[T]):
    """Values that were found for samples, for others that are similar. Safe to share between threads."""

    def __init__(self, most: int) -> None:
        """Keep at most `most` values, the newest ones."""
        self._most, self._lock = most, threading.Lock()
        self._known: list[tuple[Hashable, Sample, T]] = []

    def of(self, key: Hashable, sample: Sample, find: Callable[[], T]) -> T:
        """Return the value for a key and a similar sample, or find it."""
        for own, other, value in self._known:  # a list that no thread changes
            if own == key and sample.is_like(other):
                return value
        value = find()
        with self._lock:
            self._known = [*self._known[-self._most + 1 :], (key, sample, value)]
        return value


class CostTable:
    """Expected times of some pairs in each kernel, in microseconds of the whole machine.

    Attributes:
        costs: the pairs' expected costs.
        spread: f64[n], standard deviation of the logarithm of the true cost over the expected one.
        kernels: the GPU kernels.
        attempt_us: f64[kernels, n], time until a kernel has an answer or gives up.
        p_fail: f64[kernels, n], probability that it gives up.
        max_p_fail: probability above which a kernel is not tried for a pair.
        latency_us: f64[kernels, n], time of a pair that is alone on the GPU.
        cpu_names, cpu_times_us: the CPU kernels, and f64[of them, n].
        cpu_us, cpu_kernel: f64[n] and str[n], the time of the fastest CPU kernel, and its name.
        cpu_share: share of the CPU's time that these have.
    """

    def __init__(
        self,
        pairs: PairBatch,
        spec: AlignSpec,
        limits: Limits,
        cpu: Sequence[str],
        kernels: Sequence[gpu_kernels.GpuKernel] | None = None,
        exceeded: F64 | None = None,
        own: bool = False,
        cpu_share: float = 1.0,
    ) -> None:
        """Compute the table.

        Args:
            pairs: with estimates.
            spec: what to compute.
            limits: bounds on memory.
            cpu: names of CPU kernels.
            kernels: GPU kernels; None: all for the specification's costs.
            exceeded: costs (f64[n]) that pairs are known to exceed.
            own: True if each pair may have a band of its own, which needs an estimate of each.
            cpu_share: share of the CPU's time that its kernels have.
        """
        forecast = Forecast(pairs, spec, limits, gpu=True)
        self.costs, self.spread = _expected(forecast, CostTraits.of(spec).edit, again=exceeded is not None)
        if exceeded is not None:
            self.costs = dataclasses.replace(self.costs, cost=np.maximum(self.costs.cost, exceeded))
        self.kernels = tuple(_kernels(self.costs, spec, own) if kernels is None else kernels)
        other, shape = forecast.other_bases, (len(self.kernels), len(pairs))
        attempts = [kernel.tried(self.costs, other) for kernel in self.kernels]
        self.attempt_us = np.array(attempts).reshape(shape)
        reach = np.array([kernel.reach(self.costs) for kernel in self.kernels]).reshape(shape)
        self._proves = np.array([gpu_kernels.decides(kernel.name, spec) for kernel in self.kernels], bool)
        self.p_fail = self._failing(reach, exceeded)
        self.max_p_fail = _MAX_P_FAIL if exceeded is None else _MAX_P_FAIL_AGAIN
        self.latency_us = np.array([kernel.alone(self.costs) for kernel in self.kernels]).reshape(shape)
        times = np.array([forecast.microseconds(name) for name in cpu]) / cpu_share
        self.cpu_names, self.cpu_times_us, self.cpu_share = cpu, times, cpu_share
        self.cpu_us, self.cpu_kernel = times.min(axis=0), np.array(cpu)[times.argmin(axis=0)]

    @functools.cached_property
    def expected_us(self) -> F64:
        """Time with that of another attempt where the first one fails (f64[kernels, n])."""
        again = tuning.GPU_RETRIED + np.minimum(self.cpu_us, 2 * self._certain_us.min(axis=0))
        expected: F64 = self.attempt_us + self.p_fail * again
        return expected

    @functools.cached_property
    def useful(self) -> list[int]:
        """Kernels that are worth a try for some pair."""
        tried = (self.p_fail <= self.max_p_fail) & np.isfinite(self.attempt_us)
        return np.flatnonzero(tried.any(axis=1)).tolist()

    @functools.cached_property
    def _certain_us(self) -> F64:
        return np.where(self.p_fail < _SURE, self.attempt_us, np.inf)

    @functools.cached_property
    def _slowest_retry_us(self) -> tuple[float, float]:
        """Time of another launch for failed pairs, and of the slowest pair if the CPU aligns them."""
        by = self._certain_us.argmin(axis=0)
        latency = np.take_along_axis(self.latency_us, by[None], axis=0)[0]
        latency = np.where(np.isfinite(self._certain_us.min(axis=0)), latency, np.inf)
        return tuning.GPU_LAUNCH_OVERHEAD + float(latency.max()), tuning.THREADS_WITH_GPU * float(self.cpu_us.max())

    def retry_us(self, failing: float) -> float:
        """Return the time of another launch for `failing` pairs, or of the CPU for them, beyond the work itself."""
        launch, slowest = self._slowest_retry_us
        return probability_of_any(failing) * min(launch, slowest + failing * float(self.cpu_us.mean()))

    def cut(self, kernel: int, rows: npt.NDArray[np.intp]) -> int:
        """Return the band width, or the cost, that a kernel is limited to for some of the pairs."""
        found = self.kernels[kernel]
        if found.band or found.name.removeprefix(GPU_PREFIX) not in wfa.VARIANTS:
            return found.band
        return 1 + int((self.costs.cost[rows] * np.exp(_TAIL * self.spread[rows])).max())

    def bands(self, kernel: int, rows: npt.NDArray[np.intp]) -> I32 | None:
        """Return the width of each pair's own band (i32[m]), for a kernel that supports such bands."""
        own = self.kernels[kernel].own
        return None if own is None else own(self.costs)[rows].astype(np.int32)

    def slowest_first(self, kernel: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the rows in the order in which the kernel takes least time.

        The slowest pairs begin first, so that none is left at the end, and pairs that share lanes are alike.
        """
        work = self.attempt_us[kernel][rows]
        return rows if work.max() <= ALIKE * work.min() else rows[np.argsort(-work, kind="stable")]

    def _failing(self, reach: F64, exceeded: F64 | None) -> F64:
        """Return the probability that costs are higher than a reach (both f64[kernels, n])."""
        power = _LOGISTIC / self.spread
        over = 1 / (1 + (np.maximum(reach, 0) / np.maximum(self.costs.cost, 1)) ** power)
        if exceeded is not None:
            known = 1 / (1 + (exceeded / np.maximum(self.costs.cost, 1)) ** power)
            over = np.where(reach > exceeded, np.minimum(over / known, 1), 1)
        # Pairs above the user's bound need no alignment, if the kernel can prove that they are.
        return np.where(self._proves[:, None], 0, over)


def probability_of_any(expected: float) -> float:
    """Return the probability of at least one event where `expected` are expected (Poisson)."""
    return float(1 - np.exp(-expected))


def _expected(forecast: Forecast, edit: float, again: bool) -> tuple[gpu_kernels.PairCosts, F64]:
    """Return the pairs with the costs that they are likely to have, and the spread of those (f64[n])."""
    pairs = forecast.for_gpu
    spread = np.full(len(pairs.cost), tuning.SPREAD_RETRIED if again else tuning.SPREAD)
    pairs = dataclasses.replace(pairs, cost=_without_chance(pairs.cost, pairs.longest), spread=spread)
    # The estimate of a long pair with few errors has looked at few bases, and hardly seen an edit.
    clean = (pairs.longest > 2 * tuning.SAMPLED_BASES) & (pairs.cost < 0.01 * edit * pairs.longest)
    if not clean.any():
        return pairs, spread
    unseen = 0.5 * edit * pairs.longest / tuning.SAMPLED_BASES
    cost = np.where(clean, pairs.cost + unseen, pairs.cost)
    spread = np.where(clean, spread + unseen / np.maximum(cost, 1e-9), spread)
    return dataclasses.replace(pairs, cost=cost, spread=spread), spread


def _without_chance(cost: F64, longest: F64) -> F64:
    """Return costs without the differences that sampling explains: if estimates differ no more, pairs are alike."""
    some = (longest > 2 * tuning.SAMPLED_BASES) & (cost > 0)
    if some.sum() < _MIN_FOR_SPREAD:
        return cost
    rate = np.log(cost[some] / longest[some])
    mean, variance = rate.mean(), rate.var()
    real = max(1 - tuning.SPREAD_SAMPLING**2 / max(variance, 1e-12), 0.0)
    found = cost.copy()
    found[some] = longest[some] * np.exp(mean + np.sqrt(real) * (rate - mean))
    return found


def _kernels(costs: gpu_kernels.PairCosts, spec: AlignSpec, own: bool) -> list[gpu_kernels.GpuKernel]:
    """Return all kernels for some costs; of the one with any band width, those widths that the pairs may need."""
    found = [kernel for family in gpu_kernels.families(spec) for kernel in family]
    fixed = [kernel for kernel in found if not kernel.any_band]
    if len(fixed) == len(found):
        return fixed
    if own:
        return [*fixed, *(gpu_kernels.own_bands(tail) for tail in _TAILS)]
    apart = np.abs(costs.q_len - costs.t_len)
    needed = np.sort(gpu_kernels.band_for(costs.gaps, apart, costs.cost))
    least, most = 0.9 * needed[len(needed) // 20], 1.6 * needed[-1]
    return [*fixed, *gpu_kernels.bands(least, most, _BANDS, costs.mismatch, costs.gaps)]


def reached(kernel: str, cut: int, pairs: PairBatch, spec: AlignSpec, bands: I32 | None = None) -> F64:
    """Return the cost (f64[n]) that pairs certainly exceed which a GPU kernel answered with SCORE_LIMIT.

    Args:
        kernel: its name.
        cut: what it was limited to; see Route.
        pairs: that it had.
        spec: what was computed.
        bands: i32[n], widths of the pairs' own bands, if they had some.
    """
    costs = CostTraits.of(spec)
    like = gpu_kernels.PairCosts(pairs.q_len, pairs.t_len, np.zeros(len(pairs)), costs.mismatch, costs.gaps)
    row = gpu_kernels.KERNELS[kernel]
    if bands is not None:
        found = tiles.provable_cost(like.mismatch, like.gaps, like.q_len, like.t_len, bands)
        proved: F64 = np.clip(found, 0, dp.NEVER).astype(np.float64)
        return proved
    if row.any_band and cut:
        return np.maximum(gpu_kernels.with_band(cut).reach(like), 0)
    reach = np.clip(row.reach(like), 0, dp.NEVER)
    if kernel.removeprefix(GPU_PREFIX) in wfa.VARIANTS:
        return np.minimum(reach, cut or reach / 2)
    return reach / 2 if row.any_band else reach
