"""What kernels there are, and how long each of them will take for a pair, by the models of wfacli.core.tuning."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._native import Forecaster, instruction_set
from ..config import AlignSpec, Ambiguous, Limits, Metric, Mode
from ..core import tuning
from ..core.batch import I32, Flag, PairBatch, every_row
from ..core.costs import UnitCosts
from ..gpu.kernels.plans import NO_BOUND
from . import rungs

BITS = {f"bits-{64 * words}": words for words in (1, 2, 4, 8)}  # bit-parallel, several pairs a vector
STRIPES = "stripes"  # bit-parallel, one pair over all lanes
INSIDE = "bits-inside"  # bit-parallel, free ends of the target: where the path begins, then the path
DIFFERENCE = "difference"  # dynamic programming in differences, in a band
READS = "difference-reads"  # the same for short pairs, several a vector
CAPPED = "wavefront-capped"  # a table that gives up where another kernel will be faster
TABLE = "wavefront-table"  # every row of the wavefront in memory
LINEAR = "wavefront-linear"  # checkpoints, and pieces computed again
GOTOH = "gotoh"  # all cells, whatever the costs
CPU_KERNELS = (*BITS, STRIPES, INSIDE, DIFFERENCE, READS, CAPPED, TABLE, LINEAR, GOTOH)
GPU_KERNELS = rungs.KERNELS
KERNELS = (*CPU_KERNELS, *GPU_KERNELS)

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Promise:
    """How many pairs were looked at, and the microseconds that a model promises for all of them; may be infinite."""

    pairs: int
    microseconds: float

    def __add__(self, other: Promise) -> Promise:
        return Promise(self.pairs + other.pairs, self.microseconds + other.microseconds)


def is_edit(spec: AlignSpec) -> bool:
    """Whether bit-parallel kernels can serve: global edit distance, every cell."""
    return spec.metric is Metric.EDIT and not spec.penalties.match and plainly_global(spec)


def plainly_global(spec: AlignSpec) -> bool:
    """Whether alignments are global, and every cell counts."""
    return spec.mode is Mode.GLOBAL and not spec.heuristics


def free_in_target(spec: AlignSpec) -> bool:
    """Whether the query is aligned whole, ends of the target are free, and every cell counts."""
    free = spec.free
    return bool(free) and not (free.query_begin or free.query_end or spec.heuristics)


def free_in_query(spec: AlignSpec) -> bool:
    """Whether ends of the query are free, and every cell counts."""
    return bool(spec.free.query_begin or spec.free.query_end) and not spec.heuristics


def steep_extension(spec: AlignSpec) -> bool:
    """Return True if a wavefront begins extensions with so many rows that GOTOH is faster for short pairs."""
    return spec.mode is Mode.EXTENSION and not spec.heuristics and Units.of(spec).steep


def lanes_serve(pairs: PairBatch, spec: AlignSpec) -> npt.NDArray[np.bool_]:
    """Pairs (bool[n]) with free ends that READS takes."""
    short: npt.NDArray[np.bool_] = np.maximum(pairs.q_len, pairs.t_len) <= tuning.READS_OVERLAP
    if spec.ambiguous is Ambiguous.WILDCARD:
        short &= (pairs.flags & Flag.NON_ACGT) == 0
    return short & Units.of(spec).in_bytes


def in_lanes(pairs: PairBatch, spec: AlignSpec) -> I32:
    """Rows (i32[m]) so short that READS computes all their cells sooner than others look for the best ends."""
    if not spec.free or spec.heuristics or spec.max_cost is not None or is_inside(spec):
        return every_row(0)
    short = lanes_serve(pairs, spec)
    if free_in_query(spec) and spec.mode is not Mode.OVERLAP:
        # A wavefront that may begin on few diagonals ends clean pairs before all cells are computed.
        short &= np.maximum(pairs.q_len, pairs.t_len) <= max(tuning.READS_AT_ONCE, 2 * sum(spec.free.as_tuple()))
    rows = np.flatnonzero(short).astype(np.int32)
    return rows if len(rows) >= tuning.READS_TOGETHER else rows[:0]


def is_inside(spec: AlignSpec) -> bool:
    """Whether INSIDE can serve: by edits it looks for where the query may lie in a target with free ends."""
    return free_in_target(spec) and not spec.penalties.match


def surely_inside(pairs: PairBatch, spec: AlignSpec) -> npt.NDArray[np.bool_]:
    """Pairs (bool[n]) for which INSIDE is the best kernel, or nearly so, whatever their edits."""
    if not is_inside(spec):
        return np.zeros(len(pairs), bool)
    edit = spec.metric is Metric.EDIT
    far = tuning.INSIDE_FAR[edit] * pairs.q_len.astype(np.int64)
    sure: npt.NDArray[np.bool_] = _columns(pairs, spec) >= far
    return sure & ((pairs.flags & Flag.NON_ACGT) == 0) if spec.ambiguous is Ambiguous.WILDCARD else sure


def _spread(spec: AlignSpec) -> float:
    """How many edits the least path may have for each that there are at least (native/engine/engine_inside.cpp)."""
    costs = Units.of(spec)
    return max(costs.mismatch, min(o + e for o, e in costs.gaps)) / min(costs.mismatch, costs.extend)


def _columns(pairs: PairBatch, spec: AlignSpec) -> npt.NDArray[np.int64]:
    """Letters (i64[n]) of targets that paths can meet, as native/kernels/bits/inside.cpp has it."""
    n, m = pairs.q_len.astype(np.int64), pairs.t_len.astype(np.int64)
    begin, end = np.minimum(spec.free.target_begin, m), np.minimum(spec.free.target_end, m)
    longest = n + (n + np.maximum(m - begin - end, 0)) * _spread(spec)
    first = np.clip(m - end - longest, 0, begin)
    columns: npt.NDArray[np.int64] = (np.clip(begin + longest, m - end, m) - first).astype(np.int64)
    return columns


def only_banded(spec: AlignSpec) -> bool:
    """Whether it is a global alignment in a band that follows the path, and nothing else is left out."""
    h = spec.heuristics
    return spec.mode is Mode.GLOBAL and h.band > 0 and not h.xdrop and not h.zdrop


def on_gpu(kernel: str) -> bool:
    """Whether a kernel runs on a GPU."""
    return kernel in GPU_KERNELS


class Forecast:
    """How long kernels will take for the pairs of a batch, by their models.

    Beside a GPU (`gpu`) times are those of the whole machine: a CPU kernel's are shared out among all threads, as a
    GPU kernel's are of a full GPU. For such a batch either of them would be the only one at work.
    """

    def __init__(self, pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool = False) -> None:
        self._pairs = _with_usual_edits(pairs) if free_in_target(spec) else pairs
        self._spec, self._limits = spec, limits
        self._threads = tuning.THREADS_BESIDE_A_GPU if gpu else 1
        self._costs = Units.of(spec)

    def microseconds(self, kernel: str) -> F64:
        """What a kernel will take for each pair (f64[n]); infinite where it cannot align it."""
        if on_gpu(kernel):
            return rungs.RUNGS[kernel].microseconds(self.for_gpu, self.other_letters)
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
        """Microseconds (f64[n]) of one thread for short pairs with free ends, of which all cells are computed."""
        longest, cells = self._shapes[0], self._pairs.q_len.astype(np.float64) * self._pairs.t_len
        times = tuning.cpu_models(instruction_set()).reads_overlap.of(longest, cells)
        return np.where(lanes_serve(self._pairs, self._spec), times, np.inf)

    def _inside(self) -> F64:
        """Microseconds (f64[n]) of one thread for queries inside targets."""
        pairs, costs, models = self._pairs, self._costs, tuning.cpu_models(instruction_set())
        n, edits = pairs.q_len.astype(np.float64), pairs.est_edits.astype(np.float64)
        columns, short = _columns(pairs, self._spec).astype(np.float64), pairs.q_len <= tuning.INSIDE_LANES
        slabs = np.ceil(n / tuning.INSIDE_SLAB)
        reach = _spread(self._spec) * edits
        likely = reach < tuning.INSIDE_RANDOM / tuning.INSIDE_SLAB * n  # else paths like nothing may be the best

        def down(most: F64) -> F64:
            """Columns of all slabs for paths of so many edits."""
            wide = np.minimum(1 + np.floor(most / tuning.INSIDE_RANDOM), slabs)
            # Where more than one is over all columns, there is one more try.
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
        return np.where(self.other_letters, np.inf, times) if self._spec.ambiguous is Ambiguous.WILDCARD else times

    def _add_free_ends(self, times: F64) -> None:
        """Adds to times (f64[kernels, n]) what free ends take: diagonals on which a path may as well begin."""
        pairs, spec, costs = self._pairs, self._spec, self._costs
        begin, end = spec.free.target_begin, spec.free.target_end
        apart = pairs.t_len.astype(np.int64) - pairs.q_len
        diagonals = np.maximum(np.minimum(begin, apart) - np.maximum(apart - end, 0), 0).astype(np.float64)
        edits = pairs.est_edits.astype(np.float64)
        share = 1 / self._threads
        dense = tuning.FREE_SHARE * _model(DIFFERENCE, costs).unit * pairs.q_len * diagonals
        times[CPU_KERNELS.index(DIFFERENCE)] += share * dense
        rows = 2 * costs.components * edits * costs.edit
        alone = edits * costs.edit / costs.extend if costs.meet else 0.0  # where ends are free no two wavefronts meet
        front = _model(TABLE, costs).unit * rows * (tuning.FREE_FRONT * diagonals + alone)
        for kernel, factor in ((TABLE, 1.0), (CAPPED, 1.0), (LINEAR, tuning.LINEAR_FACTOR)):
            times[CPU_KERNELS.index(kernel)] += share * factor * front
        letters = diagonals + edits * costs.edit / costs.extend
        full = tuning.SAFETY * 4 * costs.components * edits * costs.edit * letters > self._limits.table
        times[CPU_KERNELS.index(TABLE)][full] = math.inf

    @functools.cached_property
    def _shapes(self) -> tuple[F64, F64]:
        """Letters of the longer sequence, and edits: estimated, or what pairs have as a rule (both f64[n])."""
        pairs = self._pairs
        longest = np.maximum(pairs.q_len, pairs.t_len).astype(np.float64)
        usual = np.maximum(np.abs(pairs.q_len - pairs.t_len), tuning.USUAL_ERROR * longest)
        return longest, np.where(pairs.est_edits < 0, usual, pairs.est_edits)

    @functools.cached_property
    def for_gpu(self) -> rungs.Pairs:
        """The pairs as the GPU's kernels see them."""
        costs, pairs = self._costs, self._pairs
        expected, most = self._shapes[1] * costs.edit, costs.bound(self._spec)
        return rungs.Pairs(pairs.q_len, pairs.t_len, expected, costs.mismatch, costs.gaps, most)

    @property
    def other_letters(self) -> npt.NDArray[np.bool_]:
        """Whether pairs have letters other than A C G T (bool[n])."""
        other: npt.NDArray[np.bool_] = (self._pairs.flags & Flag.NON_ACGT) != 0
        return other

    @property
    def edit_cost(self) -> float:
        """Of an average edit, in the same units."""
        return self._costs.edit

    @property
    def costs(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Mismatch and gaps, divided by their greatest common divisor."""
        return self._costs.mismatch, self._costs.gaps

    def features(self, kernel: str) -> tuple[F64, F64]:
        """What a CPU kernel's model is a function of: letters of the longer sequence, and work (both f64[n])."""
        longest, edits = self._shapes
        if kernel == GOTOH:
            return longest, self._pairs.q_len.astype(np.float64) * self._pairs.t_len
        letters, both, edit, square = _work(kernel, self._costs)
        band = self._pairs.q_len * edits  # rows of the query by the diagonals that edits reach
        return longest, letters * longest + both * band + edit * edits + square * edits**2


def _with_usual_edits(pairs: PairBatch) -> PairBatch:
    """Estimates for pairs that have none and whose targets have free ends: more of a target is no edit."""
    usual = np.maximum(pairs.q_len - pairs.t_len, tuning.USUAL_ERROR * pairs.q_len).astype(np.int32)
    return pairs.with_edits(np.where(pairs.est_edits < 0, usual, pairs.est_edits))


def weights(spec: AlignSpec) -> tuple[int, int, int] | None:
    """What estimates weigh edits by: mismatch, opening and extension of a gap; None where all cost the same."""
    costs = Units.of(spec)
    return None if is_edit(spec) else (costs.mismatch, *costs.gaps[0])


@functools.lru_cache(maxsize=256)
def forecaster(spec: AlignSpec, limits: Limits, kernels: tuple[str, ...], threads: int = 1) -> Forecaster:
    """Models of CPU kernels for the native code, which chooses by them; times are divided by the threads."""
    return Forecaster([_native_model(kernel, spec, limits, threads) for kernel in kernels], tuning.USUAL_ERROR)


def _native_model(kernel: str, spec: AlignSpec, limits: Limits, threads: int) -> tuple[float, ...]:
    """A KernelModel of native/plan/forecast.hpp."""
    costs, model = Units.of(spec), _model(kernel, Units.of(spec))
    family = "bits" if kernel in BITS else READS if kernel == READS else kernel.split("-")[0]
    scores = tuning.SCORE_ONLY[family] if spec.score_only and not spec.free else 1.0  # free ends are told by the path
    share = scores / threads * (tuning.LINEAR_FACTOR if kernel == LINEAR else 1.0)
    letters, *rest = (model.unit * factor for factor in _work(kernel, costs))
    cells = model.unit if kernel == GOTOH else 0.0
    start, letter = _rows_before(kernel, spec)
    terms = (model.start + start, model.letter + letter + letters, *rest, cells)
    return (*(share * term for term in terms), *_serves(kernel, spec, limits), 1 / scores)


def _rows_before(kernel: str, spec: AlignSpec) -> tuple[float, float]:
    """Microseconds, and those a base, of the rows that a wavefront under steep costs makes before it begins."""
    costs, skip = Units.of(spec), UnitCosts.of(spec).skip
    depth = costs.depth
    if depth <= tuning.STEEP or kernel not in (CAPPED, TABLE, LINEAR):
        return 0.0, 0.0
    if kernel != LINEAR and spec.mode is not Mode.EXTENSION:
        return tuning.STEEP_TABLE * depth, 0.0
    # Rows of a ring are wider by the diagonals that are gained in `depth` scores, up to those of the pair.
    wider = depth / min(skip or costs.extend, costs.extend)
    if wider < tuning.STEEP_WIDE:
        return depth * (tuning.STEEP_RING + tuning.STEEP_RING_LETTER * wider), 0.0
    return tuning.STEEP_RING * depth, tuning.STEEP_RING_LETTER * depth


def _serves(kernel: str, spec: AlignSpec, limits: Limits) -> tuple[float, float, bool]:
    """The most letters and edits for which a kernel is worth a try, and whether letters may be others than A C G T."""
    costs, wildcard = Units.of(spec), spec.ambiguous is Ambiguous.WILDCARD
    if kernel in BITS:
        widest = BITS[kernel] == max(BITS.values()) and not spec.score_only
        return tuning.BITS_LONGEST if widest else math.inf, 64 * BITS[kernel] / tuning.SAFETY_OF_BITS, False
    if kernel == INSIDE:
        return -1.0, math.inf, False  # Forecast knows
    if kernel == READS:
        return tuning.READS_LONGEST if costs.in_bytes else -1.0, math.inf, not wildcard
    if kernel == DIFFERENCE:
        return _longest_in_differences(costs), math.inf, True
    if kernel == GOTOH and spec.heuristics:
        return -1.0, math.inf, False
    if kernel in (CAPPED, TABLE) and spec.mode is Mode.GLOBAL:
        return math.inf, most_in_table(spec, limits), True
    return math.inf, math.inf, kernel != STRIPES or not wildcard


def _longest_in_differences(costs: Units) -> float:
    """Bases of the longest sequences that DIFFERENCE takes, -1 for none (difference_isa.cpp)."""
    return (2**31 - 1) / costs.need / 2 if costs.in_words else -1.0


def most_in_table(spec: AlignSpec, limits: Limits) -> float:
    """The most edits that a table of all rows may hold: with more it need not be tried."""
    # Bytes of a table with so many edits, from below, if all of them are gaps on one side: a row reaches one
    # diagonal further for every `extend` of score, with one offset of 4 bytes a component.
    costs = Units.of(spec)
    return math.sqrt(limits.table / (2.0 * costs.components * costs.extend))


def _work(kernel: str, costs: Units) -> tuple[float, float, float, float]:
    """What a model calls work, as factors of letters, query * edits, edits, and edits * edits."""
    if kernel in BITS:
        return BITS[kernel], 0.0, 0.0, 0.0
    if kernel == STRIPES:
        return 0.0, 1.0, 0.0, 0.0
    if kernel == GOTOH:
        return 0.0, 0.0, 0.0, 0.0  # cells
    if kernel in (DIFFERENCE, READS):  # letters by the diagonals that the band needs
        return 0.0, costs.edit / costs.extend, 0.0, 0.0
    # Rows of a wavefront are scores, edits * costs.edit; each is as wide as gaps of its score reach.
    rows = costs.edit * (costs.components if costs.meet else 2 * costs.components)
    return 0.0, 0.0, rows * tuning.ROW, rows * costs.edit / costs.extend


def _model(kernel: str, costs: Units) -> tuning.Model:
    models = tuning.cpu_models(instruction_set())
    if kernel in BITS:
        return models.bits_64 if BITS[kernel] == 1 else models.bits
    if kernel == STRIPES:
        return models.stripes
    if kernel == DIFFERENCE:
        return models.difference
    if kernel == READS:
        return models.reads
    if kernel == INSIDE:
        return models.inside_slabs
    if kernel == GOTOH:
        return models.gotoh
    return models.wavefront_linear if costs.components == 1 else models.wavefront


@dataclass(frozen=True)
class Units:
    """What times depend on of a specification's normalised costs."""

    edit: float  # of an average edit: a third each are mismatches, insertions and deletions
    extend: int  # the least that a step to the next diagonal costs
    components: int
    mismatch: int
    gaps: tuple[tuple[int, int], ...]
    unit: int  # UnitCosts.unit
    meet: bool  # whether two wavefronts share the work
    need: (
        int  # the largest difference of neighbouring cells (native/kernels/difference/difference_costs.hpp, lane_need)
    )
    depth: int  # scores that a wavefront looks back

    def bound(self, spec: AlignSpec) -> int:
        """On the cost."""
        return NO_BOUND if spec.max_cost is None else spec.max_cost // self.unit

    @property
    def in_bytes(self) -> bool:
        """Whether differences of neighbouring cells fit 8 bits."""
        return self.need < 1 << 7

    @property
    def in_words(self) -> bool:
        """Whether they fit 16 bits."""
        return self.need < 1 << 15

    @property
    def steep(self) -> bool:
        """Whether wavefronts look back so far that to begin one takes longer than all cells of short pairs."""
        return self.depth > tuning.STEEP

    @property
    def cap_of_all(self) -> tuple[float, float]:
        """Cost above which a wavefront takes longer than all cells do: base, and share of the longest sequence.

        (0, 0), for none, where even pairs that have nothing in common, or no base, cost too little for that to matter.
        """
        most = min(self.mismatch, 2 * self.extend)  # a base
        if self.components * most**2 <= tuning.CELLS_AT_MOST * self.extend and self.depth <= tuning.CELLS_AT_MOST:
            return 0.0, 0.0
        return tuning.CAP_OF_ALL, tuning.CELLS_OF_ALL * math.sqrt(self.extend / self.components)

    @classmethod
    @functools.cache
    def of(cls, spec: AlignSpec) -> Units:
        """Those of a spec."""
        costs = UnitCosts.of(spec)
        sums = [o + e for o, e in costs.gaps]  # of the first base
        need = max(sums) + 2 * min(sums) + 2 * max(e for _, e in costs.gaps) + 1
        return cls(
            edit=(costs.mismatch + 2 * sums[0]) / 3,
            extend=min(e for _, e in costs.gaps),
            components=1 if costs.is_linear else 1 + 2 * len(costs.gaps),
            mismatch=costs.mismatch,
            gaps=costs.gaps,
            unit=costs.unit,
            meet=max(costs.mismatch, *sums) <= tuning.MEETING_DEPTH,
            need=need,
            depth=max(costs.mismatch, *sums),
        )
