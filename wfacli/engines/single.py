"""Alignment of one pair at a time, without batch, columns or threads, which take longer than a short pair's alignment.

Kernels, fallbacks and results are those of batches. The native code does nearly all of the work; this module chooses
the first kernel, once for all pairs of a kind, and runs the fallbacks, which few pairs need.
"""

from __future__ import annotations

import numpy as np

from .._native import OnePair, SinglePairAligner
from ..config import AlignSpec, Limits, Mode
from ..core.batch import NO_SCORE, PairBatch, Records, Status
from ..core.route import Route
from ..io.read.memory import contiguous, pairs_of
from ..plan.estimate import MEDIUM
from ..plan.forecast import Forecast
from ..plan.kernels import BITS, CPU_KERNELS, INSIDE, READS, candidates
from ..plan.planner import Planner
from ..plan.traits import free_in_target, is_inside, steep_extension
from .cpu import native_options

Answer = tuple[int, str, int, tuple[int, int, int, int], bool, Status]
_NUMBERS = {name: number for number, name in enumerate(CPU_KERNELS)}
_ROW = np.zeros(1, np.int32)
_ANY = (1 << 31) - 1
# Minimum ratio of target to query length at which INSIDE is preferred for pairs with edits: free ends slow a wavefront
# down more. Wavefront and INSIDE: 150 bases in 300, 3 to 5 and 8 us; 150 in 1,000, 4 to 14 and 12 us; 1,000 in 5,000,
# 10 to 670 and 43 us.
_FAR = 4


class SingleEngine:
    """Aligns one pair in the calling thread; thread-safe."""

    def __init__(self, spec: AlignSpec, limits: Limits) -> None:
        self._spec, self._limits, self._planner = spec, limits, Planner(spec, limits)
        self._free, self._inside = free_in_target(spec), is_inside(spec)
        options = [native_options(spec, limits, kernel) for kernel in CPU_KERNELS]
        self._by_length = self._free or steep_extension(spec)
        alone = MEDIUM if self._by_length else _ANY
        self._pairs = SinglePairAligner(options, spec.mode is Mode.GLOBAL, _FAR, alone, Status.OK)

    def align(self, query: object, target: object) -> Answer:
        """Return (score, CIGAR, edits, span, exact, status), as in results.Alignment. Raises InputError, TypeError."""
        try:
            return self._pairs.align(self, query, target)
        except (ValueError, BufferError):  # a non-contiguous array or view
            return self._pairs.align(self, contiguous(query), contiguous(target))
        except TypeError:
            pairs_of([query], [target])  # type: ignore[list-item]  # raises TypeError that names the bad argument
            raise

    def first_kernel(self, pair: OnePair, query: object, target: object) -> int:
        """Return the number of the first kernel for a pair and others of its kind. Called by the native code."""
        if self._by_length and pair.query_len > MEDIUM:
            # An estimate takes a hundredth of the time that a poor choice may lose.
            plan = self._planner.plan(pairs_of([query], [target]))  # type: ignore[list-item]
            return _NUMBERS[plan.routes[0].kernel]
        longest, edits, flags, far = self._pairs.kind(pair)
        if self._inside and far:
            return _NUMBERS[INSIDE]
        forecast = Forecast(_like(longest, edits, flags), self._spec, self._limits)
        # Kernels that align several pairs at a time are slower than their models for a single pair.
        names = [name for name in candidates(self._spec) if name not in (*BITS, INSIDE, READS)]
        return _NUMBERS[min(names, key=lambda name: float(forecast.microseconds(name)[0]))]

    def further(self, pair: OnePair, kernel: int, status: int) -> Answer:
        """Return the result of the fallbacks for a pair that kernel `kernel` failed with `status`."""
        route, like = Route(_ROW, CPU_KERNELS[kernel]), _like(pair.longest, pair.est_edits, pair.flags)
        while routes := self._planner.further(route, np.array([status], np.uint8), _ROW, like):
            route = routes[0]
            status, answer = self._pairs.align_with(pair, _NUMBERS[route.kernel])
            if answer:
                return answer
        return NO_SCORE, "*", -1, (0, 0, 0, 0), False, Status(status)


def _like(longest: int, edits: int, flags: int) -> PairBatch:
    """Return a batch of one pair, without bases, that has the properties by which kernels are chosen."""
    zero, length = np.zeros(1, np.int64), np.full(1, longest, np.int32)
    none = Records(np.zeros(0, np.uint8), zero, zero, _ROW, _ROW, zero - 1)
    flag, estimate = np.full(1, flags, np.uint8), np.full(1, edits, np.int32)
    return PairBatch(0, np.zeros(0, np.uint8), zero, zero, length, length, flag, estimate, none)
