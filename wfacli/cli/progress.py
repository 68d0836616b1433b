"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
from .distance_report import Standing, line, seconds
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
def shown_long(look: Callable[[], Standing], bar: bool | None, quiet: bool) -> Iterator[None]:
    """Shows how far one long pair is while the block runs; options as in shown()."""
    begun = time.perf_counter()
    if quiet or bar is False:
        yield
    elif console.is_terminal:
        columns = [
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[rest]}"),
        ]
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("reading", total=None, rest="")
            with _every(_BAR_SECONDS, lambda: progress.update(task, **_as_task(look()))):
                yield
    else:
        with _every(_LINE_SECONDS, lambda: note(line(look(), time.perf_counter() - begun))):
            yield


def _as_task(now: Standing) -> dict[str, Any]:
    """What rich's bar shows of a run: it swings where there is no telling how far it is."""
    known = now.share is not None
    return {
        "description": now.words,
        "total": 1.0 if known else None,
        "completed": now.share if known else 0,
        "rest": "" if now.rest is None else f"about {seconds(now.rest)} to go",
    }


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
