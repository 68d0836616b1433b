"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

from ..run import Watch
from .console import console, note
from .report import rate

_LINE_SECONDS = 10.0
_BAR_SECONDS = 0.2


class _PairRate(ProgressColumn):
    """Pairs so far and per second."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def render(self, task: Task) -> Text:
        pairs = self._watch.stats.counts["pairs"]
        return Text(f"{pairs:,} pairs, {rate(pairs / max(self._watch.stats.wall, 1e-9))}/s")


@contextmanager
def shown(watch: Watch, bar: bool | None, quiet: bool) -> Iterator[None]:
    """Shows a run's progress while the block runs.

    Args:
        watch: the run.
        bar: True or None show it, False does not.
        quiet: shows nothing.
    """
    if quiet or bar is False:
        yield
    elif console.is_terminal:
        with _bar(watch):
            yield
    else:
        with _every(_LINE_SECONDS, lambda: note(_line(watch))):
            yield


@contextmanager
def _bar(watch: Watch) -> Iterator[None]:
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        _PairRate(watch),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("aligning", total=watch.bytes_total)
        with _every(_BAR_SECONDS, lambda: progress.update(task, completed=watch.bytes_read())):
            yield


@contextmanager
def _every(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Calls act in a thread of its own until the block ends."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            act()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _line(watch: Watch) -> str:
    pairs, wall = watch.stats.counts["pairs"], watch.stats.wall
    done = ""
    if watch.bytes_total:
        share = watch.bytes_read() / watch.bytes_total
        done = f", {100 * share:.0f}% of the input read"
    return f"{pairs:,} pairs in {wall:.0f} s, {rate(pairs / wall)} pairs/s{done}"
