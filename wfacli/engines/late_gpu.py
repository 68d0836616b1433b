"""An engine that starts on the CPU and adds a GPU once that is expected to have paid off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core import tuning
from ..core.batch import U8, PairBatch, PartialResult
from ..core.route import Route
from ..errors import DeviceError
from .base import Engine


@dataclass(frozen=True)
class Ticket:
    """A route that an engine has started."""

    engine: Engine
    inner: Any


class LateGpuEngine:
    """CPU engine that opens a GPU once the time it could have saved equals that of opening it (engines.base.Engine).

    A background thread opens it. So a run takes at most about twice as long as with the better choice, whatever its
    length.

    Attributes:
        cpu: the CPU engine.
        gpu: the engine with the GPU once it is open, else None.
    """

    name = "auto"

    def __init__(self, cpu: Engine, open_gpu: Callable[[], Engine]) -> None:
        """Create the engine; the GPU is not opened yet.

        Args:
            cpu: CPU engine.
            open_gpu: opens the engine with the GPU, which closes `cpu` when it is closed. It may raise DeviceError, or
                return `cpu` if there is no GPU.
        """
        self.cpu = cpu
        self.gpu: Engine | None = None
        self._open_gpu = open_gpu
        self._lock = threading.Lock()
        self._saved = 0.0  # expected seconds that a GPU would have saved so far
        self._spent = 0.0  # further seconds of all threads
        self._opening: threading.Thread | None = None
        self._failure: str | None = None
        self._cancelled = False

    @property
    def waits(self) -> bool:
        """Whether the GPU was not opened yet, so that what it would save counts."""
        return self._opening is None and not self._cancelled

    def would_save(self, seconds: float) -> None:
        """Add the seconds that a GPU would have saved, and start to open it if they pay for that."""
        with self._lock:
            self._saved += max(seconds, 0.0)
            if self._saved > tuning.GPU_OPEN_SECONDS and self.waits:
                self._opening = threading.Thread(target=self._open, name="wfacli-open", daemon=True)
                self._opening.start()

    def spend(self, seconds: float, with_gpu: Callable[[], float]) -> None:
        """Add the seconds of all threads for a batch, less those that it would take with the GPU.

        The latter take a while to forecast, so they are asked for only once the former alone would pay.
        """
        with self._lock:
            self._spent += seconds
            pays = self._saved + self._spent > tuning.GPU_OPEN_SECONDS
            spent, self._spent = self._spent, 0.0 if pays else self._spent
        if pays and seconds > 0:
            self.would_save(spent * (1 - with_gpu() / seconds))

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return memory of the GPU engine; None before it is open."""
        return self.gpu.batch_memory(nbytes) if self.gpu else None

    def submit(self, pairs: PairBatch, route: Route) -> Ticket:
        """Start a route on the engine that is open. Raises Cancelled after cancel()."""
        engine = self.gpu or self.cpu
        return Ticket(engine, engine.submit(pairs, route))

    def collect(self, ticket: Ticket) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""
        return ticket.engine.collect(ticket.inner)

    def stats(self) -> dict[str, Any]:
        """Return the stats of the GPU engine if it is open, otherwise those of the CPU engine."""
        stats = (self.gpu or self.cpu).stats()
        return stats | {"gpu_not_used": self._failure} if self._failure else stats

    def cancel(self) -> None:
        """Cancel both engines."""
        with self._lock:
            self._cancelled = True
        (self.gpu or self.cpu).cancel()

    def close(self) -> None:
        """Wait for both engines and close them."""
        if self._opening:
            self._opening.join()
        (self.gpu or self.cpu).close()

    def _open(self) -> None:
        try:
            gpu = self._open_gpu()
        except DeviceError as problem:
            self._failure = str(problem)
            return
        if gpu is self.cpu:
            return
        with self._lock:
            self.gpu = gpu
            if self._cancelled:
                gpu.cancel()
