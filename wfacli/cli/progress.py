"""Progress display: a bar on a terminal, otherwise a line every 10 s."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core.stats import counted
from .console import is_terminal, note
from .progress_line import ProgressLine, line, seconds
from .report import rate

if TYPE_CHECKING:
    from ..run.parts import Watch

_LINE_SECONDS = 10.0
_BAR_SECONDS = 0.2


@contextmanager
def shown(watch: Watch, bar: bool | None, quiet: bool, words: str = "aligning") -> Iterator[None]:
    """Show a run's progress while the block runs.

    Args:
        watch: progress counters of the run.
        bar: False to show nothing; True or None to show progress.
        quiet: True to show nothing.
        words: what is done, for the bar.
    """
    if quiet or bar is False:
        yield
    elif is_terminal():
        with _bar(watch, words):
            yield
    else:
        with _every(_LINE_SECONDS, lambda: note(_line(watch))):
            yield


@contextmanager
def _bar(watch: Watch, words: str) -> Iterator[None]:
    from . import bars

    with bars.of_pairs(watch) as progress:
        task = progress.add_task(words, total=watch.bytes_total)
        with _every(_BAR_SECONDS, lambda: progress.update(task, completed=watch.bytes_read())):
            yield


@contextmanager
def shown_long(current: Callable[[], ProgressLine], bar: bool | None, quiet: bool) -> Iterator[None]:
    """Show the progress of one long pair while the block runs; `bar` and `quiet` as in shown()."""
    begun = time.perf_counter()
    if quiet or bar is False:
        yield
    elif is_terminal():
        from . import bars

        with bars.of_one_pair() as progress:
            task = progress.add_task("reading", total=None, rest="")
            with _every(_BAR_SECONDS, lambda: progress.update(task, **_as_task(current()))):
                yield
    else:
        with _every(_LINE_SECONDS, lambda: note(line(current(), time.perf_counter() - begun))):
            yield


def _as_task(now: ProgressLine) -> dict[str, Any]:
    """Return the fields of rich's task; the bar pulses if the share of the work is unknown."""
    known = now.fraction_done is not None
    return {
        "description": now.words,
        "total": 1.0 if known else None,
        "completed": now.fraction_done if known else 0,
        "rest": "" if now.remaining_seconds is None else f"about {seconds(now.remaining_seconds)} to go",
    }


@contextmanager
def _every(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` every `seconds` in a separate thread until the block ends."""
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
        fraction = watch.bytes_read() / watch.bytes_total
        done = f", {100 * fraction:.0f}% of the input read"
    return f"{counted(pairs, 'pair')} in {wall:.0f} s, {rate(pairs / wall)} pairs/s{done}"
