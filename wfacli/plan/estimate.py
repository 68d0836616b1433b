"""Estimates of pairs' edit distances, from which dispatch picks kernels."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from .._native import estimate_edits, survey
from ..config import AlignSpec, Limits, Mode
from ..core import tuning
from ..core.batch import I32, Extent, PairBatch, every_row
from ..core.cores import usable_cores
from . import jobs
from .dispatch import ALL_EDITS, MEDIUM, SAMPLE, best_for_all, speaks_for_all
from .forecast import free_in_target, is_edit, plainly_global, surely_inside, weights

_SHORT = 320  # letters: bit-parallel kernels take no longer for these than an estimate
_THREADS, _FEW_THREADS = 8, 4  # of a batch's estimates; where they are short


def with_estimates(pairs: PairBatch, spec: AlignSpec, gpu: bool = False) -> PairBatch:
    """The batch with est_edits filled in, from samples of each pair (native/plan/estimate.hpp); -1 stays for unknown.

    Where estimates would cost more than they gain, few or none are made: for spans that only one kernel serves, for
    short reads of edit distance, and for reads of which some speak for all.
    """
    if len(pairs) and free_in_target(spec):
        return _where_ends_are_free(pairs, spec, _threads() if gpu else 1)
    if spec.mode is not Mode.GLOBAL or not len(pairs):
        return pairs
    if gpu and plainly_global(spec):
        return _beside_a_gpu(pairs, spec)
    in_bits, many = is_edit(spec), len(pairs) > 4 * SAMPLE
    longest = int(max(pairs.q_len.max(), pairs.t_len.max())) if in_bits or many else 0
    short = in_bits and longest <= _SHORT
    if short and not many:
        return pairs
    if many and longest <= MEDIUM:
        rows = _spread(pairs, SAMPLE)
        some = pairs.with_some_edits(rows, estimate_edits(pairs, rows))
        if short or best_for_all(some, rows, spec, Limits()):
            return some
    return pairs.with_edits(estimate_edits(pairs, threads=_threads() if gpu else 1))


def _where_ends_are_free(pairs: PairBatch, spec: AlignSpec, threads: int) -> PairBatch:
    """Pairs whose targets have free ends: in average edits of what the costs ask for; of many short ones some.

    Those that one kernel is best for have none.
    """
    costs, free, sure = weights(spec), (spec.free.target_begin, spec.free.target_end), surely_inside(pairs, spec)
    if len(pairs) > 4 * SAMPLE and int(pairs.q_len.max()) <= MEDIUM:
        rows = _spread(pairs, SAMPLE)
    elif not sure.any():
        return pairs.with_edits(estimate_edits(pairs, costs=costs, threads=threads, free=free))
    else:
        rows = every_row(len(pairs))
    rows = rows[~sure[rows]]
    return pairs.with_some_edits(rows, estimate_edits(pairs, rows, costs=costs, threads=threads, free=free))


def _beside_a_gpu(pairs: PairBatch, spec: AlignSpec) -> PairBatch:
    """Some pairs' estimates where they speak for all, else all pairs'; kernels are cut to them.

    Of metrics other than edit distance they are costs, in average edits. Batches that have been here are returned.
    """
    if pairs.extent is not None:
        return pairs
    usual, costs = tuning.ESTIMATE_BESIDE_A_GPU, weights(spec)
    if len(pairs) > 4 * jobs.SAMPLE:
        every = len(pairs) // jobs.SAMPLE
        *extent, edits = survey(pairs, every, MEDIUM, ALL_EDITS, costs, min(_FEW_THREADS, _threads()))
        pairs, rows = dataclasses.replace(pairs, extent=Extent(*extent)), _spread(pairs, jobs.SAMPLE)
        if edits is not None:
            return dataclasses.replace(pairs, est_edits=edits, known=rows)
        some = pairs.part(rows)
        some = some.with_edits(_estimated(some, usual, costs))
        if speaks_for_all(some, len(pairs), spec):
            return pairs.with_some_edits(rows, some.est_edits)
    return pairs.with_edits(_estimated(pairs, usual, costs))


def _estimated(pairs: PairBatch, most: int, costs: tuple[int, int, int] | None) -> I32:
    """By several threads: while a batch of long pairs waits for its estimates the GPU may have nothing to do."""
    return estimate_edits(pairs, most=most, costs=costs, threads=_threads())


@functools.cache
def _threads() -> int:
    return min(_THREADS, usable_cores())


def _spread(pairs: PairBatch, count: int) -> I32:
    """Rows (i32[m]) of about so many pairs from all over a batch."""
    return np.arange(0, len(pairs), len(pairs) // count, dtype=np.int32)
