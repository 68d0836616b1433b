"""A batch through its rungs: what one kernel cannot finish goes to the next."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..batch import AlignmentBatch, PairBatch, PartialResult, Status, gather
from ..config import AlignSpec, Limits
from ..dispatch import CPU_KERNELS, next_rung, route
from ..stats import Stats
from .base import Engine


def align_batch(engine: Engine, pairs: PairBatch, spec: AlignSpec, limits: Limits, stats: Stats) -> AlignmentBatch:
    """Aligns every pair of a batch, or gives it the status of its last rung. Raises Cancelled."""
    waiting = [(r, engine.submit(pairs, r)) for r in route(pairs, spec, limits)]
    parts: list[PartialResult] = []
    origins: list[int] = []
    while waiting:
        done, ticket = waiting.pop(0)
        part = engine.collect(ticket)
        parts.append(part)
        origins.append(CPU_KERNELS.index(done.kernel))
        further = next_rung(done.kernel, part.status, part.rows)
        if further:
            stats.add("retried", _by_status(part.status[np.isin(part.rows, further.rows)]))
            waiting.append((further, engine.submit(pairs, further)))
    result = gather(parts, origins, pairs, CPU_KERNELS)
    aligned = result.status == Status.OK
    every = bool(aligned.all())
    kernels = np.bincount(result.origin if every else result.origin[aligned], minlength=len(CPU_KERNELS))
    stats.add("kernels", {name: int(n) for name, n in zip(CPU_KERNELS, kernels, strict=True) if n})
    if not every:
        stats.add("unaligned", _by_status(result.status[~aligned]))
    return result


def _by_status(status: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Counter[str]:
    return Counter({Status(int(s)).name: int(n) for s, n in zip(*np.unique(status, return_counts=True), strict=True)})
