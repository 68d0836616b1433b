"""Our engine as one more aligner; the only place here that knows its interface."""

from __future__ import annotations

import time

import numpy as np

from wfacli.batch import I32, PairBatch, Status
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.rescue import align_batch
from wfacli.estimate import with_estimates
from wfacli.stats import Stats


class Engine:
    """Our engine for one task, with its threads, until it is closed."""

    def __init__(self, metric: str, score_only: bool, threads: int = 1) -> None:
        """Takes the metric's default penalties, which are those of peer.hpp."""
        kind = Metric(metric)
        self._spec, self._limits = AlignSpec(kind, Penalties.of(kind), score_only=score_only), Limits()
        self._engine = CpuEngine(self._spec, self._limits, threads)

    def run(self, pairs: PairBatch) -> tuple[float, I32]:
        """Aligns every pair; returns seconds, and each pair's cost (i32[n], -1 where it has no alignment)."""
        begun = time.perf_counter()
        result = align_batch(self._engine, with_estimates(pairs, self._spec), self._spec, self._limits, Stats())
        seconds = time.perf_counter() - begun
        return seconds, np.where(result.status == Status.OK, -result.score, -1).astype(np.int32)

    def close(self) -> None:
        """Ends its threads."""
        self._engine.close()
