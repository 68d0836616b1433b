"""A specification with its planner and CPU engine."""

from __future__ import annotations

from ..config import AlignSpec, Limits
from ..core.batch import AlignmentBatch, PairBatch
from ..core.stats import Stats
from ..engines.cpu import CpuEngine
from ..engines.execute import execute
from ..plan.planner import Planner
from .rows import measured


class Solver:
    """Aligns batches under a specification of its own.

    Attributes:
        spec: what to compute.
        engine: runs the kernels.
    """

    def __init__(self, spec: AlignSpec, limits: Limits, threads: int, stats: Stats) -> None:
        """Create the engine, whose threads start on first use."""
        self.spec, self.engine = spec, CpuEngine(spec, limits, threads, stats=stats)
        self._planner = Planner(spec, limits)

    def align(self, pairs: PairBatch) -> AlignmentBatch:
        """Align a batch. Raises Cancelled."""
        return execute(self.engine, pairs, self._planner.routes(measured(pairs)), self._planner, Stats())
