"""The GPU engine with the CPU engine behind it: each route goes to the one whose kernel it names."""

from __future__ import annotations

from typing import Any

from ..batch import U8, PairBatch, PartialResult
from ..dispatch import Route
from ..forecast import on_gpu
from .base import Engine


class BothEngines:
    """Aligns on a card and on the CPU at the same time; see engines.base.Engine.

    What the card cannot finish comes back with a status, and its next rung is on the CPU's threads, which so work on
    one batch while the card has the next.
    """

    name = "gpu"

    def __init__(self, gpu: Engine, cpu: Engine) -> None:
        self._gpu, self._cpu = gpu, cpu

    def letters_memory(self, nbytes: int) -> U8 | None:
        """The card's."""
        return self._gpu.letters_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> tuple[Engine, Any]:
        """Starts a route where its kernel runs. Raises Cancelled after cancel()."""
        engine = self._gpu if on_gpu(route.kernel) else self._cpu
        return engine, engine.submit(pairs, route)

    def collect(self, ticket: tuple[Engine, Any]) -> PartialResult:
        """Waits for a route's results. Raises Cancelled after cancel()."""
        engine, inner = ticket
        return engine.collect(inner)

    def stats(self) -> dict[str, Any]:
        """The card's, and under "cpu" those of the CPU engine."""
        return {**self._gpu.stats(), "cpu": self._cpu.stats()}

    def cancel(self) -> None:
        """Stops both."""
        self._gpu.cancel()
        self._cpu.cancel()

    def close(self) -> None:
        """Waits for both, the card first."""
        try:
            self._gpu.close()
        finally:
            self._cpu.close()
