"""One pair at a time: no batch, no columns, no threads, which cost more than a short pair's alignment.

The kernels and the way from one to the next are those of batches, and so is the answer. Nearly all of it is native:
here is what is done once for all pairs of a kind, and what few pairs need.
"""

from __future__ import annotations

import numpy as np

from .._native import OneByOne, OnePair
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
# Times as long as the query a target is where free ends cost a wavefront more than they do INSIDE, if there are edits:
# 150 in 300 letters 3 to 5 us beside 8, 150 in 1,000 4 to 14 beside 12, 1,000 in 5,000 10 to 670 beside 43.
_FAR = 4


class SingleEngine:
    """Aligns a pair in the calling thread; safe to share between threads."""

    def __init__(self, spec: AlignSpec, limits: Limits) -> None:
        self._spec, self._limits, self._planner = spec, limits, Planner(spec, limits)
        self._free, self._inside = free_in_target(spec), is_inside(spec)
        options = [native_options(spec, limits, kernel) for kernel in CPU_KERNELS]
        self._by_length = self._free or steep_extension(spec)
        alone = MEDIUM if self._by_length else _ANY
        self._pairs = OneByOne(options, spec.mode is Mode.GLOBAL, _FAR, alone, Status.OK)

    def align(self, query: object, target: object) -> Answer:
        """(score, CIGAR, edits, span, exact, status), as results.Alignment has them. Raises InputError, TypeError."""
        try:
            return self._pairs.align(self, query, target)
        except (ValueError, BufferError):  # an array or a view that leaves some of its memory out
            return self._pairs.align(self, contiguous(query), contiguous(target))
        except TypeError:
            pairs_of([query], [target])  # type: ignore[list-item]  # it says which is no sequence
            raise

    def first_kernel(self, pair: OnePair, query: object, target: object) -> int:
        """The number of the kernel that a pair and others of its kind have first."""
        if self._by_length and pair.query_len > MEDIUM:
            # An estimate takes a hundredth of what a poor choice may cost.
            plan = self._planner.plan(pairs_of([query], [target]))  # type: ignore[list-item]
            return _NUMBERS[plan.routes[0].kernel]
        longest, edits, flags, far = self._pairs.kind(pair)
        if self._inside and far:
            return _NUMBERS[INSIDE]
        forecast = Forecast(_like(longest, edits, flags), self._spec, self._limits)
        # Kernels that take several pairs at a time lose with one what their models promise.
        names = [name for name in candidates(self._spec) if name not in (*BITS, INSIDE, READS)]
        return _NUMBERS[min(names, key=lambda name: float(forecast.microseconds(name)[0]))]

    def further(self, pair: OnePair, kernel: int, status: int) -> Answer:
        """The answer for a pair that its first kernel had none for, and why."""
        route, like = Route(_ROW, CPU_KERNELS[kernel]), _like(pair.longest, pair.est_edits, pair.flags)
        while routes := self._planner.further(route, np.array([status], np.uint8), _ROW, like):
            route = routes[0]
            status, answer = self._pairs.align_with(pair, _NUMBERS[route.kernel])
            if answer:
                return answer
        return NO_SCORE, "*", -1, (0, 0, 0, 0), False, Status(status)


def _like(longest: int, edits: int, flags: int) -> PairBatch:
    """A batch of one pair that is like another in all that a kernel is chosen by."""
    zero, length = np.zeros(1, np.int64), np.full(1, longest, np.int32)
    none = Records(np.zeros(0, np.uint8), zero, zero, _ROW, _ROW, zero - 1)
    flag, estimate = np.full(1, flags, np.uint8), np.full(1, edits, np.int32)
    return PairBatch(0, np.zeros(0, np.uint8), zero, zero, length, length, flag, estimate, none)
