"""Callbacks of a long run: messages, cancellation and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Watchers:
    """Callbacks of a long run.

    Attributes:
        note: receives messages for verbose output.
        warn: receives warnings.
        stop: polled between slices; returns True if the run should stop.
        clock: returns the time in seconds.
    """

    note: Callable[[str], None] = field(default=lambda _: None)
    warn: Callable[[str], None] = field(default=lambda _: None)
    stop: Callable[[], bool] = field(default=lambda: False)
    clock: Callable[[], float] = time.perf_counter
