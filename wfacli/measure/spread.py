"""Statistics of repeated measurements: best, median, worst, and noise."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Seconds of each repeat, at least one."""

    seconds: Sequence[float]

    @property
    def best(self) -> float:
        """Seconds of the fastest repeat."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """Median seconds of the repeats."""
        return statistics.median(self.seconds)

    @property
    def worst(self) -> float:
        """Seconds of the slowest repeat."""
        return max(self.seconds)

    @property
    def noise(self) -> float | None:
        """Distance of the median from the best, relative to the best; None for a single repeat.

        Disturbances make a run longer, never shorter. So the best is the time of the undisturbed work, and the
        distance of the median shows how much was disturbed; a single outlier does not change it.
        """
        return self.median / self.best - 1 if len(self.seconds) > 1 and self.best > 0 else None

    def report(self) -> dict[str, Any]:
        """Return plain values for JSON, in seconds."""
        return {
            "best_seconds": round(self.best, 6),
            "median_seconds": round(self.median, 6),
            "worst_seconds": round(self.worst, 6),
            "all_seconds": [round(s, 6) for s in self.seconds],
        }
