"""Scored alignment that starts on the CPU and adds a GPU once that is expected to pay off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core import tuning
from ..core.batch import PairBatch
from ..core.route import Route
from ..scoring.spec import ExtendSpec
from .base import Engine
from .late_gpu import LateGpuEngine, Ticket


class AutoExtendEngine(LateGpuEngine):
    """CPU engine that opens a GPU once it pays off, and then gives it the routes that it is expected to speed up."""

    def __init__(self, cpu: Engine, open_gpu: Callable[[], Engine], threads: int, spec: ExtendSpec) -> None:
        """Create the engine; the GPU is not opened yet.

        Args:
            cpu: CPU engine.
            open_gpu: opens the GPU engine, which closes `cpu` when it is closed; may raise DeviceError.
            threads: threads of `cpu`.
            spec: what the run computes.
        """
        super().__init__(cpu, open_gpu)
        self._spec = spec
        cpu_cells, gpu_cells = (cells[spec.score_only] for cells in (tuning.CPU_EXTEND_CELLS, tuning.GPU_EXTEND_CELLS))
        if spec.guided:
            cpu_cells, gpu_cells = tuning.CPU_GUIDED_CELLS, tuning.GPU_GUIDED_CELLS
        self._cpu_cells, self._gpu_cells = cpu_cells * threads, gpu_cells

    def submit(self, pairs: PairBatch, route: Route) -> Ticket:
        """Start a route on the engine expected to finish it earlier. Raises Cancelled after cancel()."""
        engine = self._sooner(pairs, route)
        return Ticket(engine, engine.submit(pairs, route))

    def _sooner(self, pairs: PairBatch, route: Route) -> Engine:
        query_len, target_len = (side[route.rows].astype(np.int64) for side in (pairs.q_len, pairs.t_len))
        cells = float(self._spec.cells(query_len, target_len).sum(dtype=np.float64))
        n_bases = float(query_len.sum() + target_len.sum())
        on_cpu = cells / self._cpu_cells
        on_gpu = tuning.GPU_EXTEND_LAUNCH + n_bases * tuning.GPU_EXTEND_PER_BASE + cells / self._gpu_cells
        gpu = self.gpu
        if gpu is not None and on_gpu < on_cpu:
            return gpu
        self.would_save(on_cpu - on_gpu)
        return self.cpu
