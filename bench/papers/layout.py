"""Tables and figures as they stand on the page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from bench.pages.text import Rows, line, number

from .found import MISSING

LOOK = 1  # of the drawings: another number makes all of them anew
NOT_READ = "–"  # of a paper's number that is not in its text


@dataclass(frozen=True)
class Figure:
    """A plot.

    Attributes:
        name: of its file, without a suffix.
        x, y: what the axes show.
        series: points by what they are of, theirs with the paper's name; with names instead of numbers on x: bars.
        log: axes that are logarithmic, of "xy".
        joined: whether lines join the points.
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
        """Of all that is drawn, which the file has in it."""
        return hashlib.sha256(json.dumps([LOOK, asdict(self)], sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Part:
    """A table or figure of a paper.

    Attributes:
        title: number and subject, in this project's words.
        rows: the first is the head.
        notes: how theirs and ours differ: cards, lengths, pairs that stand in for others.
        figure: its plot, if it has one.
        sources: the files that ours are from, in words.
    """

    title: str
    rows: Rows
    notes: list[str] = field(default_factory=list)
    figure: Figure | None = None
    sources: list[str] = field(default_factory=list)

    def text(self) -> str:
        """In Markdown."""
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
        name: what it is called here.
        cite: authors, title, where and when.
        device: of its measurements.
        parts: its tables and figures.
    """

    name: str
    cite: str
    device: str
    parts: list[Part]


def ours(value: float | None) -> str:
    """A number of this project's, or that there is none."""
    return MISSING if value is None else number(value)


def theirs(value: float | None) -> str:
    """A number of a paper's, or that its text does not have it."""
    return NOT_READ if value is None else number(value)
