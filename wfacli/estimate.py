"""Estimates of pairs' edit distances, from which dispatch picks kernels."""

from __future__ import annotations

import dataclasses

import numpy as np

from ._native import estimate_edits
from .batch import PairBatch
from .config import AlignSpec, Metric, Mode

_SHORT = 320  # letters: bit-parallel kernels take less time for these than an estimate


def with_estimates(pairs: PairBatch, spec: AlignSpec) -> PairBatch:
    """The batch with est_edits filled in, from samples of each pair's ends (native/estimate.hpp).

    Where nothing is chosen by it, short reads of edit distance before all, it is the difference of lengths, a lower
    bound.
    """
    short = len(pairs) == 0 or int(max(pairs.q_len.max(), pairs.t_len.max())) <= _SHORT
    if spec.mode is not Mode.GLOBAL or (short and spec.metric is Metric.EDIT):
        return dataclasses.replace(pairs, est_edits=np.abs(pairs.q_len - pairs.t_len))
    return dataclasses.replace(pairs, est_edits=estimate_edits(pairs))
