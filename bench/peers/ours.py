"""Our engine as one more aligner; the only place here that knows its interface."""

from __future__ import annotations

from wfacli.batch import I32, PairBatch
from wfacli.config import AlignSpec, Metric, Penalties
from wfacli.measure.engine import Engine as MeasuredEngine


class Engine:
    """Our engine for one task, with its threads, until it is closed."""

    def __init__(self, metric: str, score_only: bool, threads: int = 1) -> None:
        """Takes the metric's default penalties, which are those of peer.hpp."""
        kind = Metric(metric)
        self._engine = MeasuredEngine(AlignSpec(kind, Penalties.of(kind), score_only=score_only), threads)

    def run(self, pairs: PairBatch) -> tuple[float, I32]:
        """Aligns every pair; returns seconds, and each pair's cost (i32[n], -1 where it has no alignment)."""
        answers = self._engine.run([pairs])
        return answers.seconds, answers.costs

    def close(self) -> None:
        """Ends its threads."""
        self._engine.close()
