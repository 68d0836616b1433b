"""One pair at a time: no batch, no columns, no threads, which cost more than a short pair's alignment.

The kernels and the way from one to the next are those of batches, and so is the answer.
"""

from __future__ import annotations

import threading
from functools import lru_cache

import numpy as np

from .._native import Aligner, CancelFlag, OnePair
from ..batch import PairBatch, Records, Status
from ..config import AlignSpec, Limits, Mode
from ..dispatch import MEDIUM, Route, after, candidates
from ..dispatch import route as first_routes
from ..estimate import with_estimates
from ..forecast import BITS, CPU_KERNELS, INSIDE, READS, Forecast, free_in_target, is_inside
from ..io.memory import in_one_piece, pairs_of
from .cpu import native_options

Answer = tuple[int, bool, int, tuple[int, int, int, int], str, int]
_ROW = np.zeros(1, np.int32)
_kernels = threading.local()  # a native Aligner for each thread, with the memory that it keeps between pairs
_never = CancelFlag()
# Times as long as the query a target is where free ends cost a wavefront more than they do INSIDE, if there are edits:
# 150 in 300 letters 3 to 5 us beside 8, 150 in 1,000 4 to 14 beside 12, 1,000 in 5,000 10 to 670 beside 43.
_FAR = 4


class SingleEngine:
    """Aligns a pair in the calling thread; safe to share between threads."""

    def __init__(self, spec: AlignSpec, limits: Limits) -> None:
        self._spec, self._limits = spec, limits
        self._options = {kernel: native_options(spec, limits, kernel) for kernel in CPU_KERNELS}
        self._estimated = spec.mode is Mode.GLOBAL
        self._free, self._inside = free_in_target(spec), is_inside(spec)
        self._first = lru_cache(maxsize=4096)(self._first_kernel)

    def align(self, query: object, target: object) -> Answer:
        """(status, cut, score, span, CIGAR, edits) as in batch.PartialResult. Raises InputError, TypeError."""
        aligner = getattr(_kernels, "aligner", None)
        if aligner is None:
            aligner = _kernels.aligner = Aligner()
        try:
            pair = OnePair(query, target, self._estimated)
        except ValueError:  # an array that leaves some of its memory out
            pair = OnePair(in_one_piece(query), in_one_piece(target), self._estimated)
        except TypeError:
            pairs_of([query], [target])  # type: ignore[list-item]  # it says which is no sequence
            raise
        longest = max(pair.query_len, pair.target_len)
        if self._free and pair.query_len > MEDIUM:
            # An estimate takes a hundredth of what a poor choice may cost.
            pairs = with_estimates(pairs_of([query], [target]), self._spec)  # type: ignore[list-item]
            route = first_routes(pairs, self._spec, self._limits)[0]
        elif self._inside and pair.target_len >= _FAR * pair.query_len:
            route = Route(_ROW, INSIDE)
        else:
            route = Route(_ROW, self._first(_rounded(longest), _rounded(pair.est_edits), pair.flags))
        while True:
            answer = pair.align(aligner, self._options[route.kernel], _never)
            if answer[0] == Status.OK:
                return answer
            status, like = np.array([answer[0]], np.uint8), _like(longest, pair.est_edits, pair.flags)
            further = after(route, status, _ROW, self._spec, like, self._limits)
            if not further:
                return answer
            route = further[0]

    def _first_kernel(self, longest: int, edits: int, flags: int) -> str:
        forecast = Forecast(_like(longest, edits, flags), self._spec, self._limits)
        # Kernels that take several pairs at a time lose with one what their models promise.
        names = [name for name in candidates(self._spec) if name not in (*BITS, INSIDE, READS)]
        return min(names, key=lambda name: float(forecast.microseconds(name)[0]))


def _rounded(value: int) -> int:
    """The value to about an eighth, upwards: the choice of a kernel needs no more, and so is soon known for all."""
    shift = max(value.bit_length() - 4, 0)
    return min(-(-value >> shift) << shift, (1 << 31) - 1)


def _like(longest: int, edits: int, flags: int) -> PairBatch:
    """A batch of one pair that is like another in all that a kernel is chosen by."""
    zero, length = np.zeros(1, np.int64), np.full(1, longest, np.int32)
    none = Records(np.zeros(0, np.uint8), zero, zero, _ROW, _ROW, zero - 1)
    flag, estimate = np.full(1, flags, np.uint8), np.full(1, edits, np.int32)
    return PairBatch(0, np.zeros(0, np.uint8), zero, zero, length, length, flag, estimate, none)
