"""Which kernel a pair goes to, and where it goes when that kernel gives up. Pure functions of columns.

Every kernel writes the same alignment, so a choice is only a matter of time: of the kernels that can align a pair,
the one whose model (wfacli.tuning) promises the least.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import tuning
from ._native import estimate_edits
from .batch import I32, U8, PairBatch, Status, every_row
from .config import AlignSpec, Limits
from .forecast import (
    BITS,
    CAPPED,
    DIFFERENCE,
    F64,
    LINEAR,
    READS,
    STRIPES,
    TABLE,
    Forecast,
    Units,
    forecaster,
    is_edit,
    on_gpu,
    only_banded,
    plainly_global,
)
from .gpu import rungs

SAMPLE = 64  # pairs that speak for a batch


@dataclass(frozen=True)
class Route:
    """Rows of a batch (i32[m]) and the kernel that they go to."""

    rows: I32
    kernel: str


@dataclass(frozen=True)
class Promise:
    """How many pairs a kernel can align, and the microseconds that its model promises for all of them."""

    pairs: int
    microseconds: float

    def __add__(self, other: Promise) -> Promise:
        return Promise(self.pairs + other.pairs, self.microseconds + other.microseconds)


def route(
    pairs: PairBatch, spec: AlignSpec, limits: Limits, forced: str | None = None, gpu: bool = False
) -> list[Route]:
    """First routes of a batch: together they hold every row once.

    Args:
        pairs: the batch.
        spec: what to compute.
        limits: bounds on memory.
        forced: a kernel that gets every pair.
        gpu: whether there is a card.
    """
    if not len(pairs):
        return []
    only = forced or (gpu and _banded(spec)) or _one_for_all(pairs, spec, limits, gpu)
    if only:
        return [Route(every_row(len(pairs)), only)]
    names = candidates(spec, gpu)
    if not gpu:
        fastest = forecaster(spec, limits, names).fastest(pairs)
        return [Route(rows, names[kernel]) for kernel, rows in fastest]
    times = promised(pairs, spec, limits, gpu)
    choice = _in_fewer_jobs(times, np.argmin(times, axis=0))
    first = int(choice[0])
    if (choice == first).all():
        return [Route(every_row(len(pairs)), names[first])]
    return [Route(np.flatnonzero(choice == k).astype(np.int32), names[k]) for k in np.unique(choice).tolist()]


def _in_fewer_jobs(times: F64, choice: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The choice (kernels, [n]) where no kernel has so few pairs that others could have them in a job's time.

    Times are of a full card, which few pairs do not fill.
    """
    while len(used := np.unique(choice)) > 1:
        moved = []
        for kernel in used:
            rows, others = np.flatnonzero(choice == kernel), used[used != kernel]
            instead = times[np.ix_(others, rows)]
            dearer = instead.min(axis=0).sum() - times[kernel, rows].sum()
            moved.append((float(dearer), rows, others[instead.argmin(axis=0)]))
        least, rows, to = min(moved, key=lambda move: move[0])
        if not least < tuning.GPU_JOB:
            break
        choice = choice.copy()
        choice[rows] = to
    return choice


def promised(pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool = False) -> F64:
    """Microseconds (f64[candidates, n]); infinite where a kernel cannot align a pair."""
    forecast = Forecast(pairs, spec, limits, gpu)
    return np.array([forecast.microseconds(name) for name in candidates(spec, gpu)])


def best_for_all(pairs: PairBatch, rows: I32, spec: AlignSpec, limits: Limits, gpu: bool = False) -> str | None:
    """The kernel that had best be every pair's first, going by some rows; None where choosing for each is worth it.

    Choosing for each takes an estimate for each; a kernel for all wastes its time on those that it hands on.
    """
    if gpu and plainly_global(spec) and (on_card := _sample_on_card(pairs.part(rows), spec, limits)):
        return on_card
    names = candidates(spec)
    best = forecaster(spec, limits, names).for_all(pairs, rows, tuning.CHOOSING)
    return None if best is None else names[best]


def _sample_on_card(sample: PairBatch, spec: AlignSpec, limits: Limits) -> str | None:
    columns = (sample.q_len, sample.t_len, sample.est_edits, sample.flags)
    # The same question comes twice for a batch: for its estimates, and for its routes.
    return _best_on_card(_Sample(sample, tuple(column.tobytes() for column in columns)), spec, limits)


class _Sample:
    """Pairs that are equal to others when all that a kernel is chosen by is."""

    def __init__(self, pairs: PairBatch, key: tuple[bytes, ...]) -> None:
        self.pairs, self._key = pairs, key

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sample) and self._key == other._key


@functools.lru_cache(maxsize=64)
def _best_on_card(sample: _Sample, spec: AlignSpec, limits: Limits) -> str | None:
    """The kernel of the card for pairs of which nearly all are no worse than what the sample has."""
    pairs = Forecast(sample.pairs, spec, limits, gpu=True).for_gpu
    apart = int(np.abs(pairs.q_len - pairs.t_len).max())
    needed = float(np.sort(pairs.cost)[int(tuning.GPU_MOST * (len(pairs.cost) - 1))])
    costs = Units.of(spec)
    return rungs.fastest(
        _rounded(int(pairs.longest.max())),
        _rounded(apart),
        _rounded(math.ceil(needed)),
        (is_edit(spec), costs.mismatch, costs.gaps, not spec.score_only),
        pairs.max_cost,
    )


def _rounded(value: int) -> int:
    """The value to about an eighth, upwards: much the same pairs have the same kernel, which is then known."""
    shift = max(value.bit_length() - 4, 0)
    return -(-value >> shift) << shift


def _one_for_all(pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool) -> str | None:
    """best_for_all of a batch of which most pairs have no estimate."""
    known = np.flatnonzero(pairs.est_edits >= 0).astype(np.int32)
    if len(known) > len(pairs) / 2:
        return None
    rows = known if len(known) else np.arange(0, len(pairs), max(len(pairs) // SAMPLE, 1), dtype=np.int32)
    return best_for_all(pairs, rows, spec, limits, gpu)


def reasons(
    pairs: PairBatch, spec: AlignSpec, limits: Limits, routes: list[Route], gpu: bool = False
) -> dict[tuple[str, str], Promise]:
    """For each route's kernel and each that might have had its pairs: what the model promises."""
    found, forecast = {}, Forecast(pairs, spec, limits, gpu)
    for name in dict.fromkeys([*candidates(spec, gpu), *(r.kernel for r in routes)]):
        time = forecast.microseconds(name)
        for r in routes:
            able = np.isfinite(time[r.rows])
            found[r.kernel, name] = Promise(int(able.sum()), float(time[r.rows][able].sum()))
    return found


def candidates(spec: AlignSpec, gpu: bool = False) -> tuple[str, ...]:
    """Kernels that may be a pair's first under a spec."""
    if gpu and plainly_global(spec):
        return (*(rung.name for family in _gpu_families(spec) for rung in family), *candidates(spec))
    if not plainly_global(spec):
        return (TABLE, LINEAR)
    # A bound on the cost is the kernels' own to keep: none may be cut short by another one.
    if is_edit(spec):
        return (STRIPES, TABLE, LINEAR) if spec.max_cost is not None else (*BITS, STRIPES, CAPPED, LINEAR)
    return (DIFFERENCE, TABLE, LINEAR) if spec.max_cost is not None else (DIFFERENCE, READS, CAPPED, LINEAR)


def _gpu_families(spec: AlignSpec) -> tuple[tuple[rungs.Rung, ...], ...]:
    costs = Units.of(spec)
    return rungs.families(is_edit(spec), costs.mismatch, costs.gaps, not spec.score_only)


def next_rung(kernel: str, status: U8, rows: I32, spec: AlignSpec, pairs: PairBatch | None = None) -> list[Route]:
    """Where rows (i32[m]) that a kernel answered with status (u8[m]) go next; those without a way on are left out.

    With their batch, pairs that a kernel of the card is too narrow for go straight to one that is not.
    """
    if not np.count_nonzero(status):
        return []
    if pairs is not None and on_gpu(kernel) and spec.max_cost is None and not spec.heuristics:
        narrow = status == Status.SCORE_LIMIT
        others = next_rung(kernel, status[~narrow], rows[~narrow], spec)
        return [*others, *_wide_enough(kernel, pairs, rows[narrow], spec)]
    found = np.flatnonzero(np.bincount(status)).tolist()
    ways = {reason: to for reason in found if (to := _next(kernel, Status(reason), spec))}
    return [Route(rows[status == reason], to) for reason, to in ways.items()]


def _next(kernel: str, status: Status, spec: AlignSpec) -> str | None:
    dense = STRIPES if is_edit(spec) else DIFFERENCE
    if on_gpu(kernel):
        return _next_of_card(kernel, status, spec)
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
        return dense if status in (Status.SCORE_LIMIT, Status.MEMORY_LIMIT) else None
    if kernel in (STRIPES, DIFFERENCE) and status is Status.UNSUPPORTED:
        return TABLE
    if kernel in (STRIPES, DIFFERENCE, TABLE) and status is Status.MEMORY_LIMIT:
        return LINEAR
    return None


def _wide_enough(kernel: str, pairs: PairBatch, rows: I32, spec: AlignSpec) -> list[Route]:
    """Routes for rows that cost more than a kernel of the card reaches, by estimates made for them now."""
    if not len(rows):
        return []
    first = _next_of_card(kernel, Status.SCORE_LIMIT, spec)
    assert first is not None
    if not on_gpu(first):
        return [Route(rows, first)]
    some = pairs.part(rows)
    some = dataclasses.replace(some, est_edits=np.maximum(estimate_edits(some), some.est_edits))
    forecast = Forecast(some, spec, Limits(), gpu=True)
    wider = rungs.at_least(first, is_edit(spec), *forecast.costs, not spec.score_only)
    times = np.array([forecast.microseconds(name) for name in wider])
    times[0] = np.where(np.isfinite(times).any(axis=0), times[0], 0.0)  # nobody is sure: one after the other
    choice = np.argmin(times, axis=0)
    return [Route(rows[choice == k], wider[k]) for k in np.unique(choice).tolist()]


def _banded(spec: AlignSpec) -> str | None:
    """The card's kernel for a heuristic band, where one is asked for."""
    costs = Units.of(spec)
    return rungs.banded(costs.mismatch, costs.gaps) if only_banded(spec) else None


def _next_of_card(kernel: str, status: Status, spec: AlignSpec) -> str | None:
    if status in (Status.OK, Status.DROPPED):
        return None
    if spec.heuristics:
        return TABLE  # which keeps to the same band
    dense, costs = STRIPES if is_edit(spec) else DIFFERENCE, Units.of(spec)
    if status is Status.SCORE_LIMIT:
        if spec.max_cost is None:
            return rungs.further(kernel, is_edit(spec), costs.mismatch, costs.gaps, not spec.score_only) or dense
        # Bands do not tell what they cannot prove from what costs too much.
        return None if rungs.decides(kernel, costs.mismatch, costs.gaps, costs.bound(spec)) else dense
    # Other letters, or a card that fails: pairs of any kind.
    return CAPPED if status is Status.UNSUPPORTED and spec.max_cost is None else dense
