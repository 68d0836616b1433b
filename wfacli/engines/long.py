"""Alignment of pairs too long for batch kernels, one at a time on a whole GPU: first the distance, then the path."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .._native import estimate_long
from ..config import AlignSpec, Limits
from ..core import tuning
from ..core.batch import I32, Flag, PairBatch, PartialResult, Status
from ..core.cigar import OPERATIONS
from ..errors import Cancelled, DeviceError
from ..gpu.kernels.properties import Gpu
from ..gpu.runtime.driver import Driver
from ..plan.forecast import Forecast
from ..plan.kernels import CAPPED, LINEAR, STRIPES
from ..plan.traits import is_edit
from ..solve.base import Pair, Solver
from ..solve.gpu import bits as gpu_bits
from ..solve.gpu import path as gpu_path
from ..solve.gpu import wavefront as gpu_wavefront
from ..solve.gpu.bits import GpuBits
from ..solve.gpu.wavefront import GpuWavefront

_SLICE = 0.03  # seconds of a time slice, during which no other launch begins
_FOLD = 0xDF  # clears the bit that distinguishes lower case
_EQUAL = OPERATIONS.index("=")

T = TypeVar("T")


class LongPairs:
    """Aligns long pairs on a GPU, in the device's thread, in time slices.

    Attributes:
        aligned: number of pairs aligned so far.
    """

    def __init__(self, spec: AlignSpec, gpu: Gpu, call: Callable[[Callable[[Driver], Any]], Any]) -> None:
        """Create an aligner for `gpu`; `call` runs a function in the device's thread and returns its result."""
        self._spec, self._gpu, self._call = spec, gpu, call
        self._able = is_edit(spec) and spec.max_cost is None
        self._one_at_a_time = threading.Lock()
        self._cancelled = threading.Event()
        self.aligned = 0

    def takes(self, pairs: PairBatch, rows: I32) -> I32:
        """Return those of `rows` (i32[m]) that the GPU is expected to align faster than the CPU (i32[k])."""
        none: I32 = np.zeros(0, np.int32)
        if not self._able:
            return none
        long = np.maximum(pairs.q_len[rows], pairs.t_len[rows]) >= tuning.LONG_PAIR_BASES
        long &= (np.minimum(pairs.q_len[rows], pairs.t_len[rows]) > 0) & (pairs.flags[rows] & Flag.NON_ACGT == 0)
        rows = rows[long]
        # The CPU aligns one pair per thread at a time, the GPU only one.
        share = min(len(rows), tuning.THREADS_WITH_GPU)
        return np.array([row for row in rows.tolist() if self._sooner(pairs, row, share)] or none, np.int32)

    def _sooner(self, pairs: PairBatch, row: int, share: int) -> bool:
        one = pairs.subset(np.array([row], np.int32))
        pair = _pair_of(pairs, row)
        edits = _edits_of(pair)
        known = one.with_edits(np.array([edits], np.int32))
        forecast = Forecast(known, self._spec, Limits())
        on_cpu = min(float(forecast.microseconds(kernel)[0]) for kernel in (STRIPES, CAPPED, LINEAR)) / 1e6
        if on_cpu < tuning.LONG_PAIR_SECONDS:
            return False
        on_gpu = min(self._seconds(pair, edits).values())
        if not self._spec.score_only:
            on_gpu += gpu_path.forecast(self._gpu, pair, edits)[0]
        return tuning.LONG_PAIR_MARGIN * share * on_gpu < on_cpu

    def _seconds(self, pair: Pair, edits: int) -> dict[str, float]:
        """Return the expected seconds of each algorithm for the distance of a pair with `edits` edits."""
        lengths, wide = (len(pair.query), len(pair.target)), int(tuning.GPU_BITS_MARGIN * edits)
        return {
            gpu_wavefront.NAME: gpu_wavefront.forecast(self._gpu, lengths, edits),
            gpu_bits.NAME: gpu_bits.forecast(self._gpu, lengths, wide, True),
        }

    def align(self, pairs: PairBatch, row: int) -> PartialResult:
        """Return the canonical alignment of a row. Raises Cancelled, DeviceError."""
        with self._one_at_a_time:
            pair = _pair_of(pairs, row)
            distance = self._distance(pair)
            cigar = np.zeros(0, np.uint32)
            if not self._spec.score_only:
                cigar = self._path(pair, distance)
            self.aligned += 1
        m, n = len(pair.query), len(pair.target)
        return PartialResult(
            np.array([row], np.int32),
            np.array([Status.OK], np.uint8),
            np.zeros(1, np.uint8),
            np.array([-distance], np.int32),
            np.array([[0, m, 0, n]], np.int32),
            cigar,
            np.array([0, len(cigar)], np.int64),
        )

    def _distance(self, pair: Pair) -> int:
        edits = _edits_of(pair)
        times = self._seconds(pair, edits)

        def made(driver: Driver) -> Solver:
            if times[gpu_wavefront.NAME] < times[gpu_bits.NAME]:
                return GpuWavefront(driver, pair)
            return GpuBits(driver, pair, expected_edits=int(tuning.GPU_BITS_MARGIN * edits))

        solver: Solver = self._there(made)
        try:
            while not self._there(lambda _: solver.advance(_SLICE)):
                pass
            found = solver.distance
        finally:
            self._call(lambda _: solver.close())
        assert found is not None
        return found

    def _path(self, pair: Pair, distance: int) -> Any:
        if not distance:
            return np.array([len(pair.query) << 4 | 7], np.uint32)
        _, way = gpu_path.forecast(self._gpu, pair, distance)
        cigar = self._there(lambda driver: gpu_path.find_path(driver, pair, distance, way, self._look).cigar)
        if (cost := int((cigar >> 4)[(cigar & 15) != _EQUAL].sum())) != distance:
            raise DeviceError(f"a path that costs {cost:,} where the distance is {distance:,}")
        return cigar

    def _there(self, function: Callable[[Driver], T]) -> T:
        self._look()
        answer: T = self._call(function)
        return answer

    def _look(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled("stopped")

    def cancel(self) -> None:
        """Stop running work soon."""
        self._cancelled.set()


def _pair_of(pairs: PairBatch, row: int) -> Pair:
    sides = []
    for start, length in ((pairs.q_start, pairs.q_len), (pairs.t_start, pairs.t_len)):
        begin = int(start[row])
        sides.append(pairs.bases[begin : begin + int(length[row])] & np.uint8(_FOLD))
    return Pair(sides[0], sides[1], True)


def _edits_of(pair: Pair) -> int:
    return max(round(estimate_long(pair.query.view(np.uint8), pair.target.view(np.uint8))), 1)
