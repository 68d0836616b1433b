"""Where a pair goes that a kernel gives up. Pure functions of columns."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, U8, PairBatch, Status, every_row
from ..core.route import Route
from . import jobs, rungs
from .dispatch import dense_kernel, few_and_short, for_gpu, raised, whole_matrix, with_many_estimates
from .forecast import (
    BITS,
    CAPPED,
    DIFFERENCE,
    GOTOH,
    INSIDE,
    LINEAR,
    READS,
    STRIPES,
    TABLE,
    Forecast,
    Units,
    free_in_query,
    is_edit,
    lanes_serve,
    most_in_table,
    on_gpu,
    plainly_global,
)
from .offers import reached


def after(
    done: Route, status: U8, rows: I32, spec: AlignSpec, pairs: PairBatch, limits: Limits | None = None
) -> list[Route]:
    """Where rows (i32[m]) of a batch go that a route answered with status (u8[m]); those with no way on are left out.

    What a kernel of the GPU does not reach gets one more job there, wide enough for nearly all, or goes to the CPU.
    """
    left = np.flatnonzero(status)
    if not len(left):
        return []
    status, rows = status[left], rows[left]  # of many mostly few
    if done.kernel == CAPPED and (status == Status.MEMORY_LIMIT).any():
        return _beyond_the_table(status, rows, spec, pairs, limits or Limits())
    if done.kernel == CAPPED and free_in_query(spec):
        return _dense_ends(next_rung(CAPPED, status, rows, spec), spec, pairs)
    if done.kernel == LINEAR and done.again:
        return next_rung(CAPPED, status, rows, spec)
    if not on_gpu(done.kernel) or spec.max_cost is not None or not plainly_global(spec):
        return next_rung(done.kernel, status, rows, spec)
    narrow = status == Status.SCORE_LIMIT
    routes = next_rung(done.kernel, status[~narrow], rows[~narrow], spec)
    if not narrow.any():
        return routes
    if done.again:
        return [*routes, Route(rows[narrow], dense_kernel(spec))]
    return [*routes, *_wide_enough(done, pairs, rows[narrow], spec, limits or Limits())]


def _dense_ends(routes: list[Route], spec: AlignSpec, pairs: PairBatch) -> list[Route]:
    """The same routes; of those to DIFFERENCE short pairs with free ends go to READS if they fill a vector."""
    found: list[Route] = []
    for way in routes:
        lanes = lanes_serve(pairs.part(way.rows), spec) & (way.kernel == DIFFERENCE)
        lanes &= np.count_nonzero(lanes) >= tuning.READS_TOGETHER
        found += [Route(way.rows[some], to) for some, to in ((~lanes, way.kernel), (lanes, READS)) if some.any()]
    return found


def _beyond_the_table(status: U8, rows: I32, spec: AlignSpec, pairs: PairBatch, limits: Limits) -> list[Route]:
    """Next routes of rows (i32[m]) of which some have more edits than fit a table, and so more than was estimated.

    Of these the ones that are long for their edits are still the wavefront's: a band would be as long as they are.
    """
    full = np.flatnonzero(status == Status.MEMORY_LIMIT)
    some = pairs.part(rows[full])
    least = np.int32(most_in_table(spec, limits))
    forecast = Forecast(some.with_edits(np.maximum(some.est_edits, least)), spec, limits)
    linear = full[forecast.microseconds(LINEAR) < forecast.microseconds(dense_kernel(spec))]
    others = np.delete(np.arange(len(rows)), linear)
    routes = next_rung(CAPPED, status[others], rows[others], spec)
    return [*routes, Route(rows[linear], LINEAR, again=True)] if len(linear) else routes


def next_rung(kernel: str, status: U8, rows: I32, spec: AlignSpec) -> list[Route]:
    """Where rows (i32[m]) go that a kernel answered with status (u8[m]), going by the kernel alone."""
    if not np.count_nonzero(status):
        return []
    found = np.flatnonzero(np.bincount(status)).tolist()
    ways = {reason: to for reason in found if (to := _next(kernel, Status(reason), spec))}
    return [Route(rows[status == reason], to) for reason, to in ways.items()]


def _next(kernel: str, status: Status, spec: AlignSpec) -> str | None:
    dense = dense_kernel(spec)
    if on_gpu(kernel):
        return _next_of_gpu(kernel, status, spec)
    if kernel in BITS:
        wider = f"bits-{2 * 64 * BITS[kernel]}"
        if status is Status.SCORE_LIMIT and wider in BITS:
            return wider
        if status is Status.UNSUPPORTED:
            return CAPPED
        return None if status in (Status.OK, Status.DROPPED) else STRIPES
    if kernel == READS:
        return None if status in (Status.OK, Status.DROPPED) else dense
    if kernel == CAPPED:
        return dense if status in (Status.WORK_LIMIT, Status.MEMORY_LIMIT) else None
    if kernel == INSIDE:
        return whole_matrix(spec) if status in (Status.UNSUPPORTED, Status.MEMORY_LIMIT, Status.WORK_LIMIT) else None
    if kernel == GOTOH:
        return TABLE if status is Status.UNSUPPORTED and spec.heuristics else None
    if kernel in (STRIPES, DIFFERENCE) and status is Status.UNSUPPORTED:
        return TABLE
    if status is Status.WORK_LIMIT:
        return GOTOH
    if status is Status.MEMORY_LIMIT:
        if kernel in (STRIPES, DIFFERENCE, TABLE):
            return LINEAR
        return GOTOH if kernel == LINEAR and not spec.heuristics else None
    return None


def _wide_enough(done: Route, pairs: PairBatch, rows: I32, spec: AlignSpec, limits: Limits) -> list[Route]:
    """Routes for rows that cost more than a kernel of the GPU reaches; of many pairs some speak for all."""
    if few_and_short(pairs, rows):
        return [Route(rows, dense_kernel(spec))]
    some = pairs.part(rows)
    failed = reached(done.kernel, done.cut, some, spec, _bands_of(done, rows, len(pairs)))
    unknown = np.full(len(rows), -1, np.int32)
    few = len(rows) <= jobs.SAMPLE
    some = raised(with_many_estimates(some, spec), failed, spec) if few else some.with_edits(unknown)
    routes = for_gpu(some, every_row(len(rows)), spec, limits, few_on_cpu=True, failed=failed)
    return [dataclasses.replace(r, rows=rows[r.rows]) for r in routes]


def _bands_of(done: Route, rows: I32, count: int) -> I32 | None:
    """Those of some rows of a batch of so many, if the route had bands."""
    if done.bands is None:
        return None
    bands: I32 = np.zeros(count, np.int32)
    bands[done.rows] = done.bands
    return bands[rows]


def _next_of_gpu(kernel: str, status: Status, spec: AlignSpec) -> str | None:
    if status in (Status.OK, Status.DROPPED):
        return None
    if spec.heuristics:
        return TABLE  # which keeps to the same band
    dense, costs = dense_kernel(spec), Units.of(spec)
    if status is Status.SCORE_LIMIT:
        if spec.max_cost is None:
            return rungs.further(kernel, is_edit(spec), costs.mismatch, costs.gaps, not spec.score_only) or dense
        # Bands do not tell what they cannot prove from what costs too much.
        return None if rungs.decides(kernel, costs.mismatch, costs.gaps, costs.bound(spec)) else dense
    # Other letters, or a GPU that fails: pairs of any kind.
    return CAPPED if status is Status.UNSUPPORTED and spec.max_cost is None else dense
