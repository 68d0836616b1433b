"""What repeats of a measurement say: the best, the middle, and how far apart they are."""

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
        """Of the fastest repeat."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """Half of the repeats are no slower."""
        return statistics.median(self.seconds)

    @property
    def worst(self) -> float:
        """Of the slowest repeat."""
        return max(self.seconds)

    @property
    def noise(self) -> float | None:
        """How far the middle lies above the best, as a share of it; None of one repeat.

        What disturbs a measurement makes it longer, never shorter. So the best is what the work takes, and the
        distance of the middle from it says how much was disturbed; a single outlier does not move it.
        """
        return self.median / self.best - 1 if len(self.seconds) > 1 and self.best > 0 else None

    def report(self) -> dict[str, Any]:
        """Plain values for JSON, in seconds."""
        return {
            "best_seconds": round(self.best, 6),
            "median_seconds": round(self.median, 6),
            "worst_seconds": round(self.worst, 6),
            "all_seconds": [round(s, 6) for s in self.seconds],
        }
