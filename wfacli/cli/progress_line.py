"""Progress of a run as values and text; kept minimal, so that it is imported quickly."""

from __future__ import annotations

from typing import NamedTuple


def seconds(value: float) -> str:
    """Format a time in seconds, with its significant digits only."""
    if value >= 3600:
        return f"{int(value // 3600)} h {int(value % 3600 // 60)} min"
    if value >= 100:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{value:.3g} s" if value < 10 else f"{value:.1f} s"


class ProgressLine(NamedTuple):
    """Progress of a run: a description, the finished share of the work, and the remaining seconds; None if unknown."""

    words: str
    fraction_done: float | None
    remaining_seconds: float | None


def line(now: ProgressLine, elapsed: float) -> str:
    """Format the progress of a run as one line."""
    found = f"{now.words} after {seconds(elapsed)}"
    if now.fraction_done is not None:
        found += f", {100 * now.fraction_done:.0f}% done"
    if now.remaining_seconds is not None:
        found += f", about {seconds(now.remaining_seconds)} to go"
    return found
