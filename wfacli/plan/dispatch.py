"""Which kernel a pair goes to, and where it goes when that kernel gives up. Pure functions of columns.

Every kernel writes the same alignment, so a choice is only a matter of time: of the kernels that can align a pair,
the one whose model (wfacli.core.tuning) promises the least.
"""

from __future__ import annotations

import numpy as np

from .._native import estimate_edits
from ..config import AlignSpec, Ambiguous, Limits
from ..core import tuning
from ..core.batch import I32, Flag, PairBatch, every_row, is_every_row
from ..core.route import Route
from . import jobs, rungs
from .forecast import (
    BITS,
    CAPPED,
    DIFFERENCE,
    F64,
    GOTOH,
    INSIDE,
    LINEAR,
    READS,
    STRIPES,
    TABLE,
    Forecast,
    Units,
    forecaster,
    free_in_query,
    free_in_target,
    in_lanes,
    is_edit,
    is_inside,
    on_gpu,
    only_banded,
    plainly_global,
    steep_extension,
    surely_inside,
    weights,
)
from .offers import ALIKE

SAMPLE = 64  # pairs that speak for a batch
MEDIUM = 2000  # letters up to which all edits of a pair may be looked at, where that is worth it
ALL_EDITS, _MANY = 10_000, 400  # edits of 10,000 letters
_FEW, _LETTERS, _LONGEST = 256, 64_000, 1_000  # rows, letters of all and of the longest: 2 ms of a thread at most
_TURNS = 10_000  # pairs as costly as any, beside which the order hardly changes when a GPU ends


def route(
    pairs: PairBatch, spec: AlignSpec, limits: Limits, forced: str | None = None, gpu: bool = False
) -> list[Route]:
    """First routes of a batch: together they hold every row once.

    Args:
        pairs: the batch.
        spec: what to compute.
        limits: bounds on memory.
        forced: a kernel that gets every pair.
        gpu: whether there is a GPU.
    """
    if not len(pairs):
        return []
    if gpu and not forced and (bands := banded(spec)):
        return _in_bands(pairs, bands)
    rows, none = every_row(len(pairs)), every_row(0)
    if forced:
        return [Route(_costliest_first(rows, pairs) if on_gpu(forced) else rows, forced, spoke=none)]
    if gpu and plainly_global(spec):
        return _on_gpu(pairs, spec, limits)
    short = in_lanes(pairs, spec)
    if free_in_target(spec) and len(short) < len(pairs):
        return _where_ends_are_free(pairs, spec, limits)
    if len(short):
        ways = (Route(short, READS, spoke=none), Route(np.delete(rows, short), CAPPED, spoke=none))
        return [way for way in ways if len(way.rows)]
    if steep_extension(spec):
        return _steep_extensions(pairs)
    only, spoke = _one_for_all(pairs, spec, limits)
    if only:
        return [Route(rows, only, spoke=spoke)]
    names = candidates(spec)
    return [Route(rows, names[kernel]) for kernel, rows in forecaster(spec, limits, names).fastest(pairs)]


def _where_ends_are_free(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> list[Route]:
    """Each pair's own kernel where most have an estimate; else the one that is best for those that have."""
    sure = surely_inside(pairs, spec)
    if sure.all():
        return [Route(every_row(len(pairs)), INSIDE, spoke=every_row(0))]
    names, known = candidates(spec), pairs.rows_with_edits()
    some_speak = 0 < len(known) <= np.count_nonzero(~sure) / 2
    if some_speak:
        choice = np.full(len(pairs), promised(pairs.part(known), spec, limits).sum(axis=1).argmin())
    else:
        choice = promised(pairs, spec, limits).argmin(axis=0)
    if sure.any():
        choice[sure] = names.index(INSIDE)
    found = []
    for k in np.unique(choice).tolist():
        rows = np.flatnonzero(choice == k).astype(np.int32)
        asked = rows[~sure[rows]]
        found.append(Route(rows, names[k], spoke=known if some_speak and len(asked) else asked))
    return found


def _steep_extensions(pairs: PairBatch) -> list[Route]:
    """Return routes of extensions under steep costs, whose length and edits are not known in advance.

    Where all cells would take long, the wavefront goes first: it ends at once where edits are few, and gives up before
    it takes much longer than all cells do.
    """
    many = pairs.q_len.astype(np.int64) * pairs.t_len > tuning.MANY_CELLS
    ways = ((GOTOH, np.flatnonzero(~many)), (TABLE, np.flatnonzero(many)))
    return [Route(rows.astype(np.int32), kernel, spoke=every_row(0)) for kernel, rows in ways if len(rows)]


def promised(pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool = False) -> F64:
    """Microseconds (f64[candidates, n]); infinite where a kernel cannot align a pair."""
    forecast = Forecast(pairs, spec, limits, gpu)
    return np.array([forecast.microseconds(name) for name in candidates(spec, gpu)])


def best_for_all(pairs: PairBatch, rows: I32, spec: AlignSpec, limits: Limits) -> str | None:
    """The kernel that had best be every pair's first, going by some rows; None where choosing for each is worth it.

    Choosing for each takes an estimate for each; a kernel for all wastes its time on those that it hands on.
    """
    names = candidates(spec)
    best = forecaster(spec, limits, names).for_all(pairs, rows, tuning.CHOOSING)
    return None if best is None else names[best]


def _on_gpu(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> list[Route]:
    """First routes beside a GPU; pairs with letters other than A C G T are jobs of their own."""
    some = pairs.flags.any() if pairs.extent is None else pairs.extent.others
    other = (pairs.flags & Flag.NON_ACGT) != 0 if some else np.zeros(0, bool)
    if not other.any():
        return for_gpu(pairs, every_row(len(pairs)), spec, limits)
    found: list[Route] = []
    for own in (False, True):
        rows = np.flatnonzero(other == own).astype(np.int32)
        known = None if pairs.known is None else pairs.known[other[pairs.known] == own]
        if own and few_and_short(pairs, rows):
            found.append(Route(rows, dense_kernel(spec), spoke=every_row(0)))
        elif len(rows):
            found += for_gpu(pairs, rows, spec, limits, few_on_cpu=own, known=known)
    return found


def for_gpu(
    pairs: PairBatch,
    rows: I32,
    spec: AlignSpec,
    limits: Limits,
    few_on_cpu: bool = False,
    failed: F64 | None = None,
    known: I32 | None = None,
) -> list[Route]:
    """Routes of rows beside a GPU.

    Args:
        pairs: the batch.
        rows: i32[m], of which all, few or none have an estimate.
        spec: what to compute.
        limits: bounds on memory.
        few_on_cpu: whether the CPU may have what it aligns before a GPU, however idle, does.
        failed: costs (f64[n]) that all pairs of the batch are known to exceed.
        known: i32[k], those of the rows that have an estimate; None where that is to be looked up.
    """
    cpu, again = candidates(spec), failed is not None
    if few_on_cpu and (own := _soon_done(pairs, rows, spec, limits)):
        return own
    every = is_every_row(rows, len(pairs))
    if known is None:
        known = pairs.rows_with_edits() if every else rows[pairs.est_edits[rows] >= 0]
    if len(known) <= len(rows) / 2:
        speak = known if len(known) else rows[:: -(-len(rows) // SAMPLE)]
        sample = pairs.shapes(speak) if len(known) else with_many_estimates(pairs.part(speak), spec)
        exceeded = None if failed is None else failed[speak]
        if exceeded is not None:
            sample = raised(sample, exceeded, spec)
        job = jobs.one_for_all(sample, len(rows), spec, limits, cpu, few_on_cpu, exceeded)
        any_band = on_gpu(job.kernel) and rungs.RUNGS[job.kernel].any_band
        rows = _longest_first(rows, pairs) if any_band else rows
        return [Route(rows, job.kernel, job.cut, again, spoke=every_row(0), jobs=job.compared)]
    some = pairs if every else pairs.part(rows)
    exceeded = failed if failed is None or every else failed[rows]
    if exceeded is not None:
        some = raised(some, exceeded, spec)
    found = jobs.jobs_of(some, spec, limits, cpu, few_on_cpu, exceeded)
    return [Route(_rows_of(rows, j.rows), j.kernel, j.cut, again, j.bands, jobs=j.compared) for j in found]


def _longest_first(rows: I32, pairs: PairBatch) -> I32:
    """Rows in the order in which a kernel whose work grows with the length had best have them; see slowest_first."""
    longest = np.maximum(pairs.q_len[rows], pairs.t_len[rows])
    return rows if longest.max() <= ALIKE * longest.min() else rows[np.argsort(-longest, kind="stable")]


def _costliest_first(rows: I32, pairs: PairBatch) -> I32:
    """Rows in the order in which a wavefront had best have them, if each has an estimate and it makes a difference."""
    edits = pairs.est_edits[rows]
    unlike = edits.min() >= 0 and edits.max() > ALIKE * edits.min()
    return rows[np.argsort(-edits, kind="stable")] if unlike and edits.sum() < _TURNS * edits.max() else rows


def _in_bands(pairs: PairBatch, kernels: list[str]) -> list[Route]:
    """Routes of a batch in a band that follows the path.

    The second kernel, if there is one, gets the pairs that would keep a GPU waiting which is done with
    all others, and begins first.
    """
    rows = _costliest_first(every_row(len(pairs)), pairs)
    edits = pairs.est_edits[rows]
    share = edits.sum(dtype=np.float64) / tuning.GPU_MULTIPROCESSORS
    lone = int(np.count_nonzero(edits * tuning.GPU_BAND_LONE > share))
    if len(kernels) < 2 or edits.min() < 0 or not 0 < lone <= tuning.GPU_MULTIPROCESSORS:
        return [Route(rows, kernels[0], spoke=every_row(0))]
    parts = (rows[:lone], kernels[1]), (rows[lone:], kernels[0])
    return [Route(some, kernel, spoke=every_row(0)) for some, kernel in parts if len(some)]


def _rows_of(rows: I32, some: I32) -> I32:
    return rows if is_every_row(some, len(rows)) else rows[some]


def raised(pairs: PairBatch, failed: F64, spec: AlignSpec) -> PairBatch:
    """The batch with estimates that are no less than what pairs of such costs (f64[n]) have."""
    least = np.minimum(failed / Units.of(spec).edit, np.maximum(pairs.q_len, pairs.t_len)).astype(np.int32)
    return pairs.with_edits(np.maximum(pairs.est_edits, least))


def few_and_short(pairs: PairBatch, rows: I32) -> bool:
    """Whether a thread of the CPU aligns rows (i32[m]) sooner than a kernel would be chosen, by whatever it takes."""
    if len(rows) > _FEW:
        return False
    q_len, t_len = pairs.q_len[rows], pairs.t_len[rows]
    longest = max(int(q_len.max(initial=0)), int(t_len.max(initial=0)))
    return longest <= _LONGEST and int(q_len.sum()) + int(t_len.sum()) <= _LETTERS


def dense_kernel(spec: AlignSpec) -> str:
    """The CPU's kernel for a global alignment of any pair, however much it costs."""
    if not is_edit(spec):
        return whole_matrix(spec)
    return TABLE if spec.ambiguous is Ambiguous.WILDCARD else STRIPES


def whole_matrix(spec: AlignSpec) -> str:
    """The CPU's kernel whose time does not grow with the costs."""
    return DIFFERENCE if Units.of(spec).in_words else GOTOH


def _soon_done(pairs: PairBatch, rows: I32, spec: AlignSpec, limits: Limits) -> list[Route]:
    """Routes of rows (i32[m]) in the CPU's kernels where these take less than any job; else none."""
    if len(rows) > jobs.SAMPLE:
        return []
    names, times = candidates(spec), promised(pairs.part(rows), spec, limits)
    best, choice = times.min(axis=0), times.argmin(axis=0)
    if best.sum() / tuning.THREADS_BESIDE_A_GPU + best.max() > tuning.GPU_JOB:
        return []
    return [Route(rows[choice == k], names[k]) for k in np.unique(choice).tolist()]


def speaks_for_all(sample: PairBatch, count: int, spec: AlignSpec) -> bool:
    """Whether some pairs of so many say that one kernel of a GPU had best have all: no other needs an estimate."""
    return jobs.one_serves(sample, count, spec, Limits(), candidates(spec))


def with_many_estimates(pairs: PairBatch, spec: AlignSpec) -> PairBatch:
    """The batch with estimates that look at much of each pair: for few pairs, or some that speak for many.

    They are in average edits of what a spec's costs ask for.
    """
    if not len(pairs):
        return pairs
    longest = int(max(pairs.q_len.max(), pairs.t_len.max()))
    estimates = estimate_edits(pairs, most=ALL_EDITS if longest <= MEDIUM else _MANY, costs=weights(spec))
    return pairs.with_edits(np.maximum(estimates, pairs.est_edits))


def _one_for_all(pairs: PairBatch, spec: AlignSpec, limits: Limits) -> tuple[str | None, I32]:
    """best_for_all of a batch of which most pairs have no estimate, and the rows that it goes by."""
    known = pairs.rows_with_edits()
    if len(known) > len(pairs) / 2:
        return None, known
    rows = known if len(known) else np.arange(0, len(pairs), max(len(pairs) // SAMPLE, 1), dtype=np.int32)
    return best_for_all(pairs, rows, spec, limits), rows


def candidates(spec: AlignSpec, gpu: bool = False) -> tuple[str, ...]:
    """Kernels that may be a pair's first under a spec."""
    if gpu and plainly_global(spec):
        return (*(rung.name for family in _gpu_families(spec) for rung in family), *candidates(spec))
    dense, steep = whole_matrix(spec), Units.of(spec).steep and not spec.heuristics
    wavefronts = () if steep and dense == DIFFERENCE else (TABLE, LINEAR)
    if free_in_target(spec):
        return (INSIDE, dense, *wavefronts) if is_inside(spec) else (dense, *wavefronts)
    if free_in_query(spec) and spec.max_cost is None:
        # Nobody knows how much such pairs have in common: who goes on depends on what the wavefront has found.
        return (dense, *wavefronts) if steep else (CAPPED,)
    if not plainly_global(spec):
        return (GOTOH, TABLE, LINEAR) if steep_extension(spec) else (TABLE, LINEAR)
    # A bound on the cost is the kernels' own to keep: none may be cut short by another one.
    if is_edit(spec):
        # Bands of bit-vectors are as wide as lengths differ: of a long query and a short target all cells are fewer.
        first = (STRIPES, TABLE) if spec.max_cost is not None else (*BITS, STRIPES, CAPPED)
        return (*first, LINEAR, GOTOH)
    # DIFFERENCE does not take long pairs whose costs hardly fit it.
    others = () if Units.of(spec).in_bytes or dense == GOTOH else (GOTOH,)
    return (dense, TABLE, LINEAR, *others) if spec.max_cost is not None else (dense, READS, CAPPED, LINEAR, *others)


def _gpu_families(spec: AlignSpec) -> tuple[tuple[rungs.Rung, ...], ...]:
    costs = Units.of(spec)
    return rungs.families(is_edit(spec), costs.mismatch, costs.gaps, not spec.score_only)


def banded(spec: AlignSpec) -> list[str]:
    """The GPU's kernels for a heuristic band, where one is asked for; see rungs.banded."""
    costs = Units.of(spec)
    return rungs.banded(costs.mismatch, costs.gaps) if only_banded(spec) else []
