"""Assigns pairs to few kernels of a GPU, and some to the CPU beside it. Pure functions of a cost table.

A launch lasts at least as long as its slowest pair takes alone, and a GPU with few pairs is mostly idle. So pairs
share a kernel wherever that is cheaper in total, even one that may fail some of them: these cost another launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import all_rows
from ..core.route import Route
from . import gpu_kernels
from .cost_table import CostTable, Sample, probability_of_any
from .forecast import F64

_MAX_KERNELS = 3  # kernels that a batch is split over
_MAX_CPU_SHARE = 0.6  # of pairs for the CPU, where a GPU full of them would be no slower
_PATIENCE = (0.7, 0.5, 0.35, 0.25, 0.18)  # limits on latency that are tried, as shares of the slowest pair's

Compared = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class KernelMix:
    """GPU kernels that share pairs, and the CPU's part.

    Attributes:
        kernels: indices into the table's kernels.
        cpu: True if the CPU takes the pairs that are faster there.
        patience: microseconds; pairs with a higher latency go to the CPU.
        every: True if the first kernel takes all pairs, whatever they are.
    """

    kernels: tuple[int, ...]
    cpu: bool = False
    patience: float = np.inf
    every: bool = False

    def extensions(self, table: CostTable) -> Iterator[KernelMix]:
        """Yield this mix with one more kernel, or with a part for the CPU."""
        for k in table.useful:
            if k not in self.kernels:
                yield KernelMix((*self.kernels, k), self.cpu, self.patience)
        if self.cpu or not self.kernels:
            return
        yield KernelMix(self.kernels, cpu=True)
        slowest = float(table.latency_us[list(self.kernels)].max())
        for share in _PATIENCE:
            yield KernelMix(self.kernels, cpu=True, patience=share * slowest)

    def placed(self, table: CostTable) -> tuple[npt.NDArray[np.intp], F64]:
        """Return each pair's kernel (i64[n]; -1: the CPU), and its expected microseconds."""
        to = np.full(len(table.cpu_us), -1)
        if not self.kernels:
            return to, table.cpu_us
        if self.every:
            return to + 1 + self.kernels[0], table.expected_us[self.kernels[0]]
        some = list(self.kernels)
        times = table.expected_us[some]
        if self.patience < np.inf:
            times = np.where(table.latency_us[some] > self.patience, np.inf, times)
        by, every = times.argmin(axis=0), np.arange(len(to))
        least = times[by, every]
        mine = np.isfinite(least)
        # A kernel that is likely to fail a pair is no choice for it, however early it would fail.
        mine &= (table.p_fail[some][by, every] <= table.max_p_fail) & ((table.cpu_us >= least) | (not self.cpu))
        to[mine] = np.array(some)[by[mine]]
        return to, np.where(mine, least, table.cpu_us)


CPU_ONLY = KernelMix(())


def assign_all(table: CostTable, weight: float, few_on_cpu: bool) -> Route:
    """Return the route without rows for all pairs that a sample represents. Arguments as for choose_mix."""
    mix = _best(table, weight, every=True)
    if few_on_cpu:
        beaten = _total_us(table, CPU_ONLY, weight) <= _total_us(table, mix, weight)
    else:
        beaten = not mix.kernels or bool(table.cpu_us.sum() < table.expected_us[mix.kernels[0]].sum())
    if beaten:
        return Route(all_rows(0), table.cpu_names[int(table.cpu_times_us.sum(axis=1).argmin())])
    first = mix.kernels[0]
    name, cut = table.kernels[first].name, table.cut(first, np.arange(len(table.cpu_us)))
    return Route(all_rows(0), name, cut, compared=_seen_from(name, compare(table, mix, weight)))


def one_suffices(table: CostTable, sample: Sample, spec: AlignSpec, limits: Limits) -> bool:
    """Return True if one kernel is best for all pairs of a batch, so that only the sample needs estimates.

    Args:
        table: of the sample.
        sample: of the batch.
        spec: what to compute.
        limits: bounds on memory.
    """
    mix = choose_mix(table, sample.weight, few_on_cpu=False)
    if len(mix.kernels) != 1 or mix.cpu:
        return False
    if not table.kernels[mix.kernels[0]].any_band:
        return True
    # A band for all is as wide as the widest one needed, and pairs outside the sample may need a wider one.
    own = CostTable(sample.pairs, spec, limits, table.cpu_names, own=True, cpu_share=table.cpu_share)
    best_us = _total_us(own, _best(own, sample.weight), sample.weight)
    return _total_us(table, mix, sample.weight) < best_us + tuning.ROUTING_PER_PAIR * sample.count


def compare(table: CostTable, mix: KernelMix, weight: float) -> Compared:
    """Return microseconds per pair of the mix, without a name, and of all pairs in each other GPU kernel alone."""
    if not mix.kernels:
        return ()
    totals, chosen = {"": _total_us(table, mix, weight)}, {table.kernels[k].name for k in mix.kernels}
    for k in table.useful:
        if (name := table.kernels[k].name) not in chosen:
            total = _total_us(table, KernelMix((k,), every=mix.every), weight)
            totals[name] = min(totals.get(name, total), total)  # of several band widths, which share a name
    return tuple((name, total / (weight * len(table.cpu_us))) for name, total in totals.items())


def _seen_from(name: str, compared: Compared) -> Compared:
    """Return what a mix was compared with, for the kernel of that name."""
    return tuple((other or name, mean) for other, mean in compared if other != name)


def assign(table: CostTable, mix: KernelMix, compared: Compared) -> list[Route]:
    """Return the routes of the table's pairs to each kernel of a mix, and to the CPU's kernels."""
    to, found = mix.placed(table)[0], []
    for k in (np.flatnonzero(np.bincount(to + 1)) - 1).tolist():  # np.unique would import numpy.ma
        rows = np.flatnonzero(to == k)
        if k >= 0:
            rows = table.slowest_first(k, rows)
            bands = table.bands(k, rows)
            name = table.kernels[k].name if bands is None else gpu_kernels.with_band(int(bands.max())).name
            cut = table.cut(k, rows)
            found.append(Route(rows.astype(np.int32), name, cut, bands=bands, compared=_seen_from(name, compared)))
            continue
        names = table.cpu_kernel[rows]
        found += [Route(rows[names == name].astype(np.int32), name) for name in sorted(set(names.tolist()))]
    return found


def _best(table: CostTable, weight: float, every: bool = False) -> KernelMix:
    """Return the best single kernel for all pairs, or for all that it is likely to align."""
    mixes = (KernelMix((k,), every=every) for k in table.useful)
    return min(mixes, key=lambda mix: _total_us(table, mix, weight), default=CPU_ONLY)


def choose_mix(table: CostTable, weight: float, few_on_cpu: bool) -> KernelMix:
    """Return the mix of up to _MAX_KERNELS kernels that takes the least time in total, searched greedily.

    Args:
        table: of the pairs, or of a sample of them.
        weight: pairs per pair of the table.
        few_on_cpu: True if the CPU may take all pairs where the GPU, however idle, would take longer.
    """
    mix = _best(table, weight)
    # By the times of a full GPU and for most pairs: users with a GPU and few pairs want most of them there.
    tried = np.where(table.p_fail <= table.max_p_fail, table.expected_us, np.inf).min(axis=0)
    slower = (tried > table.cpu_us)[np.isfinite(tried)]
    if not mix.kernels or not len(slower) or slower.mean() > 0.5:
        return CPU_ONLY
    most = len(table.cpu_us) * (1 if few_on_cpu else _MAX_CPU_SHARE)
    total = _total_us(table, mix, weight)
    while len(mix.kernels) < _MAX_KERNELS:
        others = [o for o in mix.extensions(table) if not o.cpu or (o.placed(table)[0] < 0).sum() <= most]
        totals = [_total_us(table, other, weight) for other in others]
        if not totals or min(totals) >= total:
            break
        least = int(np.argmin(totals))
        total, mix = _without_useless(table, others[least], totals[least], weight)
    if few_on_cpu and _total_us(table, CPU_ONLY, weight) < total:
        return CPU_ONLY
    return mix


def _without_useless(table: CostTable, mix: KernelMix, total: float, weight: float) -> tuple[float, KernelMix]:
    """Return the mix, and its time, without a kernel that a later one has made useless."""
    for k in mix.kernels[:-1]:
        rest = KernelMix(tuple(other for other in mix.kernels if other != k), mix.cpu, mix.patience)
        if rest.cpu and (rest.placed(table)[0] < 0).sum() > (mix.placed(table)[0] < 0).sum():
            continue
        if (without := _total_us(table, rest, weight)) <= total:
            return without, rest
    return total, mix


def _total_us(table: CostTable, mix: KernelMix, weight: float) -> float:
    """Return microseconds of all pairs, with the latency that is not hidden."""
    to, times = mix.placed(table)
    failing, slowest = 0.0, [0.0]
    for k in mix.kernels:
        own = to == k
        if own.any():
            slowest.append(tuning.GPU_LAUNCH_OVERHEAD + float(table.latency_us[k][own].max()))
            failing += weight * float(table.p_fail[k][own].sum())
    cpu = to < 0
    # The slowest pairs begin first, so most of the others are aligned beside them.
    on_gpu = _side_by_side([weight * float(times[~cpu].sum()), _side_by_side(slowest)])
    slowest_on_cpu = tuning.THREADS_WITH_GPU * tuning.SHARED_CORES * float(table.cpu_us[cpu].max(initial=0))
    beside = weight * float(times[cpu].sum()) + slowest_on_cpu
    split = tuning.GPU_LAUNCH_OVERHEAD if mix.kernels and cpu.any() else 0.0  # on the host
    parts = len(slowest) - 1 + bool(cpu.any())
    gathering = weight * len(to) * tuning.GPU_GATHER * (1.0 if parts > 1 else probability_of_any(failing))
    return _side_by_side([on_gpu, beside]) + split + gathering + table.retry_us(failing)


def _side_by_side(times: Sequence[float]) -> float:
    longest = max(times)
    return longest + tuning.GPU_OVERLAP_SHARE * (sum(times) - longest)
