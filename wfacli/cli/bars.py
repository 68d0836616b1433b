"""Progress bars for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ..core.stats import counted
from .console import console
from .report import rate

if TYPE_CHECKING:
    from ..run.parts import Watch


class _PairRate(ProgressColumn):
    """Column with the number of pairs so far, and pairs per second."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def render(self, task: Task) -> Text:
        pairs = self._watch.stats.counts["pairs"]
        return Text(f"{counted(pairs, 'pair')}, {rate(pairs / max(self._watch.stats.wall, 1e-9))}/s")


def of_pairs(watch: Watch) -> Progress:
    """Return the progress bar of a run over files of pairs."""
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        _PairRate(watch),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=console(), transient=True)


def of_one_pair() -> Progress:
    """Return the progress bar of one long pair."""
    columns = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[rest]}")]
    return Progress(*columns, console=console(), transient=True)
