"""The protocol of all engines."""

from __future__ import annotations

from typing import Any, Protocol

from ..core.batch import U8, PairBatch, PartialResult
from ..core.route import Route


class Engine(Protocol):
    """Aligns rows of batches.

    A pair that cannot be aligned gets a status; an exception means that a whole route failed. Results do not depend
    on which rows share a route, nor on batch size, threads or device.
    """

    name: str

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return the memory (u8[nbytes]) that the engine prefers for a batch's bases; None if any will do."""

    def submit(self, pairs: PairBatch, route: Route) -> Any:
        """Start a route; return the ticket for collect(). Raises Cancelled after cancel()."""

    def collect(self, ticket: Any) -> PartialResult:
        """Wait for a route and return its results. Raises Cancelled after cancel()."""

    def stats(self) -> dict[str, Any]:
        """Return the engine's properties and counters, as plain values."""

    def cancel(self) -> None:
        """Stop running work soon."""

    def close(self) -> None:
        """Wait for running work and free all resources."""
