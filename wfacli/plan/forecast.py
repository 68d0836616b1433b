"""Expected times of each kernel for each pair, by the models of core.tuning."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._native import Forecaster, instruction_set, rows_up_to
from ..config import AlignSpec, Limits, Metric, Mode
from ..core import tuning
from ..core.batch import I32, Flag, PairBatch, all_rows
from ..core.costs import UnitCosts
from ..core.route import on_gpu
from .kernels import CAPPED, CPU, CPU_KERNELS, DIFFERENCE, INSIDE, LINEAR, READS, TABLE
from .traits import CostTraits, edits_per_edit, free_in_query, free_in_target, is_inside

if TYPE_CHECKING:
    from .gpu_kernels import PairCosts

F64 = npt.NDArray[np.float64]
ALIKE = 1.1  # ratio of two pairs' work up to which their order does not matter


@dataclass(frozen=True)
class ExpectedTime:
    """Number of pairs considered, and the total expected time in microseconds, which may be infinite."""

    pairs: int
    microseconds: float

    def __add__(self, other: ExpectedTime) -> ExpectedTime:
        return ExpectedTime(self.pairs + other.pairs, self.microseconds + other.microseconds)


def lanes_support(pairs: PairBatch, spec: AlignSpec) -> npt.NDArray[np.bool_]:
    """Return which pairs with free ends READS supports (bool[n])."""
    supported = np.zeros(len(pairs), bool)
    supported[_rows_in_lanes(pairs, spec, tuning.READS_OVERLAP)[0]] = True
    return supported


def _rows_in_lanes(pairs: PairBatch, spec: AlignSpec, longest: int) -> tuple[I32, I32]:
    """Return the rows (i32[m]) with sequences of at most `longest` bases that READS supports, and the others."""
    most = min(longest, tuning.READS_OVERLAP) if CostTraits.of(spec).in_bytes else -1
    without = int(Flag.NON_ACGT) if spec.by_bits else 0
    return rows_up_to(pairs.q_len, pairs.t_len, pairs.flags, most, without)


def in_lanes(pairs: PairBatch, spec: AlignSpec) -> tuple[I32, I32]:
    """Return the rows (i32[m]) so short that READS computes all cells before other kernels find the best ends.

    The second value has the other rows, in order.
    """
    if not spec.free or spec.heuristics or spec.max_cost is not None or is_inside(spec):
        return all_rows(0), all_rows(len(pairs))
    longest = tuning.READS_OVERLAP
    if free_in_query(spec) and spec.mode is not Mode.OVERLAP:
        # With few starting diagonals, a wavefront finishes similar pairs before all cells are computed.
        longest = max(tuning.READS_ENDS_FREE, 2 * sum(spec.free.as_tuple()))
    rows, others = _rows_in_lanes(pairs, spec, longest)
    if len(rows) < tuning.READS_MIN_PAIRS:
        return all_rows(0), all_rows(len(pairs))
    return (rows if len(others) else all_rows(len(pairs))), others


def surely_inside(pairs: PairBatch, spec: AlignSpec) -> npt.NDArray[np.bool_]:
    """Return for which pairs (bool[n]) INSIDE is about the fastest kernel for any number of edits."""
    if not is_inside(spec):
        return np.zeros(len(pairs), bool)
    edit = spec.metric is Metric.EDIT
    far = tuning.INSIDE_MIN_LENGTH_RATIO[edit] * pairs.q_len.astype(np.int64)
    sure: npt.NDArray[np.bool_] = _columns(pairs, spec) >= far
    return sure & ((pairs.flags & Flag.NON_ACGT) == 0) if spec.by_bits else sure


def _columns(pairs: PairBatch, spec: AlignSpec) -> npt.NDArray[np.int64]:
    """Return the bases of targets that paths can reach (i64[n]), as in native/kernels/bits/inside.cpp."""
    n, m = pairs.q_len.astype(np.int64), pairs.t_len.astype(np.int64)
    begin, end = np.minimum(spec.free.target_begin, m), np.minimum(spec.free.target_end, m)
    longest = n + (n + np.maximum(m - begin - end, 0)) * edits_per_edit(spec)
    first = np.clip(m - end - longest, 0, begin)
    columns: npt.NDArray[np.int64] = (np.clip(begin + longest, m - end, m) - first).astype(np.int64)
    return columns


class Forecast:
    """Expected times of kernels for the pairs of a batch.

    With a GPU (`gpu`), times are those of the whole machine: of all threads for a CPU kernel, of a full GPU for a GPU
    kernel, because either would have the batch to itself. Otherwise they are those of one thread.
    """

    def __init__(self, pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool = False) -> None:
        self._pairs = _with_usual_edits(pairs) if free_in_target(spec) else pairs
        self._spec, self._limits = spec, limits
        self._threads = tuning.THREADS_WITH_GPU if gpu else 1
        self._costs = CostTraits.of(spec)

    def microseconds(self, kernel: str) -> F64:
        """Return the expected time of each pair (f64[n], microseconds); infinite if the kernel cannot align it."""
        if on_gpu(kernel):
            from . import gpu_kernels  # runs without a GPU need not wait for it

            return gpu_kernels.KERNELS[kernel].microseconds(self.for_gpu, self.other_bases)
        times: F64 = self._on_cpu[CPU_KERNELS.index(kernel)]
        return times

    @functools.cached_property
    def _on_cpu(self) -> F64:
        models = forecaster(self._spec, self._limits, CPU_KERNELS, self._threads)
        times: F64 = models.microseconds(self._pairs).reshape(len(CPU_KERNELS), -1)
        if free_in_target(self._spec):
            self._add_free_ends(times)
        if is_inside(self._spec):
            times[CPU_KERNELS.index(INSIDE)] = self._inside() / self._threads
        if self._spec.free:
            times[CPU_KERNELS.index(READS)] = self._in_lanes() / self._threads
        return times

    def _in_lanes(self) -> F64:
        """Return the time of READS (f64[n], microseconds of one thread) for short pairs with free ends, all cells."""
        longest, cells = self._shapes[0], self._pairs.q_len.astype(np.float64) * self._pairs.t_len
        times = tuning.cpu_models(instruction_set()).reads_overlap.of(longest, cells)
        return np.where(lanes_support(self._pairs, self._spec), times, np.inf)

    def _inside(self) -> F64:
        """Return the time of INSIDE (f64[n], microseconds of one thread)."""
        pairs, costs, models = self._pairs, self._costs, tuning.cpu_models(instruction_set())
        n, edits = pairs.q_len.astype(np.float64), pairs.est_edits.astype(np.float64)
        columns, short = _columns(pairs, self._spec).astype(np.float64), pairs.q_len <= tuning.INSIDE_LANES
        slabs = np.ceil(n / tuning.INSIDE_SLAB)
        reach = edits_per_edit(self._spec) * edits
        likely = reach < tuning.INSIDE_RANDOM / tuning.INSIDE_SLAB * n  # else a random path may be best

        def down(most: F64) -> F64:
            """Return the total columns of all slabs for paths of `most` edits."""
            wide = np.minimum(1 + np.floor(most / tuning.INSIDE_RANDOM), slabs)
            # If several slabs span all columns, there is a second attempt.
            narrow = np.where(wide > 1, 2 * slabs, slabs) - wide
            found: F64 = wide * columns + narrow * np.minimum(tuning.INSIDE_COLUMNS + 2 * most, columns)
            return found

        work = down(edits) + np.where(likely & (reach > edits), down(reach), 0.0)
        lanes = models.inside_lanes.of(n, np.ceil(n / 64) * columns)
        search = np.where(short, lanes, models.inside_slabs.of(columns, work))
        window = np.minimum(np.where(likely, 2 * (reach - edits), columns - n), columns)
        path = models.difference.of(n, n * (edits * costs.edit / costs.extend + tuning.FREE_SHARE * window))
        if self._spec.metric is Metric.EDIT:
            path = np.where(short, 0.0, models.difference.of(n, n * edits))
        times: F64 = search + path
        return np.where(self.other_bases, np.inf, times) if self._spec.by_bits else times

    def _add_free_ends(self, times: F64) -> None:
        """Add the time of free ends to `times` (f64[kernels, n]): a path may start on more diagonals."""
        pairs, spec, costs = self._pairs, self._spec, self._costs
        begin, end = spec.free.target_begin, spec.free.target_end
        apart = pairs.t_len.astype(np.int64) - pairs.q_len
        diagonals = np.maximum(np.minimum(begin, apart) - np.maximum(apart - end, 0), 0).astype(np.float64)
        edits = pairs.est_edits.astype(np.float64)
        share = 1 / self._threads
        dense = tuning.FREE_SHARE * model_of(DIFFERENCE, costs).unit * pairs.q_len * diagonals
        times[CPU_KERNELS.index(DIFFERENCE)] += share * dense
        rows = 2 * costs.components * edits * costs.edit
        alone = edits * costs.edit / costs.extend if costs.meet else 0.0  # wavefronts do not meet with free ends
        front = model_of(TABLE, costs).unit * rows * (tuning.FREE_FRONT * diagonals + alone)
        for kernel, factor in ((TABLE, 1.0), (CAPPED, 1.0), (LINEAR, tuning.LINEAR_FACTOR)):
            times[CPU_KERNELS.index(kernel)] += share * factor * front
        gap_bases = diagonals + edits * costs.edit / costs.extend
        full = tuning.SAFETY * 4 * costs.components * edits * costs.edit * gap_bases > self._limits.table
        times[CPU_KERNELS.index(TABLE)][full] = math.inf

    @functools.cached_property
    def _shapes(self) -> tuple[F64, F64]:
        """Length of the longer sequence, and estimated or typical edits (both f64[n])."""
        pairs = self._pairs
        longest = np.maximum(pairs.q_len, pairs.t_len).astype(np.float64)
        usual = np.maximum(np.abs(pairs.q_len - pairs.t_len), tuning.DEFAULT_ERROR_RATE * longest)
        return longest, np.where(pairs.est_edits < 0, usual, pairs.est_edits)

    @functools.cached_property
    def for_gpu(self) -> PairCosts:
        """The pairs as the models of GPU kernels require them."""
        from .gpu_kernels import PairCosts

        costs, pairs = self._costs, self._pairs
        expected, most = self._shapes[1] * costs.edit, costs.bound(self._spec)
        supported = not self._spec.charges_ambiguous
        return PairCosts(pairs.q_len, pairs.t_len, expected, costs.mismatch, costs.gaps, most, other_bases=supported)

    @property
    def other_bases(self) -> npt.NDArray[np.bool_]:
        """Whether pairs have symbols other than A C G T (bool[n])."""
        other: npt.NDArray[np.bool_] = (self._pairs.flags & Flag.NON_ACGT) != 0
        return other


def _with_usual_edits(pairs: PairBatch) -> PairBatch:
    """Fill in missing estimates of pairs with free target ends, for which extra target bases are not edits."""
    usual = np.maximum(pairs.q_len - pairs.t_len, tuning.DEFAULT_ERROR_RATE * pairs.q_len).astype(np.int32)
    return pairs.with_edits(np.where(pairs.est_edits < 0, usual, pairs.est_edits))


@functools.lru_cache(maxsize=256)
def forecaster(spec: AlignSpec, limits: Limits, kernels: tuple[str, ...], threads: int = 1) -> Forecaster:
    """Return models of CPU kernels for the native code, which chooses by them; times are divided by `threads`."""
    return Forecaster([_native_model(kernel, spec, limits, threads) for kernel in kernels], tuning.DEFAULT_ERROR_RATE)


def model_of(kernel: str, costs: CostTraits) -> tuning.Model:
    """Return the model of a CPU kernel's time on this machine."""
    return CPU[kernel].model(tuning.cpu_models(instruction_set()), costs)


def _native_model(name: str, spec: AlignSpec, limits: Limits, threads: int) -> tuple[float, ...]:
    """Return a KernelModel of native/plan/forecast.hpp."""
    costs, kernel, model = CostTraits.of(spec), CPU[name], model_of(name, CostTraits.of(spec))
    scores = kernel.score_share if spec.score_only and not spec.free else 1.0  # free ends need the path
    share = scores / threads * (tuning.LINEAR_FACTOR if name == LINEAR else 1.0)
    work, reach = kernel.work(costs), kernel.reach(spec, limits)
    longest, *rest = (model.unit * factor for factor in (work.longest, work.band, work.edit, work.square, work.cells))
    start, base = _rows_before(name, spec)
    terms = (model.start + start, model.per_base + base + longest, *rest)
    return (
        *(share * term for term in terms),
        reach.shortest,
        reach.longest,
        reach.edits,
        reach.other_bases,
        1 / scores,
    )


def _rows_before(kernel: str, spec: AlignSpec) -> tuple[float, float]:
    """Return the time (microseconds, and microseconds per base) to set up a wavefront's rows under steep costs."""
    costs, skip = CostTraits.of(spec), UnitCosts.of(spec).skip
    depth = costs.depth
    if depth <= tuning.STEEP or kernel not in (CAPPED, TABLE, LINEAR):
        return 0.0, 0.0
    if kernel != LINEAR and spec.mode is not Mode.EXTENSION:
        return tuning.STEEP_TABLE * depth, 0.0
    # Rows of a ring are wider by the diagonals gained in `depth` scores, at most by those of the pair.
    wider = depth / min(skip or costs.extend, costs.extend)
    if wider < tuning.STEEP_WIDE:
        return depth * (tuning.STEEP_RING + tuning.STEEP_RING_PER_BASE * wider), 0.0
    return tuning.STEEP_RING * depth, tuning.STEEP_RING_PER_BASE * depth
