"""What every engine offers."""

from __future__ import annotations

from typing import Any, Protocol

from ..core.batch import U8, PairBatch, PartialResult
from ..core.route import Route


class Engine(Protocol):
    """Aligns rows of batches.

    A pair that cannot be aligned gets a status; an exception means that a whole route failed. Results never
    depend on which rows share a route, on batch size, threads or device.
    """

    name: str

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Memory (u8[nbytes]) in which a batch's letters serve the engine best; None where any does."""

    def submit(self, pairs: PairBatch, route: Route) -> Any:
        """Starts a route; returns the ticket for collect. Raises Cancelled after cancel()."""

    def collect(self, ticket: Any) -> PartialResult:
        """Waits for a route's results. Raises Cancelled after cancel()."""

    def stats(self) -> dict[str, Any]:
        """What the engine is and has done, as plain values."""

    def cancel(self) -> None:
        """Makes running work stop soon."""

    def close(self) -> None:
        """Waits for running work and frees everything."""
