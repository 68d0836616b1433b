"""A batch through its rungs: what one kernel cannot finish goes to the next."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..batch import AlignmentBatch, PairBatch, PartialResult, Status, every_row
from ..config import AlignSpec, Limits
from ..dispatch import Route, after, route
from ..estimate import with_estimates
from ..forecast import KERNELS, on_gpu
from ..reasons import reasons
from ..resorts import TOGETHER, estimate_of, is_final, last_tries
from ..stats import Stats
from .base import Engine
from .parts import gather

_GETTING_READY = 2  # batches for each card that get their estimates and routes at a time


def turns_of(cards: int) -> AbstractContextManager[Any]:
    """What batches of a run get ready in, so many cards being beside the CPU: few at a time.

    All at once would be ready at once, and late: until then the cards would have nothing to do.
    """
    return threading.BoundedSemaphore(_GETTING_READY * cards) if cards else nullcontext()


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
    # A card's first, as the CPU aligns some routes while they are submitted.
    first = sorted(routes, key=lambda r: not on_gpu(r.kernel))
    waiting: list[tuple[Route, Any, tuple[str, ...]]] = [(r, engine.submit(pairs, r), ()) for r in first]
    for r in routes:
        stats.add("routed", {r.kernel: len(r.rows)})
    parts: list[PartialResult] = []
    origins: list[int] = []
    left: list[tuple[int, tuple[str, ...]]] = []  # rows for which memory was too small, and what they had alone
    while waiting:
        done, ticket, before = waiting.pop(0)
        part = engine.collect(ticket)
        parts.append(part)
        origins.append(KERNELS.index(done.kernel))
        if not np.count_nonzero(part.status):
            continue
        tried = before if done.kernel in TOGETHER and len(done.rows) > 1 else (*before, done.kernel)
        ways = after(done, part.status, part.rows, spec, pairs, limits)
        short = part.rows[part.status == np.uint8(Status.MEMORY_LIMIT)]
        if len(short):
            onward = np.concatenate([way.rows for way in ways]) if ways else every_row(0)
            left += [(row, tried) for row in np.setdiff1d(short, onward).tolist()]
        for further in ways:
            reason = Status(int(part.status[np.flatnonzero(part.rows == further.rows[0])[0]])).name
            _count_handed_on(stats, done.kernel, reason, further)
            waiting.append((further, engine.submit(pairs, further), tried))
    for row, tried in left:
        if found := _tried_alone(engine, pairs, row, tried, spec, stats):
            parts.append(found[0])
            origins.append(KERNELS.index(found[1]))
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


def _tried_alone(
    engine: Engine, pairs: PairBatch, row: int, tried: tuple[str, ...], spec: AlignSpec, stats: Stats
) -> tuple[PartialResult, str] | None:
    """Return an answer for a pair that others had too little memory for, and its kernel; see resorts."""
    pair, alone = pairs.part(np.array([row])), every_row(1)
    last = tried[-1] if tried else ""
    for kernel, edits in last_tries(spec, tried, int(pair.est_edits[0]), estimate_of(pair, spec)):
        way = Route(alone, kernel)
        part = engine.collect(engine.submit(pair.with_edits(np.array([edits], np.int32)), way))
        if is_final(int(part.status[0]), spec):
            _count_handed_on(stats, last or kernel, Status.MEMORY_LIMIT.name, way)
            return dataclasses.replace(part, rows=np.array([row], np.int32)), kernel
    return None


def _count_handed_on(stats: Stats, kernel: str, reason: str, to: Route) -> None:
    stats.add("retried", {reason: len(to.rows)})
    stats.add("handed_on", {(kernel, reason, to.kernel): len(to.rows)})


def _by_status(status: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Counter[str]:
    return Counter({Status(int(s)).name: int(n) for s, n in zip(*np.unique(status, return_counts=True), strict=True)})
