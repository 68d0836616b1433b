"""Several GPUs as one engine: each route goes to the GPU with the least outstanding work."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.batch import U8, PairBatch, PartialResult, Status
from ..core.route import Route
from ..errors import DeviceError
from .gpu import GpuEngine
from .long import LongPairs
from .parts import overlaid


@dataclass
class _Gpu:
    engine: GpuEngine
    index: int  # the driver's number of the GPU
    waiting: float = 0.0  # bases submitted and not yet collected
    routes: int = 0
    pairs: int = 0
    told: bool = False

    @property
    def trouble(self) -> str:
        """Why the GPU gets no more routes; "" if it works."""
        session = self.engine.session
        if session.failure is not None:
            return f"failed, the others go on: {session.failure}"
        return "has no memory left, the others go on: another program has it" if session.starved else ""


@dataclass(frozen=True)
class _Ticket:
    gpu: _Gpu
    inner: Any
    pairs: PairBatch
    route: Route
    n_bases: float


@dataclass
class MultiGpuEngine:
    """One GpuEngine per GPU (engines.base.Engine).

    A GPU that fails, or whose memory is taken by other programs, gets no more routes, and its pairs are retried on the
    other GPUs; the CPU aligns them only if no GPU is left. Results do not depend on the GPU.

    Attributes:
        engines: each with the index of its GPU; all use the first one's pinned memory for bases, and all are closed
            with this one.
        tell: receives a line for each GPU that fails, from any thread.
    """

    engines: Sequence[tuple[int, GpuEngine]]
    tell: Callable[[str], None] | None = None
    name: str = field(default="gpu", init=False)

    def __post_init__(self) -> None:
        self._gpus = [_Gpu(engine, index) for index, engine in self.engines]
        for gpu in self._gpus[1:]:
            gpu.engine.session.share_bases(self._gpus[0].engine.session)
        self._lock = threading.Lock()

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return pinned memory (u8[nbytes]) that all GPUs can copy from."""
        return self._gpus[0].engine.batch_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Start a route on a GPU. Raises Cancelled after cancel()."""
        n_bases = len(pairs.bases) * len(route.rows) / max(len(pairs), 1)
        with self._lock:
            gpu = min(self._working() or self._gpus, key=lambda one: one.waiting)
            gpu.waiting += n_bases
            gpu.routes += 1
            gpu.pairs += len(route.rows)
        try:
            return _Ticket(gpu, gpu.engine.submit(pairs, route), pairs, route, n_bases)
        except BaseException:
            self._given_back(gpu, n_bases)
            raise

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""
        gpu = ticket.gpu
        try:
            found = gpu.engine.collect(ticket.inner)
        finally:
            self._given_back(gpu, ticket.n_bases)
        if not gpu.trouble:
            return found
        self._tell_of(gpu)
        why = Status.UNSUPPORTED if gpu.engine.session.failure else Status.MEMORY_LIMIT
        lost = found.rows[found.status == np.uint8(why)]
        if not len(lost) or not self._working():
            return found
        which = np.isin(ticket.route.rows, lost)
        bands = ticket.route.bands
        again = replace(ticket.route, rows=ticket.route.rows[which], bands=None if bands is None else bands[which])
        return overlaid(found, self.collect(self.submit(ticket.pairs, again)))

    def stats(self) -> dict[str, Any]:
        """Return the stats of all GPUs combined, as of one, and under "gpus" those of each."""
        each = [gpu.engine.stats() for gpu in self._gpus]
        names = Counter(str(one["gpu"]) for one in each)
        failures = [one["failure"] for one in each]
        return {
            "engine": self.name,
            "gpu": ", ".join(name if n == 1 else f"{n} × {name}" for name, n in names.items()),
            "architecture": ", ".join(dict.fromkeys(str(one["architecture"]) for one in each)),
            "driver": each[0]["driver"],
            "memory_bytes": sum(one["memory_bytes"] for one in each),
            "failure": failures[0] if all(failures) else None,
            "gpus": [
                {"index": gpu.index, **one, "routes": gpu.routes, "pairs": gpu.pairs}
                for gpu, one in zip(self._gpus, each, strict=True)
            ],
        }

    def long_pairs(self) -> LongPairs:
        """Return an aligner on the first GPU for pairs too long for batch kernels."""
        return self._gpus[0].engine.long_pairs()

    def cancel(self) -> None:
        """Prevent launches that have not begun, on all GPUs."""
        for gpu in self._gpus:
            gpu.engine.cancel()

    def close(self) -> None:
        """Wait for all GPUs and close them; the first one last, since the others copy from its pinned memory."""
        problems: list[BaseException] = []
        for gpu in reversed(self._gpus):
            try:
                gpu.engine.close()
            except DeviceError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    def _working(self) -> list[_Gpu]:
        return [gpu for gpu in self._gpus if not gpu.trouble]

    def _given_back(self, gpu: _Gpu, n_bases: float) -> None:
        with self._lock:
            gpu.waiting -= n_bases

    def _tell_of(self, gpu: _Gpu) -> None:
        with self._lock:
            told, gpu.told = gpu.told, True
        if self.tell and not told and self._working():
            name = gpu.engine.stats()["gpu"]
            self.tell(f"warning: GPU {gpu.index} ({name}) {gpu.trouble}")
