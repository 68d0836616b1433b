"""How far a run is, as values and in words; no more than that, so that it is quickly imported."""

from __future__ import annotations

from typing import NamedTuple


def seconds(value: float) -> str:
    """A time with as many digits as mean something."""
    if value >= 3600:
        return f"{int(value // 3600)} h {int(value % 3600 // 60)} min"
    if value >= 100:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{value:.3g} s" if value < 10 else f"{value:.1f} s"


class Standing(NamedTuple):
    """How far a run is: in words, the share of the work and the seconds to go, None where there is no telling."""

    words: str
    share: float | None
    rest: float | None


def line(now: Standing, elapsed: float) -> str:
    """A run's progress where there is no bar."""
    found = f"{now.words} after {seconds(elapsed)}"
    if now.share is not None:
        found += f", {100 * now.share:.0f}% done"
    if now.rest is not None:
        found += f", about {seconds(now.rest)} to go"
    return found
