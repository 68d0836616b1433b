"""The GPU engine with the CPU engine behind it: each route goes to the one whose kernel it names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.batch import I32, U8, PairBatch, PartialResult, join
from ..core.route import Route
from ..errors import DeviceError
from ..plan.dispatch import few_and_short
from ..plan.kernels import on_gpu
from .base import Engine
from .long import LongPairs


@dataclass(frozen=True)
class _Long:
    """Rows of a route that are long pairs, and who has them."""

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
    """Aligns on a GPU and on the CPU at the same time; see engines.base.Engine.

    What the GPU cannot finish comes back with a status, and its next rung is on the CPU's threads, which so work on
    one batch while the GPU has the next.

    Attributes:
        gpus: that there are.
    """

    name = "gpu"

    def __init__(self, gpu: Engine, cpu: Engine, long: LongPairs | None = None, gpus: int = 1) -> None:
        """`long` has pairs that are the CPU's because the GPU's batch kernels do not take them; `GPUs`: of `gpu`."""
        self._gpu, self._cpu, self._long, self.gpus = gpu, cpu, long, gpus

    def batch_memory(self, nbytes: int) -> U8 | None:
        """The GPU's."""
        return self._gpu.batch_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route where its kernel runs. Raises Cancelled after cancel()."""
        if on_gpu(route.kernel):
            return _Ticket(self._gpu, self._gpu.submit(pairs, route))
        device = self._long
        long = device.takes(pairs, route.rows) if device else np.zeros(0, np.int32)
        if device is None or not len(long):
            inner = self._cpu.submit(pairs, route)
            # Now, beside the GPU: nobody else would take them up until they are collected.
            done = self._cpu.collect(inner) if few_and_short(pairs, route.rows) else None
            return _Ticket(self._cpu, inner, done=done)
        rest = replace(route, rows=route.rows[~np.isin(route.rows, long)])
        inner = self._cpu.submit(pairs, rest) if len(rest.rows) else None
        return _Ticket(self._cpu, inner, _Long(device, pairs, route, long))

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results. Raises Cancelled after cancel()."""
        if ticket.done is not None:
            return ticket.done
        if ticket.long is None:
            return ticket.engine.collect(ticket.inner)
        parts = self._collect_long(ticket.long)
        if ticket.inner is not None:
            parts.append(ticket.engine.collect(ticket.inner))
        return join(np.concatenate([part.rows for part in parts]), parts)

    def _collect_long(self, asked: _Long) -> list[PartialResult]:
        """Of all rows that the GPU was to have; the CPU has them from the first on at which the GPU fails."""
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
        """The GPU's, and under "cpu" those of the CPU engine."""
        long = {"long_pairs": self._long.aligned} if self._long else {}
        return {**self._gpu.stats(), **long, "cpu": self._cpu.stats()}

    def cancel(self) -> None:
        """Stops both."""
        if self._long:
            self._long.cancel()
        self._gpu.cancel()
        self._cpu.cancel()

    def close(self) -> None:
        """Waits for both, the GPU first."""
        try:
            self._gpu.close()
        finally:
            self._cpu.close()
