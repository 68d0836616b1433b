"""Numbers of shards as ranges."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as ranges, like 1-3,7, which the array jobs of schedulers accept."""
    runs = itertools.groupby(enumerate(numbers), lambda item: item[1] - item[0])
    groups = [[number for _, number in members] for _, members in runs]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in groups)
