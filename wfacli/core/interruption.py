"""Deferral of the exception that a signal handler raises, for steps that must be complete or not begun."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_deferring = False
_pending: Callable[[], None] | None = None


@contextmanager
def deferred() -> Iterator[None]:
    """Run the block without interruption by raise_or_defer(); what that deferred is raised after the block.

    For blocks that end soon. Does nothing within another such block, and in threads other than the main thread, in
    which Python runs signal handlers.
    """
    global _deferring, _pending
    if _deferring or threading.current_thread() is not threading.main_thread():
        yield
        return
    _deferring = True
    try:
        yield
    finally:
        _deferring = False
        if raising := _pending:
            _pending = None
            raising()


def is_deferring() -> bool:
    """Return True within a block of deferred()."""
    return _deferring


def raise_or_defer(raising: Callable[[], None]) -> None:
    """Call a function that raises, now or at the end of the block of deferred() that is running."""
    global _pending
    if _deferring:
        _pending = raising
    else:
        raising()
