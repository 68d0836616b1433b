"""What the kernels of a GPU, and those of the CPU beside it, promise for pairs. Pure functions of columns."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, PairBatch, every_row
from ..gpu.kernels import dp, tiles, wfa
from . import rungs
from .forecast import F64, Forecast, Units, is_edit

_STEPS, _QUANTILES = 4, (0.1, 0.5, 0.9)  # by which samples are alike
_MANY = 16  # pairs whose estimates tell how much pairs differ
# Of all pairs like this that a kernel fails: it is not tried. Pairs that one has failed are few, and the CPU would be
# long at them while the GPU has nothing else to do: there times decide, unless it is all but hopeless.
_GIVEN_UP, _GIVEN_UP_AGAIN = 0.5, 0.8
_BANDS = 12  # that are compared
_TAILS = (1.0, 1.75, 2.5, 3.5, 5.0, 7.0)  # spreads above what is expected, for which pairs' own bands are compared
ALIKE = 1.1  # times the work of another pair: nothing is gained by an order
_SURE = 0.05  # a kernel that fails no more is counted on
_TAIL = 3.0  # spreads above what is expected, up to which a wavefront looks
_LOGISTIC = 1.7  # of a logistic distribution that looks like a normal one


class Sample:
    """Pairs that speak for so many, equal to others where what a kernel is chosen by is about the same.

    So most batches of a run find out nothing anew. They keep no letters, as they stay in memory.
    """

    def __init__(self, pairs: PairBatch, count: int, failed: F64 | None = None) -> None:
        """`failed`: costs (f64[m]) that they are known to exceed."""
        self.pairs, self.count, self.failed = pairs.shapes(every_row(len(pairs))), count, failed
        longest, shortest = np.maximum(pairs.q_len, pairs.t_len), np.minimum(pairs.q_len, pairs.t_len)
        ordered = np.sort([longest, longest - shortest, pairs.est_edits + 1], axis=1)
        places = [int(share * (len(pairs) - 1)) for share in _QUANTILES]
        found = [_in_steps(np.array([len(pairs) / 4, count]), _STEPS), _in_steps(ordered[:, places], _STEPS)]
        found.append(_in_steps(ordered[:, -1], 2))
        if failed is not None:
            found.append(_in_steps(np.quantile(failed, (0, *_QUANTILES, 1)), _STEPS))
        self._key = (int(np.bitwise_or.reduce(pairs.flags, initial=0)), *(steps.tobytes() for steps in found))

    @property
    def weight(self) -> float:
        """How many pairs each of them speaks for."""
        return self.count / len(self.pairs)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and self._key == other._key


def _in_steps(values: npt.NDArray[Any], steps: int) -> I32:
    """In so many steps up to twice as much."""
    rounded: I32 = np.rint(steps * np.log2(values + 1.0)).astype(np.int32)
    return rounded


class Offers:
    """What kernels promise for each of some pairs, in microseconds of the whole machine.

    Attributes:
        tries: f64[kernels, n], until a kernel has an answer, be it that it has none.
        fails: f64[kernels, n], how likely that is.
        alone: f64[kernels, n], a pair's time in a GPU that has nothing else to do.
        given_up: of all pairs like one that a kernel fails, so that it is not tried.
        cpu_names: the CPU's kernels; cpu_times: f64[them, n].
        cpu, cpu_kernel: f64[n] and str[n], the least of them, and whose it is.
    """

    def __init__(
        self,
        pairs: PairBatch,
        spec: AlignSpec,
        limits: Limits,
        cpu: Sequence[str],
        kernels: Sequence[rungs.Rung] | None = None,
        failed: F64 | None = None,
        own: bool = False,
    ) -> None:
        """Of these kernels, or of all that there are for such costs.

        Args:
            pairs: with estimates.
            spec: what to compute.
            limits: bounds on memory.
            cpu: names of the CPU's kernels.
            kernels: of the GPU.
            failed: costs (f64[n]) that pairs are known to exceed.
            own: whether pairs may have bands of their own: all of a job have estimates.
        """
        forecast = Forecast(pairs, spec, limits, gpu=True)
        self.like, self.spread = _expected(forecast, again=failed is not None)
        if failed is not None:
            self.like = dataclasses.replace(self.like, cost=np.maximum(self.like.cost, failed))
        self.kernels = tuple(_kernels(self.like, spec, own) if kernels is None else kernels)
        other = forecast.other_letters
        shape = (len(self.kernels), len(pairs))
        self.tries = np.array([_with_letters(rung, rung.tried(self.like), other) for rung in self.kernels]).reshape(
            shape
        )
        reach = np.array([rung.reach(self.like) for rung in self.kernels]).reshape(shape)
        self.fails = self._failing(reach, failed)
        self.given_up = _GIVEN_UP if failed is None else _GIVEN_UP_AGAIN
        self.alone = np.array([rung.alone(self.like) for rung in self.kernels]).reshape(shape)
        times = np.array([forecast.microseconds(name) for name in cpu])
        best = times.argmin(axis=0)
        self.cpu_names = cpu
        self.cpu, self.cpu_kernel, self.cpu_times = times.min(axis=0), np.array(cpu)[best], times

    @functools.cached_property
    def expected(self) -> F64:
        """Microseconds (f64[kernels, n]) with those of another try."""
        again = tuning.GPU_RETRIED + np.minimum(self.cpu, 2 * self._sure.min(axis=0))
        expected: F64 = self.tries + self.fails * again
        return expected

    @functools.cached_property
    def useful(self) -> list[int]:
        """Kernels that some pairs may be tried in."""
        tried = (self.fails <= self.given_up) & np.isfinite(self.tries)
        return np.flatnonzero(tried.any(axis=1)).tolist()

    @functools.cached_property
    def _sure(self) -> F64:
        return np.where(self.fails < _SURE, self.tries, np.inf)

    @functools.cached_property
    def _slowest_again(self) -> tuple[float, float]:
        """Microseconds of a job of what failed, and of the slowest pair where the CPU has them."""
        by = self._sure.argmin(axis=0)
        alone = np.where(
            np.isfinite(self._sure.min(axis=0)), np.take_along_axis(self.alone, by[None], axis=0)[0], np.inf
        )
        return tuning.GPU_JOB + float(alone.max()), tuning.THREADS_BESIDE_A_GPU * float(self.cpu.max())

    def retry(self, failing: float) -> float:
        """Microseconds of another job for so many pairs beside the work itself, or of having the CPU align them."""
        job, slowest = self._slowest_again
        return likely_some(failing) * min(job, slowest + failing * float(self.cpu.mean()))

    def cut(self, kernel: int, rows: npt.NDArray[np.intp]) -> int:
        """What a kernel is cut to for some of the pairs."""
        rung = self.kernels[kernel]
        if rung.band or rung.name.removeprefix(rungs.PREFIX) not in wfa.VARIANTS:
            return rung.band
        return 1 + int((self.like.cost[rows] * np.exp(_TAIL * self.spread[rows])).max())

    def bands(self, kernel: int, rows: npt.NDArray[np.intp]) -> I32 | None:
        """The diagonals (i32[m]) of each pair's own band, if the kernel has some for them."""
        own = self.kernels[kernel].own
        return None if own is None else own(self.like)[rows].astype(np.int32)

    def slowest_first(self, kernel: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Rows in the order in which a kernel had best have them.

        What takes longest begins first, so that no long pair is left in the end; and pairs that share lanes are alike.
        """
        work = self.tries[kernel][rows]
        return rows if work.max() <= ALIKE * work.min() else rows[np.argsort(-work, kind="stable")]

    def _failing(self, reach: F64, failed: F64 | None) -> F64:
        """How likely costs are higher than a reach (f64[kernels, n])."""
        power = _LOGISTIC / self.spread
        over = 1 / (1 + (np.maximum(reach, 0) / np.maximum(self.like.cost, 1)) ** power)
        if failed is not None:
            known = 1 / (1 + (failed / np.maximum(self.like.cost, 1)) ** power)
            over = np.where(reach > failed, np.minimum(over / known, 1), 1)
        # What costs more than the user's bound needs no alignment, if a kernel can tell.
        like = self.like
        tell = [rungs.decides(rung.name, like.mismatch, like.gaps, like.max_cost) for rung in self.kernels]
        return np.where(np.array(tell, bool)[:, None], 0, over)


def likely_some(expected: float) -> float:
    """How likely there are any of what there are so many of on average."""
    return float(1 - np.exp(-expected))


def _with_letters(rung: rungs.Rung, time: F64, other: npt.NDArray[np.bool_]) -> F64:
    return np.where(other, time * tuning.GPU_CODED if rung.coded else np.inf, time)


def _expected(forecast: Forecast, again: bool) -> tuple[rungs.Pairs, F64]:
    """Pairs with the costs that they are likely to have, and how far these may be from the truth (f64[n])."""
    pairs = forecast.for_gpu
    spread = np.full(len(pairs.cost), tuning.SPREAD_AGAIN if again else tuning.SPREAD)
    pairs = dataclasses.replace(pairs, cost=_like_each_other(pairs.cost, pairs.longest), spread=spread)
    edit = forecast.edit_cost
    # Of a long pair with few errors few letters have been seen, and hardly an edit.
    clean = (pairs.longest > 2 * tuning.LOOKED_AT) & (pairs.cost < 0.01 * edit * pairs.longest)
    if not clean.any():
        return pairs, spread
    unseen = 0.5 * edit * pairs.longest / tuning.LOOKED_AT
    cost = np.where(clean, pairs.cost + unseen, pairs.cost)
    spread = np.where(clean, spread + unseen / np.maximum(cost, 1e-9), spread)
    return dataclasses.replace(pairs, cost=cost, spread=spread), spread


def _like_each_other(cost: F64, longest: F64) -> F64:
    """Costs without what may be chance: where estimates differ no more than that, pairs are alike."""
    some = (longest > 2 * tuning.LOOKED_AT) & (cost > 0)
    if some.sum() < _MANY:
        return cost
    rate = np.log(cost[some] / longest[some])
    mean, varies = rate.mean(), rate.var()
    real = max(1 - tuning.SPREAD_BY_CHANCE**2 / max(varies, 1e-12), 0.0)
    found = cost.copy()
    found[some] = longest[some] * np.exp(mean + np.sqrt(real) * (rate - mean))
    return found


def _kernels(like: rungs.Pairs, spec: AlignSpec, own: bool) -> list[rungs.Rung]:
    """All that there are for some costs; of the one with any band, those bands that the pairs may need."""
    families = rungs.families(is_edit(spec), like.mismatch, like.gaps, not spec.score_only)
    fixed = [rung for family in families for rung in family if not rung.any_band]
    if not any(rung.any_band for family in families for rung in family):
        return fixed
    if own:
        return [*fixed, *(rungs.own_bands(tail) for tail in _TAILS)]
    apart = np.abs(like.q_len - like.t_len)
    needed = np.sort(rungs.band_for(like.gaps, apart, like.cost))
    least, most = 0.9 * needed[len(needed) // 20], 1.6 * needed[-1]
    return [*fixed, *rungs.bands(least, most, _BANDS, like.mismatch, like.gaps)]


def reached(kernel: str, cut: int, pairs: PairBatch, spec: AlignSpec, bands: I32 | None = None) -> F64:
    """The cost (f64[n]) that pairs surely have of which a kernel said that it does not reach them.

    Args:
        kernel: of the GPU.
        cut: what it was cut to.
        pairs: that it had.
        spec: what was computed.
        bands: i32[n], diagonals of the pairs' own bands, if they had some.
    """
    costs = Units.of(spec)
    like = rungs.Pairs(pairs.q_len, pairs.t_len, np.zeros(len(pairs)), costs.mismatch, costs.gaps)
    rung = rungs.RUNGS[kernel]
    if bands is not None:
        found = tiles.provable_cost(like.mismatch, like.gaps, like.q_len, like.t_len, bands)
        proved: F64 = np.clip(found, 0, dp.NEVER).astype(np.float64)
        return proved
    if rung.any_band and cut:
        return np.maximum(rungs.with_band(cut).reach(like), 0)
    reach = np.clip(rung.reach(like), 0, dp.NEVER)
    if kernel.removeprefix(rungs.PREFIX) in wfa.VARIANTS:
        return np.minimum(reach, cut or reach / 2)
    return reach / 2 if rung.any_band else reach
