"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core.stats import counted
from .console import is_terminal, note
from .report import rate
from .standing import Standing, line, seconds

if TYPE_CHECKING:
    from ..run.batch_run import Watch

_LINE_SECONDS = 10.0
_BAR_SECONDS = 0.2


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
    elif is_terminal():
        with _bar(watch):
            yield
    else:
        with _every(_LINE_SECONDS, lambda: note(_line(watch))):
            yield


@contextmanager
def _bar(watch: Watch) -> Iterator[None]:
    from . import bars

    with bars.of_pairs(watch) as progress:
        task = progress.add_task("aligning", total=watch.bytes_total)
        with _every(_BAR_SECONDS, lambda: progress.update(task, completed=watch.bytes_read())):
            yield


@contextmanager
def shown_long(look: Callable[[], Standing], bar: bool | None, quiet: bool) -> Iterator[None]:
    """Shows how far one long pair is while the block runs; options as in shown()."""
    begun = time.perf_counter()
    if quiet or bar is False:
        yield
    elif is_terminal():
        from . import bars

        with bars.of_one_pair() as progress:
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
    return f"{counted(pairs, 'pair')} in {wall:.0f} s, {rate(pairs / wall)} pairs/s{done}"
