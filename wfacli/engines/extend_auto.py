"""Scored alignment on the CPU, and on a GPU as soon as that pays."""

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


class ExtendWhereSooner:
    """The CPU's engine, until a run has taken it as long as opening a GPU takes; see engines.base.Engine.

    Then the GPU is opened beside it, and gets the routes that it has sooner. So a run never takes much more than
    twice what the better choice would have taken, however long it turns out to be.
    """

    name = "auto"

    def __init__(self, cpu: Engine, open_gpu: Callable[[], Engine], threads: int, spec: ExtendSpec) -> None:
        """`open_gpu` raises DeviceError; its engine closes the CPU's. `threads`: of that; `spec`: of the run."""
        self._cpu, self._open_gpu = cpu, open_gpu
        self._spec = spec
        cpu_cells, gpu_cells = (cells[spec.score_only] for cells in (tuning.CPU_EXTEND_CELLS, tuning.GPU_EXTEND_CELLS))
        if spec.guided:
            cpu_cells, gpu_cells = tuning.CPU_GUIDED_CELLS, tuning.GPU_GUIDED_CELLS
        self._cpu_cells, self._gpu_cells = cpu_cells * threads, gpu_cells
        self._lock = threading.Lock()
        self._spent = 0.0  # seconds of the CPU, by its model
        self._opening: threading.Thread | None = None
        self._gpu: Engine | None = None
        self._failure: str | None = None
        self._cancelled = False

    def letters_memory(self, nbytes: int) -> U8 | None:
        """The GPU's, once there is one."""
        return self._gpu.letters_memory(nbytes) if self._gpu else None

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route where it is sooner done. Raises Cancelled after cancel()."""
        engine = self._sooner(pairs, route)
        return _Ticket(engine, engine.submit(pairs, route))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results. Raises Cancelled after cancel()."""
        return ticket.engine.collect(ticket.inner)

    def stats(self) -> dict[str, Any]:
        """The GPU's, where there is one, else the CPU's."""
        stats = (self._gpu or self._cpu).stats()
        return stats | {"card_not_used": self._failure} if self._failure else stats

    def cancel(self) -> None:
        """Stops both."""
        with self._lock:
            self._cancelled = True
        (self._gpu or self._cpu).cancel()

    def close(self) -> None:
        """Waits for both."""
        if self._opening:
            self._opening.join()
        (self._gpu or self._cpu).close()

    def _sooner(self, pairs: PairBatch, route: Route) -> Engine:
        query_len, target_len = (side[route.rows].astype(np.int64) for side in (pairs.q_len, pairs.t_len))
        cells = float(self._spec.cells(query_len, target_len).sum(dtype=np.float64))
        letters = float(query_len.sum() + target_len.sum())
        on_cpu = cells / self._cpu_cells
        on_gpu = tuning.GPU_EXTEND_LAUNCH + letters * tuning.GPU_EXTEND_PER_BASE + cells / self._gpu_cells
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
