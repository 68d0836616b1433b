"""Estimates of pairs' edit distances, from which dispatch picks kernels."""

from __future__ import annotations

import dataclasses

import numpy as np

from . import jobs, tuning
from ._native import estimate_edits
from .batch import I32, PairBatch
from .config import AlignSpec, Limits, Mode
from .dispatch import SAMPLE, best_for_all, speaks_for_all, with_many_estimates
from .forecast import is_edit, plainly_global

_SHORT = 320  # letters: bit-parallel kernels take no longer for these than an estimate
_MEDIUM = 2000  # letters: below, choosing for each pair may cost more than it gains


def with_estimates(pairs: PairBatch, spec: AlignSpec, gpu: bool = False) -> PairBatch:
    """The batch with est_edits filled in, from samples of each pair (native/estimate.hpp); -1 stays for unknown.

    Where estimates would cost more than they gain, few or none are made: for spans that only one kernel serves, for
    short reads of edit distance, and for reads of which some speak for all.
    """
    if spec.mode is not Mode.GLOBAL or not len(pairs):
        return pairs
    if gpu and plainly_global(spec):
        return _beside_a_card(pairs, spec)
    longest = int(max(pairs.q_len.max(), pairs.t_len.max()))
    if longest <= _SHORT and is_edit(spec) and not gpu:
        return pairs
    if longest <= _MEDIUM and len(pairs) > 4 * SAMPLE:
        some, rows = _some(pairs, SAMPLE)
        some = _estimated(some, tuning.ESTIMATE)
        if best_for_all(some, spec, Limits()):
            return _only(pairs, some, rows)
    return _estimated(pairs, tuning.ESTIMATE)


def _beside_a_card(pairs: PairBatch, spec: AlignSpec) -> PairBatch:
    """Some pairs' estimates where they speak for all, else all pairs'; kernels are cut to them."""
    short = int(max(pairs.q_len.max(), pairs.t_len.max())) <= _MEDIUM
    if len(pairs) > 4 * jobs.SAMPLE:
        some, rows = _some(pairs, jobs.SAMPLE)
        some = with_many_estimates(some) if short else _estimated(some, tuning.ESTIMATE_BESIDE_A_CARD)
        if short or speaks_for_all(some, len(pairs), spec):
            return _only(pairs, some, rows)
    return _estimated(pairs, tuning.ESTIMATE_BESIDE_A_CARD)


def _some(pairs: PairBatch, count: int) -> tuple[PairBatch, I32]:
    """About so many pairs from all over a batch, and their rows (i32[m])."""
    rows: I32 = np.arange(0, len(pairs), len(pairs) // count, dtype=np.int32)
    return pairs.part(rows), rows


def _only(pairs: PairBatch, some: PairBatch, rows: I32) -> PairBatch:
    """The batch with some rows' estimates."""
    known: I32 = np.full(len(pairs), -1, np.int32)
    known[rows] = some.est_edits
    return dataclasses.replace(pairs, est_edits=known)


def _estimated(pairs: PairBatch, most: int) -> PairBatch:
    return dataclasses.replace(pairs, est_edits=estimate_edits(pairs, most))
