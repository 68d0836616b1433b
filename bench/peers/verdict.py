"""The statements of a table, computed from seconds and costs by pure functions."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

OURS = "wfacli"
Costs = npt.NDArray[np.int32]


@dataclass
class Timing:
    """One aligner under one setting on one cell of the table.

    Attributes:
        aligner: OURS, or a peer.
        setting: its setting, "" if it has one only.
        threads: 1 or 2.
        seconds: of each repeat.
        wrong: number of pairs with a wrong cost.
    """

    aligner: str
    setting: str = ""
    threads: int = 1
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0

    @property
    def name(self) -> str:
        """Aligner and setting."""
        return f"{self.aligner} {self.setting}".strip()

    @property
    def best(self) -> float:
        """Seconds of the fastest repeat."""
        return min(self.seconds)

    def report(self) -> dict[str, Any]:
        """Return plain values for JSON; times in seconds."""
        return {
            "aligner": self.aligner,
            "setting": self.setting,
            "threads": self.threads,
            "best_seconds": round(self.best, 6),
            "median_seconds": round(statistics.median(self.seconds), 6),
            "all_seconds": [round(s, 6) for s in self.seconds],
            "wrong_pairs": self.wrong,
        }


@dataclass
class Cell:
    """One task on one row.

    Attributes:
        row: name of the row.
        task: name of the task.
        timings: of every aligner and setting that ran, in the order of the table.
        absent: why others did not run, by Timing.name; aligners that do not support the task are not named.
        two_threads: OURS with two threads, if there are two cores.
    """

    row: str
    task: str
    timings: list[Timing] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    two_threads: Timing | None = None

    def of(self, aligner: str) -> Timing | None:
        """Return an aligner's fastest setting among those that are right on every pair, else its fastest one."""
        own = [t for t in self.timings if t.aligner == aligner and t.seconds]
        return min(own, key=lambda t: (t.wrong > 0, t.best), default=None)

    def best_peer(self) -> Timing | None:
        """Return the fastest peer that is right on every pair."""
        own = [t for t in self.timings if t.aligner != OURS and t.seconds and not t.wrong]
        return min(own, key=lambda t: t.best, default=None)

    def ratio(self) -> float | None:
        """Return the best peer's seconds divided by ours, above 1 if we are faster. None without both right."""
        ours, peer = self.of(OURS), self.best_peer()
        return peer.best / ours.best if ours and peer and not ours.wrong else None

    def speedup(self) -> float | None:
        """Return the seconds with one thread divided by those with two."""
        ours = self.of(OURS)
        return ours.best / self.two_threads.best if ours and self.two_threads else None

    def relative(self, aligner: str) -> float | None:
        """Return an aligner's seconds divided by those of the best peer."""
        own, peer = self.of(aligner), self.best_peer()
        return own.best / peer.best if own and peer else None

    def report(self) -> dict[str, Any]:
        """Return plain values for JSON; times in seconds."""
        peer = self.best_peer()
        return {
            "row": self.row,
            "task": self.task,
            "timings": [t.report() for t in [*self.timings, *([self.two_threads] if self.two_threads else [])]],
            "not_run": self.absent,
            "best_peer": peer.name if peer else None,
            "best_peer_by_ours": _rounded(self.ratio()),
            "one_thread_by_two": _rounded(self.speedup()),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def right_costs(ours: Costs, peers: Mapping[str, Costs]) -> Costs:
    """Return the cost of each pair that most aligners found; ours if no other has more votes.

    Args:
        ours: i32[n], -1 for none.
        peers: the same for each peer.
    """
    voices = np.stack([ours, *peers.values()])
    votes = (voices[:, None] == voices[None, :]).sum(axis=1)
    votes[voices < 0] = 0
    right: Costs = np.take_along_axis(voices, votes.argmax(axis=0)[None], axis=0)[0]
    return right


def wrong_pairs(found: Costs, right: Costs) -> int:
    """Return the number of pairs whose cost is missing or wrong."""
    return int(np.count_nonzero((found != right) | (found < 0)))


def summary(cells: Sequence[Cell]) -> tuple[int, int, int]:
    """Return the number of cells with a ratio, with a ratio of at least 1, and of at least 2."""
    ratios = [r for r in (cell.ratio() for cell in cells) if r is not None]
    return len(ratios), sum(r >= 1 for r in ratios), sum(r >= 2 for r in ratios)


def summary_text(cells: Sequence[Cell]) -> str:
    """Return the same counts as a sentence."""
    compared, even, twice = summary(cells)
    return f"Of {compared} cells, wfacli is at least as fast as the best peer in {even}, twice as fast in {twice}."


def ratio_text(ratio: float | None) -> str:
    """Return a ratio of a peer's seconds to ours: red below 1, bold green from 2 on."""
    if ratio is None:
        return "–"
    return f"[{'red' if ratio < 1 else 'bold green' if ratio >= 2 else 'green'}]{ratio:.2f}[/]"


def seconds_text(seconds: float) -> str:
    """Return seconds with three significant digits, at most five decimals."""
    for limit, digits in ((0.01, 5), (0.1, 4), (1.0, 3), (10.0, 2), (100.0, 1)):
        if seconds < limit:
            return f"{seconds:.{digits}f}"
    return f"{seconds:.0f}"


def cell_text(timing: Timing | None) -> str:
    """Return an aligner's cell: seconds, and the number of wrong pairs."""
    if timing is None:
        return "–"
    return seconds_text(timing.best) + (f"\nwrong on {timing.wrong:,} pairs" if timing.wrong else "")
