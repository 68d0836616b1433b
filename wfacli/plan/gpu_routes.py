"""Routes beside a GPU, first and after a kernel has failed: few launches that keep it busy, the rest to the CPU."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, Flag, PairBatch, all_rows, is_all_rows
from ..core.route import Route, on_gpu
from . import gpu_kernels
from .assignment import Compared, KernelMix, assign, assign_all, choose_mix, compare, one_suffices
from .cost_table import CostTable, Remembered, Sample, reached
from .dispatch import SAMPLE, expected_us, few_and_short, longest_first
from .estimate import GPU_SAMPLE, with_many_estimates
from .forecast import F64
from .kernels import candidates, dense_kernel
from .traits import CostTraits

_REMEMBERED = 256  # choices for samples that are kept


class GpuRoutes:
    """Chooses kernels beside a GPU for the batches of one run; safe to share between threads.

    Batches that resemble an earlier one (cost_table.Sample) get its choice, which so is made in microseconds.
    """

    def __init__(self, spec: AlignSpec, limits: Limits, cpu_share: float = 1.0) -> None:
        """See Planner."""
        self._spec, self._limits, self._cpu_share = spec, limits, cpu_share
        self._cpu = candidates(spec)
        self._choices = Remembered[Any](_REMEMBERED)

    def one_suffices(self, sample: PairBatch, count: int) -> bool:
        """Return True if one kernel is best for a batch of `count` pairs, so that only the sample needs estimates."""
        alike = Sample(sample, count)
        found: bool = self._choices.of("one suffices", alike, lambda: self._one_suffices(alike))
        return found

    def first(self, pairs: PairBatch) -> list[Route]:
        """Return first routes of a batch; pairs with other bases than A C G T have routes of their own."""
        some = pairs.flags.any() if pairs.extent is None else pairs.extent.non_acgt_pairs
        other = (pairs.flags & Flag.NON_ACGT) != 0 if some else np.zeros(0, bool)
        if not other.any():
            return self.routes(pairs, all_rows(len(pairs)))
        found: list[Route] = []
        for own in (False, True):
            rows = np.flatnonzero(other == own).astype(np.int32)
            if own and few_and_short(pairs, rows):
                found.append(Route(rows, dense_kernel(self._spec), sample=all_rows(0)))
            elif len(rows):
                found += self.routes(pairs, rows, few_on_cpu=own)
        return found

    def wide_enough(self, done: Route, pairs: PairBatch, rows: I32) -> list[Route]:
        """Return routes for rows (i32[m]) that cost more than a GPU kernel reaches: one that reaches nearly all."""
        if few_and_short(pairs, rows):
            return [Route(rows, dense_kernel(self._spec))]
        some = pairs.subset(rows)
        exceeded = reached(done.kernel, done.cut, some, self._spec, _bands_of(done, rows, len(pairs)))
        if len(rows) <= GPU_SAMPLE:
            some = _at_least(with_many_estimates(some, self._spec), exceeded, self._spec)
        else:
            some = some.with_edits(np.full(len(rows), -1, np.int32))
        routes = self.routes(some, all_rows(len(rows)), few_on_cpu=True, exceeded=exceeded)
        return [dataclasses.replace(r, rows=rows[r.rows]) for r in routes]

    def routes(
        self, pairs: PairBatch, rows: I32, few_on_cpu: bool = False, exceeded: F64 | None = None
    ) -> list[Route]:
        """Return routes of some rows.

        Args:
            pairs: the batch.
            rows: i32[m], of which all, few or none have an estimate.
            few_on_cpu: True if the CPU may take pairs that it aligns before a GPU, however idle, does.
            exceeded: costs (f64[n]) that all pairs of the batch are known to exceed.
        """
        if few_on_cpu and (own := self._quick_on_cpu(pairs, rows)):
            return own
        every = is_all_rows(rows, len(pairs))
        estimated = pairs.rows_with_edits if every else rows[pairs.est_edits[rows] >= 0]
        if len(estimated) <= len(rows) / 2:
            return [self._by_sample(pairs, rows, estimated, few_on_cpu, exceeded)]
        some, known = (
            (pairs, exceeded) if every else (pairs.subset(rows), None if exceeded is None else exceeded[rows])
        )
        if known is not None:
            some = _at_least(some, known, self._spec)
        found = self._by_estimates(some, few_on_cpu, known)
        again = exceeded is not None
        return [dataclasses.replace(r, rows=_rows_of(rows, r.rows), again=again) for r in found]

    def _by_sample(self, pairs: PairBatch, rows: I32, estimated: I32, few_on_cpu: bool, exceeded: F64 | None) -> Route:
        """Return one route for all rows, by those that have an estimate or, if none has, by some that get one."""
        chosen = estimated if len(estimated) else rows[:: -(-len(rows) // SAMPLE)]
        sample = pairs.shapes(chosen) if len(estimated) else with_many_estimates(pairs.subset(chosen), self._spec)
        known = None if exceeded is None else exceeded[chosen]
        if known is not None:
            sample = _at_least(sample, known, self._spec)
        alike = Sample(sample, len(rows), known)
        found: Route = self._choices.of(
            ("all", few_on_cpu), alike, lambda: assign_all(self._table(alike), alike.weight, few_on_cpu)
        )
        any_band = on_gpu(found.kernel) and gpu_kernels.KERNELS[found.kernel].any_band
        rows = longest_first(rows, pairs) if any_band else rows
        return dataclasses.replace(found, rows=rows, again=exceeded is not None, sample=all_rows(0))

    def _by_estimates(self, pairs: PairBatch, few_on_cpu: bool, exceeded: F64 | None) -> list[Route]:
        """Return routes of all pairs, which have estimates, to few kernels or to the CPU."""
        some = np.arange(0, len(pairs), -(-len(pairs) // GPU_SAMPLE))
        sample = pairs if len(some) == len(pairs) else pairs.subset(some)
        alike = Sample(sample, len(pairs), None if exceeded is None else exceeded[some])
        kernels, mix, compared = self._choices.of(("mix", few_on_cpu), alike, lambda: self._mix(alike, few_on_cpu))
        table = self._table_of(pairs, exceeded, kernels)
        return assign(table, mix, compared)

    def _mix(self, sample: Sample, few_on_cpu: bool) -> tuple[tuple[gpu_kernels.GpuKernel, ...], KernelMix, Compared]:
        """Return kernels, the mix of these alone, and what it was compared with."""
        table = self._table_of(sample.pairs, sample.exceeded, own=True)
        mix = choose_mix(table, sample.weight, few_on_cpu)
        kernels = tuple(table.kernels[k] for k in mix.kernels)
        compared = compare(table, mix, sample.weight)
        return kernels, dataclasses.replace(mix, kernels=tuple(range(len(kernels)))), compared

    def _one_suffices(self, sample: Sample) -> bool:
        return one_suffices(self._table(sample), sample, self._spec, self._limits)

    def _table(self, sample: Sample) -> CostTable:
        """Return the sample's table, which estimates and routes of a batch both go by."""
        found: CostTable = self._choices.of("table", sample, lambda: self._table_of(sample.pairs, sample.exceeded))
        return found

    def _table_of(
        self,
        pairs: PairBatch,
        exceeded: F64 | None,
        kernels: Sequence[gpu_kernels.GpuKernel] | None = None,
        own: bool = False,
    ) -> CostTable:
        """Return the table of pairs; arguments as for CostTable."""
        return CostTable(pairs, self._spec, self._limits, self._cpu, kernels, exceeded, own, self._cpu_share)

    def _quick_on_cpu(self, pairs: PairBatch, rows: I32) -> list[Route]:
        """Return routes of rows (i32[m]) to CPU kernels where these take less time than any launch; else none."""
        if len(rows) > GPU_SAMPLE:
            return []
        times = expected_us(pairs.subset(rows), self._spec, self._limits)
        best, choice = times.min(axis=0), times.argmin(axis=0)
        if best.sum() / tuning.THREADS_WITH_GPU + best.max() > tuning.GPU_LAUNCH_OVERHEAD:
            return []
        return [Route(rows[choice == k], self._cpu[k]) for k in np.flatnonzero(np.bincount(choice)).tolist()]


def _rows_of(rows: I32, some: I32) -> I32:
    return rows if is_all_rows(some, len(rows)) else rows[some]


def _at_least(pairs: PairBatch, exceeded: F64, spec: AlignSpec) -> PairBatch:
    """Return the batch with estimates no lower than those of pairs with such costs (f64[n])."""
    edits = np.minimum(exceeded / CostTraits.of(spec).edit, np.maximum(pairs.q_len, pairs.t_len)).astype(np.int32)
    return pairs.with_edits(np.maximum(pairs.est_edits, edits))


def _bands_of(done: Route, rows: I32, count: int) -> I32 | None:
    """Return the band widths of some rows of a batch of `count` pairs, if the route had bands."""
    if done.bands is None:
        return None
    bands: I32 = np.zeros(count, np.int32)
    bands[done.rows] = done.bands
    return bands[rows]
