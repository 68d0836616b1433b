"""Further routes: where pairs go that a kernel could not align. Pure functions of columns."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._native import count_nonzero
from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, U8, PairBatch, Status
from ..core.route import Route, on_gpu
from .forecast import Forecast, lanes_support
from .kernels import CAPPED, DIFFERENCE, LINEAR, READS, dense_kernel, fallback, most_in_table
from .traits import free_in_query, plainly_global


class WiderKernels(Protocol):
    """Finds GPU kernels that reach further; gpu_routes.GpuRoutes."""

    def wide_enough(self, done: Route, pairs: PairBatch, rows: I32) -> list[Route]:
        """Return routes for rows (i32[m]) that cost more than a GPU kernel reaches."""


def after(
    done: Route,
    status: U8,
    rows: I32,
    spec: AlignSpec,
    pairs: PairBatch,
    limits: Limits,
    wider: WiderKernels | None = None,
) -> list[Route]:
    """Return routes for rows that a route answered with a status; rows whose status is final are left out.

    Args:
        done: the route.
        status: u8[m].
        rows: i32[m].
        spec: what to compute.
        pairs: the batch.
        limits: bounds on memory.
        wider: GPU kernels for rows that cost more than one reaches; needed for routes to a GPU.
    """
    if not count_nonzero(status):
        return []
    left = np.flatnonzero(status)
    status, rows = status[left], rows[left]
    if done.kernel == CAPPED and (status == Status.MEMORY_LIMIT).any():
        return _beyond_the_table(status, rows, spec, pairs, limits)
    if done.kernel == CAPPED and free_in_query(spec):
        return _short_in_lanes(fallbacks(CAPPED, status, rows, spec), spec, pairs)
    if done.kernel == LINEAR and done.again:
        return fallbacks(CAPPED, status, rows, spec)
    if not on_gpu(done.kernel) or spec.max_cost is not None or not plainly_global(spec):
        return fallbacks(done.kernel, status, rows, spec)
    narrow = status == Status.SCORE_LIMIT
    routes = fallbacks(done.kernel, status[~narrow], rows[~narrow], spec)
    if not narrow.any():
        return routes
    if done.again or wider is None:
        return [*routes, Route(rows[narrow], dense_kernel(spec))]
    return [*routes, *wider.wide_enough(done, pairs, rows[narrow])]


def fallbacks(kernel: str, status: U8, rows: I32, spec: AlignSpec) -> list[Route]:
    """Return routes of rows (i32[m]) with a status (u8[m]) to the kernel's fallbacks."""
    if not np.count_nonzero(status):
        return []
    reasons = [Status(reason) for reason in np.flatnonzero(np.bincount(status)).tolist()]
    following = {reason: to for reason in reasons if (to := fallback(kernel, reason, spec))}
    return [Route(rows[status == reason], to) for reason, to in following.items()]


def _short_in_lanes(routes: list[Route], spec: AlignSpec, pairs: PairBatch) -> list[Route]:
    """Return the routes, with short pairs of DIFFERENCE sent to READS if they fill a vector; ends are free."""
    found: list[Route] = []
    for part in routes:
        lanes = lanes_support(pairs.subset(part.rows), spec) & (part.kernel == DIFFERENCE)
        lanes &= np.count_nonzero(lanes) >= tuning.READS_MIN_PAIRS
        found += [Route(part.rows[some], to) for some, to in ((~lanes, part.kernel), (lanes, READS)) if some.any()]
    return found


def _beyond_the_table(status: U8, rows: I32, spec: AlignSpec, pairs: PairBatch, limits: Limits) -> list[Route]:
    """Return routes of rows (i32[m]) of which some have more edits than fit a table, and so more than estimated.

    Of these, pairs that are long for their edits stay with the wavefront: a band would be as long as they are.
    """
    full = np.flatnonzero(status == Status.MEMORY_LIMIT)
    some = pairs.subset(rows[full])
    least = np.int32(most_in_table(spec, limits))
    forecast = Forecast(some.with_edits(np.maximum(some.est_edits, least)), spec, limits)
    linear = full[forecast.microseconds(LINEAR) < forecast.microseconds(dense_kernel(spec))]
    others = np.delete(np.arange(len(rows)), linear)
    routes = fallbacks(CAPPED, status[others], rows[others], spec)
    return [*routes, Route(rows[linear], LINEAR, again=True)] if len(linear) else routes
