"""Progress bars for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from ..core.stats import counted
from .console import console
from .report import rate

if TYPE_CHECKING:
    from ..run.parts import Watch


_BESIDE = 60  # columns of a terminal for what stands beside the bar of pairs
_SHORTEST, _LONGEST = 4, 40  # columns of a bar


class _Percent(ProgressColumn):
    """Column with the share of the input that is read; empty if the size of the input is unknown."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.percentage:.0f}%" if task.total else "")


class _PairRate(ProgressColumn):
    """Column with the number of pairs so far, and pairs per second."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(Column(no_wrap=True))
        self._watch = watch

    def render(self, task: Task) -> Text:
        pairs = self._watch.stats.counts["pairs"]
        return Text(f"{counted(pairs, 'pair')}, {rate(pairs / max(self._watch.stats.wall, 1e-9))}/s")


def of_pairs(watch: Watch) -> Progress:
    """Return the progress bar of a run over files of pairs."""
    columns = [
        TextColumn("{task.description}"),
        _bar(_BESIDE),
        _Percent(),
        _PairRate(watch),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=console(), transient=True)


def of_one_pair() -> Progress:
    """Return the progress bar of one long pair."""
    one_line = Column(no_wrap=True, overflow="ellipsis")
    rest = TextColumn("{task.fields[rest]}", table_column=Column(no_wrap=True))
    columns = [TextColumn("{task.description}", table_column=one_line), _bar(_BESIDE), TimeElapsedColumn(), rest]
    return Progress(*columns, console=console(), transient=True)


def _bar(beside: int) -> BarColumn:
    """Return a bar for a line of which other columns take `beside` characters: a wrapped line would leave traces."""
    width = max(_SHORTEST, min(_LONGEST, console().width - beside))
    return BarColumn(width, table_column=Column(no_wrap=True))
