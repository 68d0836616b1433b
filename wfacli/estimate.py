"""Estimates of pairs' edit distances, from which dispatch picks kernels."""

from __future__ import annotations

import numpy as np

from ._native import estimate_edits
from .batch import I32, PairBatch
from .config import AlignSpec, Limits, Mode
from .dispatch import SAMPLE, best_for_all
from .forecast import is_edit

_SHORT = 320  # letters: bit-parallel kernels take no longer for these than an estimate
_MEDIUM = 2000  # letters: below, choosing for each pair may cost more than it gains


def with_estimates(pairs: PairBatch, spec: AlignSpec, gpu: bool = False) -> PairBatch:
    """The batch with est_edits filled in, from samples of each pair (native/estimate.hpp); -1 stays for unknown.

    Where estimates would cost more than they gain, few or none are made: for spans that only one kernel serves, for
    short reads of edit distance, and for reads of which some speak for all.
    """
    if spec.mode is not Mode.GLOBAL or not len(pairs):
        return pairs
    in_bits, many = is_edit(spec) and not gpu, len(pairs) > 4 * SAMPLE
    longest = int(max(pairs.q_len.max(), pairs.t_len.max())) if in_bits or many else 0
    if in_bits and longest <= _SHORT:
        return pairs
    if many and longest <= _MEDIUM:
        rows = np.arange(0, len(pairs), len(pairs) // SAMPLE, dtype=np.int32)
        edits: I32 = np.full(len(pairs), -1, np.int32)
        edits[rows] = estimate_edits(pairs, rows)
        some = pairs.with_edits(edits)
        if best_for_all(some, rows, spec, Limits(), gpu):
            return some
    return pairs.with_edits(estimate_edits(pairs))
