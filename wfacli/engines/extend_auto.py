"""Scored alignment that starts on the CPU and adds a GPU once that is expected to pay off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import tuning
from ..core.batch import U8, PairBatch, PartialResult
from ..core.route import Route
from ..errors import DeviceError
from ..scoring.spec import ExtendSpec
from .base import Engine


@dataclass(frozen=True)
class _Ticket:
    engine: Engine
    inner: Any


class AutoExtendEngine:
    """CPU engine that opens a GPU once the time it could have saved equals that of opening it (engines.base.Engine).

    A background thread opens it; then the GPU gets the routes that it is expected to finish earlier. So a run takes at
    most about twice as long as with the better choice, whatever its length.
    """

    name = "auto"

    def __init__(self, cpu: Engine, open_gpu: Callable[[], Engine], threads: int, spec: ExtendSpec) -> None:
        """Create the engine; the GPU is not opened yet.

        Args:
            cpu: CPU engine.
            open_gpu: opens the GPU engine, which closes `cpu` when it is closed; may raise DeviceError.
            threads: threads of `cpu`.
            spec: what the run computes.
        """
        self._cpu, self._open_gpu = cpu, open_gpu
        self._spec = spec
        cpu_cells, gpu_cells = (cells[spec.score_only] for cells in (tuning.CPU_EXTEND_CELLS, tuning.GPU_EXTEND_CELLS))
        if spec.guided:
            cpu_cells, gpu_cells = tuning.CPU_GUIDED_CELLS, tuning.GPU_GUIDED_CELLS
        self._cpu_cells, self._gpu_cells = cpu_cells * threads, gpu_cells
        self._lock = threading.Lock()
        self._spent = 0.0  # expected seconds that a GPU would have saved so far
        self._opening: threading.Thread | None = None
        self._gpu: Engine | None = None
        self._failure: str | None = None
        self._cancelled = False

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return memory of the GPU engine; None before it is open."""
        return self._gpu.batch_memory(nbytes) if self._gpu else None

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Start a route on the engine expected to finish it earlier. Raises Cancelled after cancel()."""
        engine = self._sooner(pairs, route)
        return _Ticket(engine, engine.submit(pairs, route))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""
        return ticket.engine.collect(ticket.inner)

    def stats(self) -> dict[str, Any]:
        """Return the stats of the GPU engine if it is open, otherwise those of the CPU engine."""
        stats = (self._gpu or self._cpu).stats()
        return stats | {"card_not_used": self._failure} if self._failure else stats

    def cancel(self) -> None:
        """Cancel both engines."""
        with self._lock:
            self._cancelled = True
        (self._gpu or self._cpu).cancel()

    def close(self) -> None:
        """Wait for both engines and close them."""
        if self._opening:
            self._opening.join()
        (self._gpu or self._cpu).close()

    def _sooner(self, pairs: PairBatch, route: Route) -> Engine:
        query_len, target_len = (side[route.rows].astype(np.int64) for side in (pairs.q_len, pairs.t_len))
        cells = float(self._spec.cells(query_len, target_len).sum(dtype=np.float64))
        n_bases = float(query_len.sum() + target_len.sum())
        on_cpu = cells / self._cpu_cells
        on_gpu = tuning.GPU_EXTEND_LAUNCH + n_bases * tuning.GPU_EXTEND_PER_BASE + cells / self._gpu_cells
        with self._lock:
            if self._gpu is not None and on_gpu < on_cpu:
                return self._gpu
            if on_gpu < on_cpu:
                self._spent += on_cpu - on_gpu
            if self._spent > tuning.GPU_OPEN_SECONDS and self._opening is None and not self._cancelled:
                self._opening = threading.Thread(target=self._open, name="wfacli-open", daemon=True)
                self._opening.start()
        return self._cpu

    def _open(self) -> None:
        try:
            gpu = self._open_gpu()
        except DeviceError as problem:
            self._failure = str(problem)
            return
        with self._lock:
            self._gpu = gpu
            if self._cancelled:
                gpu.cancel()
