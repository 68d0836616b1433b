"""Estimates of pairs' edit distances, by which kernels are chosen: from a look at some of a pair's bases."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from .._native import estimate_edits, survey
from ..config import AlignSpec, Limits, Mode
from ..core import tuning
from ..core.batch import I32, Extent, PairBatch, all_rows
from ..core.cores import usable_cores
from .dispatch import SAMPLE, best_for_all
from .forecast import surely_inside
from .traits import free_in_target, is_edit, weights

GPU_SAMPLE = 256  # pairs that represent a batch beside a GPU
MEDIUM = 2000  # bases up to which all edits of a pair may be looked for, where that pays
_ALL_EDITS, _MANY_EDITS = 10_000, 400  # edits per 10,000 bases that an estimate looks for
_SHORT = 320  # bases for which bit-parallel kernels take no longer than an estimate
_THREADS, _FEW_THREADS = 8, 4  # for a batch's estimates beside a GPU; where they are short


def estimates_on_cpu(pairs: PairBatch, spec: AlignSpec, threads: int = 1) -> PairBatch:
    """Return the batch with est_edits filled in (native/plan/estimate.hpp); -1 stays where a pair is not looked at.

    Few or no estimates are made where they would cost more than they gain: for spans that only one kernel supports,
    for short reads of edit distance, and for reads of which a sample is enough.
    """
    if free_in_target(spec):
        return _where_ends_are_free(pairs, spec, threads)
    if spec.mode is not Mode.GLOBAL:
        return pairs
    many, short = len(pairs) > 4 * SAMPLE, is_edit(spec) and pairs.longest <= _SHORT
    if short and not many:
        return pairs
    if many and pairs.longest <= MEDIUM:
        _, edits, rows = survey(pairs, len(pairs) // SAMPLE, MEDIUM)
        assert edits is not None
        some = pairs.with_edits(edits, rows)
        if short or best_for_all(some, rows, spec, Limits()):
            return some
    return pairs.with_edits(estimate_edits(pairs, threads=threads))


def estimates_beside_gpu(
    pairs: PairBatch, spec: AlignSpec, sample_suffices: Callable[[PairBatch, int], bool]
) -> PairBatch:
    """Return the batch with estimates of all pairs, or of a sample where that suffices; kernels are cut to them.

    For metrics other than edit distance they are costs, in average edits. A batch that has them already is returned.

    Args:
        pairs: the batch.
        spec: what to compute, of all cells of global alignments.
        sample_suffices: asked with a sample, which has estimates, and the number of pairs of the batch.
    """
    if pairs.extent is not None:
        return pairs
    usual, costs = tuning.ESTIMATE_WITH_GPU, weights(spec)
    if len(pairs) > 4 * GPU_SAMPLE:
        every = len(pairs) // GPU_SAMPLE
        threads = min(_FEW_THREADS, threads_beside_gpu())
        extent, edits, estimated = survey(pairs, every, MEDIUM, _ALL_EDITS, costs, threads)
        pairs = dataclasses.replace(pairs, extent=Extent(*extent))
        if edits is not None:
            return pairs.with_edits(edits, estimated)
        rows = _spread(pairs, GPU_SAMPLE)
        some = pairs.subset(rows)
        some = some.with_edits(_estimated(some, usual, costs))
        if sample_suffices(some, len(pairs)):
            return pairs.with_some_edits(rows, some.est_edits)
    return pairs.with_edits(_estimated(pairs, usual, costs))


def with_many_estimates(pairs: PairBatch, spec: AlignSpec) -> PairBatch:
    """Return the batch with estimates, in average edits, that look at much of each pair: for few pairs or a sample."""
    if not len(pairs):
        return pairs
    effort = _ALL_EDITS if pairs.longest <= MEDIUM else _MANY_EDITS
    estimates = estimate_edits(pairs, effort=effort, costs=weights(spec))
    return pairs.with_edits(np.maximum(estimates, pairs.est_edits))


def _where_ends_are_free(pairs: PairBatch, spec: AlignSpec, threads: int) -> PairBatch:
    """Estimate pairs with free ends of the target, in average edits of the costs; of many short ones a sample.

    Pairs for which one kernel is certainly the best get no estimate.
    """
    costs, free, sure = weights(spec), (spec.free.target_begin, spec.free.target_end), surely_inside(pairs, spec)
    if len(pairs) > 4 * SAMPLE and pairs.lengths.longest_query <= MEDIUM:
        rows = _spread(pairs, SAMPLE)
    elif not sure.any():
        return pairs.with_edits(estimate_edits(pairs, costs=costs, threads=threads, free=free))
    else:
        rows = all_rows(len(pairs))
    rows = rows[~sure[rows]]
    return pairs.with_some_edits(rows, estimate_edits(pairs, rows, costs=costs, threads=threads, free=free))


def _estimated(pairs: PairBatch, most: int, costs: tuple[int, int, int] | None) -> I32:
    """Estimate by several threads: the GPU may be idle while a batch of long pairs waits for its estimates."""
    return estimate_edits(pairs, effort=most, costs=costs, threads=threads_beside_gpu())


@functools.cache
def threads_beside_gpu() -> int:
    """Return the number of threads for a batch's estimates beside a GPU."""
    return min(_THREADS, usable_cores())


def _spread(pairs: PairBatch, count: int) -> I32:
    """Return about `count` rows (i32[m]) from all over a batch."""
    return np.arange(0, len(pairs), len(pairs) // count, dtype=np.int32)
