"""Execution of a plan: submits each route to the engine, and retries failed pairs with the next kernel."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .._native import count_nonzero
from ..core.batch import AlignmentBatch, PairBatch, PartialResult, Status
from ..core.route import Route, on_gpu
from ..core.stats import Stats
from ..plan.planner import Planner
from ..plan.reasons import reasons
from .base import Engine
from .parts import gather


def align_batch(engine: Engine, pairs: PairBatch, planner: Planner, stats: Stats) -> AlignmentBatch:
    """Plan and align a batch; a failed pair gets the status of the last kernel that tried it. Raises Cancelled."""
    plan = planner.plan(pairs)
    return execute(engine, plan.pairs, plan.routes, planner, stats)


def execute(engine: Engine, pairs: PairBatch, routes: list[Route], planner: Planner, stats: Stats) -> AlignmentBatch:
    """Align a batch whose first routes are given; see align_batch. Raises Cancelled."""
    if stats.expected_times is not None:
        for names, time in reasons(pairs, planner.spec, planner.limits, routes, planner.gpu).items():
            stats.add_expected_time(names, time)
    # Submit GPU routes first: some CPU routes are aligned while they are submitted (hybrid.py).
    waiting = [(r, engine.submit(pairs, r)) for r in sorted(routes, key=lambda r: not on_gpu(r.kernel))]
    for r in routes:
        stats.add("routed", {r.kernel: len(r.rows)})
    parts: list[PartialResult] = []
    origins: list[str] = []
    while waiting:
        done, ticket = waiting.pop(0)
        part = engine.collect(ticket)
        parts.append(part)
        origins.append(done.kernel)
        for further in planner.further(done, part.status, part.rows, pairs):
            reason = Status(int(part.status[np.flatnonzero(part.rows == further.rows[0])[0]])).name
            stats.add("retried", {reason: len(further.rows)})
            stats.add("handed_on", {(done.kernel, reason, further.kernel): len(further.rows)})
            waiting.append((further, engine.submit(pairs, further)))
    used = tuple(dict.fromkeys(origins))
    result = gather(parts, list(map(used.index, origins)), pairs, used)
    unaligned = count_nonzero(result.status)
    if not unaligned and len(parts) == 1:  # most batches: no per-row counts needed
        stats.add("kernels", {used[0]: len(pairs)})
        return result
    aligned = result.status == np.uint8(Status.OK)
    kernels = np.bincount(result.origin[aligned], minlength=len(used))
    stats.add("kernels", {name: int(n) for name, n in zip(used, kernels, strict=True) if n})
    if unaligned:
        stats.add("unaligned", by_status(result.status[~aligned]))
    return result


def by_status(status: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Counter[str]:
    """Return how many pairs have each status (u8[n]), by its name."""
    # np.unique would import numpy.ma.
    return Counter({Status(s).name: n for s, n in enumerate(np.bincount(status).tolist()) if n})
