"""First routes on the CPU: which kernel each pair of a batch goes to. Pure functions of columns.

Every kernel computes the same alignment, so the choice is one of time: the kernel with the least expected time of
those that support a pair. Routes beside a GPU are in gpu_routes.py.
"""

from __future__ import annotations

import numpy as np

from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, PairBatch, all_rows
from ..core.route import Route, on_gpu
from .forecast import ALIKE, F64, Forecast, forecaster, in_lanes, surely_inside
from .kernels import CAPPED, GOTOH, INSIDE, READS, TABLE, candidates
from .traits import free_in_target, steep_extension

SAMPLE = 64  # pairs that represent a batch
_MAX_ROWS, _MAX_BASES, _MAX_LONGEST = 256, 64_000, 1_000  # of a batch that takes a thread 2 ms at most
_MANY_TURNS = 10_000  # pairs, as costly as the costliest, from which on their order hardly changes when a GPU ends


def first_routes(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> list[Route]:
    """Return routes that together have every row of a batch once.

    Args:
        pairs: the batch, of which all, few or no pairs have an estimate.
        spec: what to compute.
        limits: bounds on memory.
    """
    rows, none = all_rows(len(pairs)), all_rows(0)
    short, others = in_lanes(pairs, spec)
    if free_in_target(spec) and len(short) < len(pairs):
        return _where_ends_are_free(pairs, spec, limits)
    if len(short):
        split = (Route(short, READS, sample=none), Route(others, CAPPED, sample=none))
        return [part for part in split if len(part.rows)]
    if steep_extension(spec):
        return _steep_extensions(pairs)
    only, sample = _one_for_all(pairs, spec, limits)
    if only:
        return [Route(rows, only, sample=sample)]
    names = candidates(spec)
    return [Route(rows, names[kernel]) for kernel, rows in forecaster(spec, limits, names).fastest(pairs)]


def forced_route(pairs: PairBatch, kernel: str) -> Route:
    """Return the route of all rows to a kernel that the user has chosen."""
    rows = all_rows(len(pairs))
    return Route(costliest_first(rows, pairs) if on_gpu(kernel) else rows, kernel, sample=all_rows(0))


def routes_in_bands(pairs: PairBatch, kernels: list[str]) -> list[Route]:
    """Return the routes of a batch to GPU kernels for a heuristic band.

    The second kernel, if there is one, gets the pairs that would keep an otherwise idle GPU busy, and begins first.
    """
    rows = costliest_first(all_rows(len(pairs)), pairs)
    edits = pairs.est_edits[rows]
    share = edits.sum(dtype=np.float64) / tuning.GPU_MULTIPROCESSORS
    exclusive = int(np.count_nonzero(edits * tuning.GPU_BAND_EXCLUSIVE > share))
    if len(kernels) < 2 or edits.min() < 0 or not 0 < exclusive <= tuning.GPU_MULTIPROCESSORS:
        return [Route(rows, kernels[0], sample=all_rows(0))]
    parts = (rows[:exclusive], kernels[1]), (rows[exclusive:], kernels[0])
    return [Route(some, kernel, sample=all_rows(0)) for some, kernel in parts if len(some)]


def _where_ends_are_free(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> list[Route]:
    """Return each pair's own kernel where most have an estimate; else the kernel that is best for those that have.

    If none has, short pairs get the kernel that is best for a sample: a forecast of each costs more than it saves.
    """
    sure = surely_inside(pairs, spec)
    if sure.all():
        return [Route(all_rows(len(pairs)), INSIDE, sample=all_rows(0))]
    names, estimated = candidates(spec), pairs.rows_with_edits
    sampled = 0 < len(estimated) <= np.count_nonzero(~sure) / 2
    representative = estimated if sampled else _sample_of_short(pairs)
    if len(representative):
        choice = np.full(len(pairs), expected_us(pairs.subset(representative), spec, limits).sum(axis=1).argmin())
    else:
        choice = expected_us(pairs, spec, limits).argmin(axis=0)
    if sure.any():
        choice[sure] = names.index(INSIDE)
    found = []
    for k in np.flatnonzero(np.bincount(choice)).tolist():  # np.unique would import numpy.ma
        rows = np.flatnonzero(choice == k).astype(np.int32)
        unsure = rows[~sure[rows]]
        found.append(Route(rows, names[k], sample=estimated if sampled and len(unsure) else unsure))
    return found


def _sample_of_short(pairs: PairBatch) -> I32:
    """Return rows that represent a batch of short pairs without estimates; none for other batches."""
    if len(pairs) <= SAMPLE or len(pairs.rows_with_edits) or pairs.longest > _MAX_LONGEST:
        return all_rows(0)
    return _evenly_spaced(pairs)


def _evenly_spaced(pairs: PairBatch) -> I32:
    return np.arange(0, len(pairs), max(len(pairs) // SAMPLE, 1), dtype=np.int32)


def _steep_extensions(pairs: PairBatch) -> list[Route]:
    """Return routes of extensions under steep costs, whose length and edits are not known in advance.

    Where all cells would take long, the wavefront goes first: it ends at once where edits are few, and gives up before
    it takes much longer than all cells do.
    """
    many = pairs.q_len.astype(np.int64) * pairs.t_len > tuning.MANY_CELLS
    split = ((GOTOH, np.flatnonzero(~many)), (TABLE, np.flatnonzero(many)))
    return [Route(rows.astype(np.int32), kernel, sample=all_rows(0)) for kernel, rows in split if len(rows)]


def expected_us(pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool = False) -> F64:
    """Return microseconds (f64[candidates, n]); infinite where a kernel does not support a pair."""
    forecast = Forecast(pairs, spec, limits, gpu)
    return np.array([forecast.microseconds(name) for name in candidates(spec, gpu)])


def best_for_all(pairs: PairBatch, rows: I32, spec: AlignSpec, limits: Limits) -> str | None:
    """Return the best single first kernel for a batch, by a sample of rows; None where a choice per pair is faster.

    A choice per pair needs an estimate of each; one kernel for all loses the time of the pairs that it fails.
    """
    names = candidates(spec)
    best = forecaster(spec, limits, names).best_single_kernel(pairs, rows, tuning.ROUTING_PER_PAIR)
    return None if best is None else names[best]


def _one_for_all(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> tuple[str | None, I32]:
    """Return best_for_all of a batch of which most pairs have no estimate, and its sample."""
    estimated = pairs.rows_with_edits
    if len(estimated) > len(pairs) / 2:
        return None, estimated
    rows = estimated if len(estimated) else _evenly_spaced(pairs)
    return best_for_all(pairs, rows, spec, limits), rows


def longest_first(rows: I32, pairs: PairBatch) -> I32:
    """Return rows in the best order for a kernel whose work grows with the length; see CostTable.slowest_first."""
    longest = np.maximum(pairs.q_len[rows], pairs.t_len[rows])
    return rows if longest.max() <= ALIKE * longest.min() else rows[np.argsort(-longest, kind="stable")]


def costliest_first(rows: I32, pairs: PairBatch) -> I32:
    """Return rows in the best order for a wavefront, if each has an estimate and the order makes a difference."""
    edits = pairs.est_edits[rows]
    unlike = edits.min() >= 0 and edits.max() > ALIKE * edits.min()
    return rows[np.argsort(-edits, kind="stable")] if unlike and edits.sum() < _MANY_TURNS * edits.max() else rows


def few_and_short(pairs: PairBatch, rows: I32) -> bool:
    """Return True if a CPU thread aligns rows (i32[m]), by any kernel, before a GPU kernel would be chosen."""
    if len(rows) > _MAX_ROWS:
        return False
    q_len, t_len = pairs.q_len[rows], pairs.t_len[rows]
    longest = max(int(q_len.max(initial=0)), int(t_len.max(initial=0)))
    return longest <= _MAX_LONGEST and int(q_len.sum()) + int(t_len.sum()) <= _MAX_BASES
