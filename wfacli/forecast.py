"""What kernels there are, and how long each of them will take for a pair, by the models of wfacli.tuning."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import tuning
from .batch import Flag, PairBatch
from .config import AlignSpec, Ambiguous, Limits, Metric, Mode
from .gpu import rungs
from .gpu.plans import NO_BOUND

BITS = {f"bits-{64 * words}": words for words in (1, 2, 4, 8)}  # bit-parallel, several pairs a vector
STRIPES = "stripes"  # bit-parallel, one pair over all lanes
DIFFERENCE = "difference"  # dynamic programming in differences, in a band
READS = "difference-reads"  # the same for short pairs, several a vector
CAPPED = "wavefront-capped"  # a table that gives up where another kernel will be faster
TABLE = "wavefront-table"  # every row of the wavefront in memory
LINEAR = "wavefront-linear"  # checkpoints, and pieces computed again
CPU_KERNELS = (*BITS, STRIPES, DIFFERENCE, READS, CAPPED, TABLE, LINEAR)
GPU_KERNELS = rungs.KERNELS
KERNELS = (*CPU_KERNELS, *GPU_KERNELS)

F64 = npt.NDArray[np.float64]


def is_edit(spec: AlignSpec) -> bool:
    """Whether bit-parallel kernels can serve: global edit distance, every cell."""
    return spec.metric is Metric.EDIT and not spec.penalties.match and plainly_global(spec)


def plainly_global(spec: AlignSpec) -> bool:
    """Whether alignments are global, and every cell counts."""
    return spec.mode is Mode.GLOBAL and not spec.heuristics


def on_gpu(kernel: str) -> bool:
    """Whether a kernel runs on a card."""
    return kernel in GPU_KERNELS


class Forecast:
    """How long kernels will take for the pairs of a batch, by their models.

    Beside a card (`gpu`) times are those of the whole machine: a CPU kernel's are shared out among all threads, as a
    GPU kernel's are of a full card. For such a batch either of them would be the only one at work.
    """

    def __init__(self, pairs: PairBatch, spec: AlignSpec, limits: Limits, gpu: bool = False) -> None:
        self._pairs, self._spec = pairs, spec
        self._threads = tuning.THREADS_BESIDE_A_CARD if gpu else 1
        self._longest = np.maximum(pairs.q_len, pairs.t_len).astype(np.float64)
        self._edits = pairs.est_edits.astype(np.float64)
        unknown = pairs.est_edits < 0
        if unknown.any():
            least = np.abs(pairs.q_len - pairs.t_len)
            self._edits = np.where(unknown, np.maximum(least, tuning.USUAL_ERROR * self._longest), self._edits)
        self._other_letters = (pairs.flags & Flag.NON_ACGT) != 0
        self._all_plain = not self._other_letters.any()
        self._wildcard = spec.ambiguous is Ambiguous.WILDCARD
        self._score_only = spec.score_only
        self._costs, self._global = Units.of(spec), spec.mode is Mode.GLOBAL
        # Bytes of a table with so many edits, from below, if all of them are gaps on one side: a row reaches one
        # diagonal further for every `extend` of score, with one offset of 4 bytes a component.
        least_bytes = 2.0 * self._costs.components * self._costs.extend * self._edits**2
        self._hopeless = least_bytes > limits.table

    def microseconds(self, kernel: str) -> F64:
        """What a kernel will take for each pair (f64[n]); infinite where it cannot align it, or is not needed."""
        if self._needless(kernel):
            return np.full(len(self._longest), np.inf)
        if on_gpu(kernel):
            return rungs.RUNGS[kernel].microseconds(self.for_gpu, self._other_letters)
        time = self._model(kernel).of(*self.features(kernel), self._share(kernel))
        if kernel in BITS:
            time = np.where(self._edits * tuning.SAFETY >= 64 * BITS[kernel], np.inf, time)
            return time if self._all_plain else np.where(self._other_letters, np.inf, time)
        if kernel == READS:
            unable = (self._longest > tuning.READS_LONGEST) | (self._other_letters & self._wildcard)
            return np.where(unable, np.inf, time) if self._costs.in_bytes else np.full(len(time), np.inf)
        if kernel == STRIPES and self._wildcard:
            return np.where(self._other_letters, np.inf, time)
        if kernel == LINEAR:
            return time * tuning.LINEAR_FACTOR
        if kernel in (CAPPED, TABLE) and self._global:
            # What cannot fit a table need not be tried in one.
            return np.where(self._hopeless, np.inf, time)
        return time

    def _needless(self, kernel: str) -> bool:
        """Whether another one is better for every pair: no need to ask its model."""
        if kernel in BITS and BITS[kernel] > 1:
            return bool(self._edits.max() * tuning.SAFETY < 32 * BITS[kernel])
        return kernel == LINEAR and self._global and not self._hopeless.any()

    @functools.cached_property
    def for_gpu(self) -> rungs.Pairs:
        """The pairs as the card's kernels see them."""
        costs, pairs = self._costs, self._pairs
        expected, most = self._edits * costs.edit, costs.bound(self._spec)
        return rungs.Pairs(pairs.q_len, pairs.t_len, expected, costs.mismatch, costs.gaps, most)

    @property
    def other_letters(self) -> npt.NDArray[np.bool_]:
        """Whether pairs have letters other than A C G T (bool[n])."""
        other: npt.NDArray[np.bool_] = self._other_letters
        return other

    @property
    def edit_cost(self) -> float:
        """Of an average edit, in the same units."""
        return self._costs.edit

    @property
    def costs(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Mismatch and gaps, divided by their greatest common divisor."""
        return self._costs.mismatch, self._costs.gaps

    def tries(self, kernels: tuple[str, ...]) -> F64:
        """Microseconds (f64[kernels, n]) after which a kernel knows that it cannot align a pair."""
        return np.array([self._tried(name) for name in kernels])

    def _tried(self, kernel: str) -> F64:
        if on_gpu(kernel):
            return rungs.RUNGS[kernel].tried(self.for_gpu)
        return self._model(kernel).of(*self.features(kernel), 1 / self._threads)

    def features(self, kernel: str) -> tuple[F64, F64]:
        """What a kernel's model is a function of: letters of the longer sequence, and work (both f64[n])."""
        costs, longest = self._costs, self._longest
        if kernel in BITS:
            return longest, longest * BITS[kernel]
        if kernel == STRIPES:
            return longest, longest * self._edits
        if kernel in (DIFFERENCE, READS):  # letters by the diagonals that the band needs
            return longest, longest * self._edits * (costs.edit / costs.extend)
        rows = self._edits * costs.edit
        return longest, rows * (rows / costs.extend + tuning.ROW) * (
            costs.components if costs.meet else 2 * costs.components
        )

    def _share(self, kernel: str) -> float:
        family = "bits" if kernel in BITS else READS if kernel == READS else kernel.split("-")[0]
        return (tuning.SCORE_ONLY[family] if self._score_only else 1.0) / self._threads

    def _model(self, kernel: str) -> tuning.Model:
        if kernel in BITS:
            return tuning.BITS_64 if BITS[kernel] == 1 else tuning.BITS
        if kernel == STRIPES:
            return tuning.STRIPES
        if kernel == DIFFERENCE:
            return tuning.DIFFERENCE
        if kernel == READS:
            return tuning.READS
        return tuning.WAVEFRONT_LINEAR if self._costs.components == 1 else tuning.WAVEFRONT


@dataclass(frozen=True)
class Units:
    """Costs as the wavefront counts them: without a bonus, divided by their greatest common divisor."""

    edit: float  # of an average edit: a third each are mismatches, insertions and deletions
    extend: int  # the least that a step to the next diagonal costs
    components: int
    mismatch: int
    gaps: tuple[tuple[int, int], ...]
    unit: int  # the divisor, of costs twice as large where there is a bonus
    meet: bool  # whether two wavefronts share the work
    in_bytes: bool  # whether differences of neighbouring cells fit 8 bits (native/difference_costs.hpp, lane_need)

    def bound(self, spec: AlignSpec) -> int:
        """On the cost."""
        return NO_BOUND if spec.max_cost is None else spec.max_cost // self.unit

    @classmethod
    @functools.cache
    def of(cls, spec: AlignSpec) -> Units:
        """Those of a spec."""
        p = spec.penalties
        twice = 2 if p.match else 1
        mismatch = twice * (p.mismatch + p.match)
        gaps = [(twice * o, twice * e + p.match) for o, e in p.gaps]
        unit = math.gcd(mismatch, p.match, *(v for gap in gaps for v in gap))
        sums = [o + e for o, e in gaps]  # of the first letter
        linear = len(gaps) == 1 and gaps[0][0] == 0
        return cls(
            edit=(mismatch + 2 * sum(gaps[0])) / 3 / unit,
            extend=min(e for _, e in gaps) // unit,
            components=1 if linear else 1 + 2 * len(gaps),
            mismatch=mismatch // unit,
            gaps=tuple((o // unit, e // unit) for o, e in gaps),
            unit=unit,
            meet=max(mismatch, *sums) <= tuning.MEETING_DEPTH * unit,
            in_bytes=(max(sums) + 2 * min(sums) + 2 * max(e for _, e in gaps)) // unit < 127,
        )
