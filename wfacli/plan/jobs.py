"""Which kernels of a GPU some pairs go to, in few jobs. Pure functions of columns.

A job lasts at least as long as its slowest pair takes alone, and a GPU that has few pairs is mostly idle. So pairs
share a kernel wherever that is cheaper in all, also one that is not sure to reach every pair: what it fails costs
another job.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, PairBatch
from . import rungs
from .forecast import F64
from .offers import Offers, Sample, likely_some

SAMPLE = 256  # pairs that speak for a batch where each has an estimate
_KEPT = 256  # samples whose choice is remembered
_MOST = 3  # jobs that a batch is cut into
_BESIDE = 0.6  # of the pairs that the CPU may take off a GPU that would be no slower if it were full
_PATIENCE = (0.7, 0.5, 0.35, 0.25, 0.18)  # of the slowest pair's time


@dataclass(frozen=True)
class Job:
    """Rows (i32[m]) that a kernel gets together, and what it is cut to; see dispatch.Route.

    Attributes:
        compared: kernels of the GPU, and microseconds a pair of the sample with all pairs in that kernel alone; the
            job's own has those of the choice that it belongs to.
    """

    rows: I32
    kernel: str
    cut: int = 0
    bands: I32 | None = None
    compared: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class _Choice:
    """Kernels that share some pairs.

    Attributes:
        kernels: of the offers.
        cpu: whether it takes what is faster there.
        patience: microseconds; pairs that would keep the GPU waiting for longer are the CPU's.
        every: whether the first kernel gets all pairs, whatever they are.
    """

    kernels: tuple[int, ...]
    cpu: bool = False
    patience: float = np.inf
    every: bool = False

    def others(self, offers: Offers) -> Iterator[_Choice]:
        """This choice with one thing more."""
        for k in offers.useful:
            if k not in self.kernels:
                yield _Choice((*self.kernels, k), self.cpu, self.patience)
        if self.cpu or not self.kernels:
            return
        yield _Choice(self.kernels, cpu=True)
        slowest = float(offers.alone[list(self.kernels)].max())
        for share in _PATIENCE:
            yield _Choice(self.kernels, cpu=True, patience=share * slowest)

    def placed(self, offers: Offers) -> tuple[npt.NDArray[np.intp], F64]:
        """Each pair's kernel (i64[n]; -1: the CPU's), and its microseconds."""
        to = np.full(len(offers.cpu), -1)
        if not self.kernels:
            return to, offers.cpu
        if self.every:
            return to + 1 + self.kernels[0], offers.expected[self.kernels[0]]
        some = list(self.kernels)
        times = offers.expected[some]
        if self.patience < np.inf:
            times = np.where(offers.alone[some] > self.patience, np.inf, times)
        by, every = times.argmin(axis=0), np.arange(len(to))
        least = times[by, every]
        mine = np.isfinite(least)
        # What another job would have to do again is no kernel's choice, however soon it would know.
        mine &= (offers.fails[some][by, every] <= offers.given_up) & ((offers.cpu >= least) | (not self.cpu))
        to[mine] = np.array(some)[by[mine]]
        return to, np.where(mine, least, offers.cpu)


def one_for_all(
    sample: PairBatch,
    count: int,
    spec: AlignSpec,
    limits: Limits,
    cpu: tuple[str, ...],
    few_on_cpu: bool,
    failed: F64 | None = None,
) -> Job:
    """The job of so many pairs of which some speak for all; its rows are left out. Arguments as for jobs_of."""
    return _one_for_all(Sample(sample, count, failed), spec, limits, cpu, few_on_cpu)


@functools.lru_cache(maxsize=_KEPT)
def _one_for_all(sample: Sample, spec: AlignSpec, limits: Limits, cpu: tuple[str, ...], few_on_cpu: bool) -> Job:
    offers, weight = _offers(sample, spec, limits, cpu), sample.weight
    choice = _best(offers, weight, every=True)
    if few_on_cpu:
        beaten = _total(offers, _Choice(()), weight) <= _total(offers, choice, weight)
    else:
        beaten = not choice.kernels or bool(offers.cpu.sum() < offers.expected[choice.kernels[0]].sum())
    return _without_rows(offers, _Choice(()) if beaten else choice, weight)


def one_serves(sample: PairBatch, count: int, spec: AlignSpec, limits: Limits, cpu: tuple[str, ...]) -> bool:
    """Whether some pairs say that one kernel had best have all of so many: then no other pair needs an estimate."""
    return _one_serves(Sample(sample, count), spec, limits, cpu)


@functools.lru_cache(maxsize=_KEPT)
def _one_serves(sample: Sample, spec: AlignSpec, limits: Limits, cpu: tuple[str, ...]) -> bool:
    offers, weight = _offers(sample, spec, limits, cpu), sample.weight
    several = _few(offers, weight, few_on_cpu=False)
    if len(several.kernels) != 1 or several.cpu:
        return False
    if not offers.kernels[several.kernels[0]].any_band:
        return True
    # A band for all is as wide as the widest one needed, and some pairs that are not looked at may need a wider one.
    own = Offers(sample.pairs, spec, limits, cpu, own=True)
    return _total(offers, several, weight) < _total(own, _best(own, weight), weight) + tuning.CHOOSING * sample.count


@functools.lru_cache(maxsize=_KEPT)  # a batch asks twice: for its estimates, and for its routes
def _offers(sample: Sample, spec: AlignSpec, limits: Limits, cpu: tuple[str, ...]) -> Offers:
    return Offers(sample.pairs, spec, limits, cpu, failed=sample.failed)


def _without_rows(offers: Offers, choice: _Choice, weight: float) -> Job:
    none: I32 = np.zeros(0, np.int32)
    if not choice.kernels:
        return Job(none, offers.cpu_names[int(offers.cpu_times.sum(axis=1).argmin())])
    name, cut = offers.kernels[choice.kernels[0]].name, offers.cut(choice.kernels[0], np.arange(len(offers.cpu)))
    return Job(none, name, cut, compared=_for_job(name, _compared(offers, choice, weight)))


def jobs_of(
    pairs: PairBatch,
    spec: AlignSpec,
    limits: Limits,
    cpu: tuple[str, ...],
    few_on_cpu: bool,
    failed: F64 | None = None,
) -> list[Job]:
    """All rows of some pairs with estimates in few jobs, or in the CPU's kernels.

    Args:
        pairs: with estimates.
        spec: what to compute.
        limits: bounds on memory.
        cpu: names of the CPU's kernels.
        failed: costs (f64[n]) that pairs are known to exceed.
        few_on_cpu: whether the CPU may have all of them where a GPU would take longer, however idle it is then.
    """
    some = np.arange(0, len(pairs), -(-len(pairs) // SAMPLE))
    sample = pairs if len(some) == len(pairs) else pairs.part(some)
    alike = Sample(sample, len(pairs), None if failed is None else failed[some])
    kernels, choice, compared = _several(alike, spec, limits, cpu, few_on_cpu)
    return _assigned(Offers(pairs, spec, limits, cpu, kernels, failed), choice, compared)


@functools.lru_cache(maxsize=_KEPT)
def _several(
    sample: Sample, spec: AlignSpec, limits: Limits, cpu: tuple[str, ...], few_on_cpu: bool
) -> tuple[tuple[rungs.Rung, ...], _Choice, tuple[tuple[str, float], ...]]:
    """Kernels, the choice among them alone, and what it was compared with; see Job."""
    offers = Offers(sample.pairs, spec, limits, cpu, failed=sample.failed, own=True)
    choice = _few(offers, sample.weight, few_on_cpu)
    kernels = tuple(offers.kernels[k] for k in choice.kernels)
    compared = _compared(offers, choice, sample.weight)
    return kernels, dataclasses.replace(choice, kernels=tuple(range(len(kernels)))), compared


def _compared(offers: Offers, choice: _Choice, weight: float) -> tuple[tuple[str, float], ...]:
    """Return microseconds a pair of the choice, without a name, and of each other kernel of the GPU; see Job."""
    if not choice.kernels:
        return ()
    totals, chosen = {"": _total(offers, choice, weight)}, {offers.kernels[k].name for k in choice.kernels}
    for k in offers.useful:
        if (name := offers.kernels[k].name) not in chosen:
            total = _total(offers, _Choice((k,), every=choice.every), weight)
            totals[name] = min(totals.get(name, total), total)  # of several bands, which have one name
    return tuple((name, total / (weight * len(offers.cpu))) for name, total in totals.items())


def _for_job(name: str, compared: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    """Return what a choice was compared with, for the job of a kernel of that name."""
    return tuple((other or name, mean) for other, mean in compared if other != name)


def _assigned(offers: Offers, choice: _Choice, compared: tuple[tuple[str, float], ...]) -> list[Job]:
    to, names, jobs = choice.placed(offers)[0], offers.cpu_kernel, []
    for k in np.unique(to).tolist():
        rows = np.flatnonzero(to == k)
        if k >= 0:
            rows = offers.slowest_first(k, rows)
            bands = offers.bands(k, rows)
            name = offers.kernels[k].name if bands is None else rungs.with_band(int(bands.max())).name
            cut = offers.cut(k, rows)
            jobs.append(Job(rows.astype(np.int32), name, cut, bands, _for_job(name, compared)))
            continue
        for name in np.unique(names[rows]).tolist():
            jobs.append(Job(rows[names[rows] == name].astype(np.int32), name))
    return jobs


def _best(offers: Offers, weight: float, every: bool = False) -> _Choice:
    """The kernel that had best have all pairs, or all that it is likely to align."""
    choices = (_Choice((k,), every=every) for k in offers.useful)
    return min(choices, key=lambda choice: _total(offers, choice, weight), default=_Choice(()))


def _few(offers: Offers, weight: float, few_on_cpu: bool) -> _Choice:
    """Up to _MOST kernels that together take the least."""
    choice = _best(offers, weight)
    # As times of a full GPU say, for most of what it can do: who has a GPU and few pairs wants most of them there.
    tried = np.where(offers.fails <= offers.given_up, offers.expected, np.inf).min(axis=0)
    slower = (tried > offers.cpu)[np.isfinite(tried)]
    if not choice.kernels or not len(slower) or slower.mean() > 0.5:
        return _Choice(())
    most = len(offers.cpu) * (1 if few_on_cpu else _BESIDE)
    total = _total(offers, choice, weight)
    while len(choice.kernels) < _MOST:
        others = [o for o in choice.others(offers) if not o.cpu or (o.placed(offers)[0] < 0).sum() <= most]
        totals = [_total(offers, other, weight) for other in others]
        if not totals or min(totals) >= total:
            break
        least = int(np.argmin(totals))
        total, choice = _without_one(offers, others[least], totals[least], weight)
    if few_on_cpu and _total(offers, _Choice(()), weight) < total:
        return _Choice(())
    return choice


def _without_one(offers: Offers, choice: _Choice, total: float, weight: float) -> tuple[float, _Choice]:
    """The choice but for a kernel that a later one has made useless, if there is one."""
    for k in choice.kernels[:-1]:
        rest = _Choice(tuple(other for other in choice.kernels if other != k), choice.cpu, choice.patience)
        if rest.cpu and (rest.placed(offers)[0] < 0).sum() > (choice.placed(offers)[0] < 0).sum():
            continue
        if (without := _total(offers, rest, weight)) <= total:
            return without, rest
    return total, choice


def _total(offers: Offers, choice: _Choice, weight: float) -> float:
    """Microseconds of all pairs, and of those that the others have to wait for."""
    to, times = choice.placed(offers)
    failing, slowest = 0.0, [0.0]
    for k in choice.kernels:
        own = to == k
        if own.any():
            slowest.append(tuning.GPU_JOB + float(offers.alone[k][own].max()))
            failing += weight * float(offers.fails[k][own].sum())
    cpu = to < 0
    # The longest begin first, so that most of the others are done beside them.
    on_gpu = _side_by_side([weight * float(times[~cpu].sum()), _side_by_side(slowest)])
    slowest_there = tuning.THREADS_BESIDE_A_GPU * tuning.SHARED_CORES * float(offers.cpu[cpu].max(initial=0))
    beside = weight * float(times[cpu].sum()) + slowest_there
    split = tuning.GPU_JOB if choice.kernels and cpu.any() else 0.0  # of the host
    parts = len(slowest) - 1 + bool(cpu.any())
    apart = weight * len(to) * tuning.GPU_APART * (1.0 if parts > 1 else likely_some(failing))
    return _side_by_side([on_gpu, beside]) + split + apart + offers.retry(failing)


def _side_by_side(times: Sequence[float]) -> float:
    longest = max(times)
    return longest + tuning.GPU_BESIDE * (sum(times) - longest)
