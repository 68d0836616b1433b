"""A batch through its rungs: what one kernel cannot finish goes to the next."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..config import AlignSpec, Limits
from ..core.batch import AlignmentBatch, PairBatch, PartialResult, Status
from ..core.route import Route
from ..core.stats import Stats
from ..plan.dispatch import route
from ..plan.estimate import with_estimates
from ..plan.forecast import KERNELS, on_gpu
from ..plan.reasons import reasons
from ..plan.retry import after
from .base import Engine
from .parts import gather

_GETTING_READY = 2  # batches for each GPU that get their estimates and routes at a time


def turns_of(gpus: int) -> AbstractContextManager[Any]:
    """What batches of a run get ready in, so many GPUs being beside the CPU: few at a time.

    All at once would be ready at once, and late: until then the GPUs would have nothing to do.
    """
    return threading.BoundedSemaphore(_GETTING_READY * gpus) if gpus else nullcontext()


def align_in_turn(
    engine: Engine,
    pairs: PairBatch,
    spec: AlignSpec,
    limits: Limits,
    stats: Stats,
    turns: AbstractContextManager[Any],
    forced: str | None = None,
) -> AlignmentBatch:
    """align_batch() after with_estimates(); `turns`: those of the run. Raises Cancelled."""
    gpu = engine.name == "gpu"
    with turns:
        pairs = with_estimates(pairs, spec, gpu)
        routes = route(pairs, spec, limits, forced, gpu)
    return _through(engine, pairs, routes, spec, limits, stats)


def align_batch(
    engine: Engine, pairs: PairBatch, spec: AlignSpec, limits: Limits, stats: Stats, forced: str | None = None
) -> AlignmentBatch:
    """Aligns every pair of a batch, or gives it the status of its last rung; see dispatch.route. Raises Cancelled."""
    return _through(engine, pairs, route(pairs, spec, limits, forced, engine.name == "gpu"), spec, limits, stats)


def _through(
    engine: Engine, pairs: PairBatch, routes: list[Route], spec: AlignSpec, limits: Limits, stats: Stats
) -> AlignmentBatch:
    if stats.promises is not None:
        for pair, promise in reasons(pairs, spec, limits, routes, engine.name == "gpu").items():
            stats.add_promise(pair, promise)
    # A GPU's first, as the CPU aligns some routes while they are submitted.
    waiting = [(r, engine.submit(pairs, r)) for r in sorted(routes, key=lambda r: not on_gpu(r.kernel))]
    for r in routes:
        stats.add("routed", {r.kernel: len(r.rows)})
    parts: list[PartialResult] = []
    origins: list[int] = []
    while waiting:
        done, ticket = waiting.pop(0)
        part = engine.collect(ticket)
        parts.append(part)
        origins.append(KERNELS.index(done.kernel))
        for further in after(done, part.status, part.rows, spec, pairs, limits):
            reason = Status(int(part.status[np.flatnonzero(part.rows == further.rows[0])[0]])).name
            stats.add("retried", {reason: len(further.rows)})
            stats.add("handed_on", {(done.kernel, reason, further.kernel): len(further.rows)})
            waiting.append((further, engine.submit(pairs, further)))
    result = gather(parts, origins, pairs, KERNELS)
    unaligned = np.count_nonzero(result.status)
    if not unaligned and len(parts) == 1:  # as most batches are: no need to look at rows
        stats.add("kernels", {KERNELS[origins[0]]: len(pairs)})
        return result
    aligned = result.status == np.uint8(Status.OK)
    kernels = np.bincount(result.origin[aligned], minlength=len(KERNELS))
    stats.add("kernels", {name: int(n) for name, n in zip(KERNELS, kernels, strict=True) if n})
    if unaligned:
        stats.add("unaligned", _by_status(result.status[~aligned]))
    return result


def _by_status(status: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Counter[str]:
    return Counter({Status(int(s)).name: int(n) for s, n in zip(*np.unique(status, return_counts=True), strict=True)})
