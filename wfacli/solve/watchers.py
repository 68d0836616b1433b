"""Who is told what happens in a long run, and may stop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Watchers:
    """Who is told what happens.

    Attributes:
        note: gets what only some want to know.
        warn: gets what everybody should.
        stop: asked between two slices whether to stop.
        clock: seconds.
    """

    note: Callable[[str], None] = field(default=lambda _: None)
    warn: Callable[[str], None] = field(default=lambda _: None)
    stop: Callable[[], bool] = field(default=lambda: False)
    clock: Callable[[], float] = time.perf_counter
