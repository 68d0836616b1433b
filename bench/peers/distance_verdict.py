"""What is known of one pair after all measurements: which are right, and what the forecasts would have chosen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .distance_ours import Measured, tcups

ENGINES = ("gpu", "cpu")
_ESTIMATES = "gpu-bits"  # its seconds include those of the estimate


@dataclass
class Entry:
    """A row.

    Attributes:
        name: name of the row.
        lengths: bases of query and target.
        plain: True if all bases are A, C, G or T.
        estimate: edits expected before anything was computed, None if unknown.
        estimate_seconds: time of the estimate.
        measured: results by name, ours first.
        absent: why others have no time.
        forecasts: expected seconds of ours for the estimate.
        path: result for the alignment on a GPU, after the distance; None if not measured.
    """

    name: str
    lengths: tuple[int, int]
    plain: bool = True
    estimate: int | None = None
    estimate_seconds: float = 0.0
    measured: dict[str, Measured] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    forecasts: dict[str, float] = field(default_factory=dict)
    path: Measured | None = None

    @property
    def cells(self) -> int:
        """Cells of the whole matrix."""
        return self.lengths[0] * self.lengths[1]

    @property
    def distance(self) -> int | None:
        """The distance that most aligners found; among equally many, the first."""
        said = Counter(m.distance for m in self.measured.values())
        return max(said, key=lambda distance: said[distance], default=None)

    @property
    def identity(self) -> float | None:
        """1 - distance / length of the longer sequence."""
        return None if self.distance is None else 1 - self.distance / max(*self.lengths, 1)

    @property
    def wrong(self) -> dict[str, int | None]:
        """Distances that differ from that of most aligners."""
        return {name: m.distance for name, m in self.measured.items() if m.distance != self.distance}

    def best(self, names: list[str]) -> str | None:
        """Return the fastest of some aligners that is right."""
        right = [name for name in names if name in self.measured and name not in self.wrong]
        return min(right, key=lambda name: self.measured[name].best, default=None)

    def ours(self, engine: str) -> list[str]:
        """Return the names of our algorithms on an engine that had a forecast."""
        return [name for name in self.forecasts if name.startswith(f"{engine}-")]

    def auto(self, engine: str) -> dict[str, Any] | None:
        """Return what the forecasts choose, and the seconds of choosing and of the chosen; None without a choice.

        Without an estimate the choice is the wavefront, whose own growth shows how many edits there are.
        """
        ours = self.ours(engine)
        if not ours:
            return None
        unknown = f"{engine}-wavefront"
        choice = min(ours, key=lambda name: self.forecasts[name]) if self.estimate is not None else unknown
        known = self.measured.get(choice)
        more = 0.0 if choice == _ESTIMATES else self.estimate_seconds
        seconds = None if known is None else round(known.best + more, 6)
        return {"choice": choice, "seconds": seconds, "fastest": self.best(ours)}

    def report(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "name": self.name,
            "query_len": self.lengths[0],
            "target_len": self.lengths[1],
            "plain": self.plain,
            "distance": self.distance,
            "identity": None if self.identity is None else round(self.identity, 6),
            "estimate": self.estimate,
            "estimate_seconds": round(self.estimate_seconds, 6),
            "forecast_seconds": {name: float(f"{seconds:.4g}") for name, seconds in self.forecasts.items()},
            "measured": {name: m.report(self.cells) for name, m in self.measured.items()},
            "auto": {engine: auto for engine in ENGINES if (auto := self.auto(engine))},
            "peer_over_ours": {
                engine: round(times, 3) for engine in ENGINES if (times := ratio(self, engine)) is not None
            },
            "path": self.path.report(self.cells) if self.path else None,
            "mismatch": self.wrong,
            "absent": self.absent,
        }


def ratio(entry: Entry, engine: str) -> float | None:
    """Return the seconds of the best peer divided by ours on an engine; None if one of them has no time."""
    own = entry.best(entry.ours(engine))
    peer = entry.best([name for name in entry.measured if name not in entry.forecasts])
    return entry.measured[peer].best / entry.measured[own].best if own and peer else None


def rate(entry: Entry, names: list[str]) -> float | None:
    """Return the TCUPS of the fastest aligner."""
    best = entry.best(names)
    return tcups(entry.cells, entry.measured[best].best) if best else None
