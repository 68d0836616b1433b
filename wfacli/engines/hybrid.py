"""GPU and CPU engine in one: each route goes to the engine of its kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.batch import I32, U8, PairBatch, PartialResult, join
from ..core.route import Route, on_gpu
from ..errors import DeviceError
from ..plan.dispatch import few_and_short
from .base import Engine
from .long import LongPairs


@dataclass(frozen=True)
class _Long:
    """Rows of a route that are long pairs, and the aligner that computes them."""

    by: LongPairs
    pairs: PairBatch
    route: Route
    rows: I32


@dataclass(frozen=True)
class _Ticket:
    engine: Engine
    inner: Any
    long: _Long | None = None
    done: PartialResult | None = None


class HybridEngine:
    """Aligns on a GPU and on the CPU at the same time (engines.base.Engine).

    Pairs that the GPU cannot align come back with a status and are retried by CPU kernels, so the CPU works on one
    batch while the GPU works on the next.

    Attributes:
        gpus: number of GPUs.
    """

    name = "gpu"

    def __init__(self, gpu: Engine, cpu: Engine, long: LongPairs | None = None, gpus: int = 1) -> None:
        """Combine two engines, which are closed with this one.

        Args:
            gpu: GPU engine.
            cpu: CPU engine.
            long: aligns pairs of CPU routes that are too long for batch kernels on the GPU; None: the CPU does.
            gpus: number of GPUs of `gpu`.
        """
        self._gpu, self._cpu, self._long, self.gpus = gpu, cpu, long, gpus

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return memory of the GPU engine."""
        return self._gpu.batch_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Start a route on the engine of its kernel. Raises Cancelled after cancel()."""
        if on_gpu(route.kernel):
            return _Ticket(self._gpu, self._gpu.submit(pairs, route))
        device = self._long
        long = device.takes(pairs, route.rows) if device else np.zeros(0, np.int32)
        if device is None or not len(long):
            inner = self._cpu.submit(pairs, route)
            # Align these now, while the GPU works: otherwise they would wait until they are collected.
            done = self._cpu.collect(inner) if few_and_short(pairs, route.rows) else None
            return _Ticket(self._cpu, inner, done=done)
        rest = replace(route, rows=route.rows[~np.isin(route.rows, long)])
        inner = self._cpu.submit(pairs, rest) if len(rest.rows) else None
        return _Ticket(self._cpu, inner, _Long(device, pairs, route, long))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""
        if ticket.done is not None:
            return ticket.done
        if ticket.long is None:
            return ticket.engine.collect(ticket.inner)
        parts = self._collect_long(ticket.long)
        if ticket.inner is not None:
            parts.append(ticket.engine.collect(ticket.inner))
        return join(np.concatenate([part.rows for part in parts]), parts)

    def _collect_long(self, asked: _Long) -> list[PartialResult]:
        """Align long pairs on the GPU; from the first failure on, align the remaining ones on the CPU."""
        parts: list[PartialResult] = []
        try:
            for row in asked.rows.tolist():
                parts.append(asked.by.align(asked.pairs, row))
        except DeviceError:
            left = replace(asked.route, rows=asked.rows[len(parts) :])
            parts.append(self._cpu.collect(self._cpu.submit(asked.pairs, left)))
            self._long = None
        return parts

    def stats(self) -> dict[str, Any]:
        """Return the stats of the GPU engine, and under "cpu" those of the CPU engine."""
        long = {"long_pairs": self._long.aligned} if self._long else {}
        return {**self._gpu.stats(), **long, "cpu": self._cpu.stats()}

    def cancel(self) -> None:
        """Cancel both engines."""
        if self._long:
            self._long.cancel()
        self._gpu.cancel()
        self._cpu.cancel()

    def close(self) -> None:
        """Wait for both engines and close them, the GPU first."""
        try:
            self._gpu.close()
        finally:
            self._cpu.close()
