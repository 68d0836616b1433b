"""Tables and figures as they appear on the page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from bench.pages.text import Rows, line, number

from .found import MISSING

LOOK = 1  # version of the drawings: another number redraws all of them
NOT_READ = "–"  # for a number that is not in a paper's text


@dataclass(frozen=True)
class Figure:
    """A plot.

    Attributes:
        name: name of its file, without a suffix.
        x, y: labels of the axes.
        series: points by label, the papers' with the paper's name; names on x instead of numbers make bars.
        log: logarithmic axes, of "xy".
        joined: True if lines join the points.
    """

    name: str
    title: str
    x: str
    y: str
    series: dict[str, list[tuple[float | str, float]]]
    log: str = ""
    joined: bool = True

    @property
    def digest(self) -> str:
        """Digest of all that is drawn, which the file contains."""
        return hashlib.sha256(json.dumps([LOOK, asdict(self)], sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Part:
    """A table or figure of a paper.

    Attributes:
        title: number and subject, in this project's words.
        rows: rows, the head first.
        notes: differences between the paper's numbers and ours: GPUs, lengths, pairs that stand in for others.
        figure: its plot, or None.
        sources: the files that our numbers are from, in words.
    """

    title: str
    rows: Rows
    notes: list[str] = field(default_factory=list)
    figure: Figure | None = None
    sources: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the part in Markdown."""
        head, *rows = self.rows
        lines = [f"### {self.title}", "", line(head), "|---" * len(head) + "|", *map(line, rows), ""]
        if self.figure:
            lines += [f"![{self.figure.title}](plots/{self.figure.name}.svg)", ""]
        lines += [f"- {note}" for note in self.notes]
        lines += [f"- Ours: {'; '.join(self.sources) if self.sources else 'no file has any of it yet'}.", ""]
        return "\n".join(lines)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: short name.
        cite: authors, title, place and year.
        device: device of its measurements.
        parts: its tables and figures.
    """

    name: str
    cite: str
    device: str
    parts: list[Part]


def ours(value: float | None) -> str:
    """Return one of our numbers, or that there is none."""
    return MISSING if value is None else number(value)


def theirs(value: float | None) -> str:
    """Return a number of a paper, or that its text does not have it."""
    return NOT_READ if value is None else number(value)
