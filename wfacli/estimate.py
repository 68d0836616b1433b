"""Estimates of pairs' edit distances, from which dispatch picks kernels."""

from __future__ import annotations

import numpy as np

from . import jobs, tuning
from ._native import estimate_edits
from .batch import I32, PairBatch
from .config import AlignSpec, Limits, Mode
from .cores import usable_cores
from .dispatch import SAMPLE, best_for_all, speaks_for_all, with_many_estimates
from .forecast import is_edit, plainly_global, weights

_SHORT = 320  # letters: bit-parallel kernels take no longer for these than an estimate
_THREADS = 4
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
    in_bits, many = is_edit(spec), len(pairs) > 4 * SAMPLE
    longest = int(max(pairs.q_len.max(), pairs.t_len.max())) if in_bits or many else 0
    if in_bits and longest <= _SHORT:
        return pairs
    if many and longest <= _MEDIUM:
        rows = _spread(pairs, SAMPLE)
        some = _only(pairs, rows, estimate_edits(pairs, rows))
        if best_for_all(some, rows, spec, Limits()):
            return some
    return pairs.with_edits(estimate_edits(pairs))


def _beside_a_card(pairs: PairBatch, spec: AlignSpec) -> PairBatch:
    """Some pairs' estimates where they speak for all, else all pairs'; kernels are cut to them.

    Of metrics other than edit distance they are costs, in average edits.
    """
    usual, costs = tuning.ESTIMATE_BESIDE_A_CARD, weights(spec)
    if len(pairs) > 4 * jobs.SAMPLE:
        short = int(max(pairs.q_len.max(), pairs.t_len.max())) <= _MEDIUM
        rows = _spread(pairs, jobs.SAMPLE)
        some = pairs.part(rows)
        some = with_many_estimates(some, spec) if short else some.with_edits(_estimated(some, usual, costs))
        if short or speaks_for_all(some, len(pairs), spec):
            return _only(pairs, rows, some.est_edits)
    return pairs.with_edits(_estimated(pairs, usual, costs))


def _estimated(pairs: PairBatch, most: int, costs: tuple[int, int, int] | None) -> I32:
    """By several threads: while one batch of long pairs waits for its estimates the card may have nothing to do."""
    return estimate_edits(pairs, most=most, costs=costs, threads=min(_THREADS, usable_cores()))


def _spread(pairs: PairBatch, count: int) -> I32:
    """Rows (i32[m]) of about so many pairs from all over a batch."""
    return np.arange(0, len(pairs), len(pairs) // count, dtype=np.int32)


def _only(pairs: PairBatch, rows: I32, edits: I32) -> PairBatch:
    """The batch with estimates (i32[m]) of some rows."""
    known: I32 = np.full(len(pairs), -1, np.int32)
    known[rows] = edits
    return pairs.with_edits(known)
