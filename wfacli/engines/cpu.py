"""The CPU engine: slices of routes over threads, each with its own native kernel and memory."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import tuning
from .._native import Aligner, AlignOptions, CancelFlag
from ..batch import I32, PairBatch, PartialResult, Status
from ..config import AlignSpec, Limits, Mode
from ..dispatch import BITS, CAPPED, CPU_KERNELS, DIFFERENCE, LINEAR, STRIPES, Route
from ..errors import Cancelled
from ..stats import Stats

_SLICE_WORK = 4e6  # of _work; smaller slices cost more in hand-over than they gain in balance
_SLICES_A_THREAD = 4
_ALGORITHMS = {**dict.fromkeys(BITS, "lanes"), STRIPES: "stripes", DIFFERENCE: "difference"}


@dataclass(frozen=True)
class _Ticket:
    rows: I32
    slices: list[Future[PartialResult]]


def native_options(spec: AlignSpec, limits: Limits, kernel: str) -> AlignOptions:
    """What the native kernel needs to know."""
    h = spec.heuristics
    return AlignOptions(
        mismatch=spec.penalties.mismatch,
        gaps=spec.penalties.gaps,
        match=spec.penalties.match,
        ambiguous=spec.ambiguous.code,
        extension=spec.mode is Mode.EXTENSION,
        free=spec.free.as_tuple(),
        path=not spec.score_only,
        heuristics=(h.band, h.band_step, h.xdrop, h.zdrop),
        max_cost=-1 if spec.max_cost is None else spec.max_cost,
        algorithm=_ALGORITHMS.get(kernel, "wavefront"),
        memory="linear" if kernel == LINEAR else "table",
        words=BITS.get(kernel, 1),
        cap=tuning.CAP if kernel == CAPPED else (0.0, 0.0),
        table_bytes=limits.table,
        checkpoint_bytes=limits.checkpoints,
    )


class CpuEngine:
    """Wavefront alignment on CPU threads; see engines.base.Engine."""

    name = "cpu"

    def __init__(
        self, spec: AlignSpec, limits: Limits, threads: int, isa: str = "", stats: Stats | None = None
    ) -> None:
        """Starts the threads lazily; isa "" takes the fastest build that the machine runs. Raises ValueError."""
        self.isa = Aligner(isa).isa
        self._threads = threads
        self._options = {kernel: native_options(spec, limits, kernel) for kernel in CPU_KERNELS}
        self._cancel = CancelFlag()
        self._local = threading.local()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="wfacli-cpu")
        self._stats = stats or Stats()

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route of one of dispatch.CPU_KERNELS. Raises Cancelled after cancel()."""
        options = self._options[route.kernel]
        slices = _slices(pairs, route.rows, self._threads)
        try:
            return _Ticket(route.rows, [self._pool.submit(self._align, pairs, rows, options) for rows in slices])
        except RuntimeError:
            if not self._cancel.is_set:
                raise
            raise Cancelled("stopped") from None  # the pool takes nothing more

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results, rows in the route's order. Raises Cancelled."""
        try:
            parts = [future.result() for future in ticket.slices]
        except CancelledError:
            raise Cancelled("stopped") from None
        if self._cancel.is_set and any((p.status == Status.DROPPED).any() for p in parts):
            raise Cancelled("stopped")
        return _joined(ticket.rows, parts)

    def stats(self) -> dict[str, Any]:
        """Name, instruction set and threads."""
        return {"engine": self.name, "instruction_set": self.isa, "threads": self._threads}

    def cancel(self) -> None:
        """Stops running kernels at their next row, and forgets slices that wait."""
        self._cancel.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Waits for running slices."""
        self._pool.shutdown(wait=True)

    def _align(self, pairs: PairBatch, rows: I32, options: AlignOptions) -> PartialResult:
        aligner = getattr(self._local, "aligner", None)
        if aligner is None:
            aligner = self._local.aligner = Aligner(self.isa)
        with self._stats.timed("align"):
            status, cut, score, span, cigar, start = aligner.align(pairs, rows, options, self._cancel)
        return PartialResult(rows, status, cut, score, span.reshape(-1, 4), cigar, start)


def _slices(pairs: PairBatch, rows: I32, threads: int) -> list[I32]:
    """Cuts rows into parts of about equal work, enough of them to keep the threads busy to the end."""
    if len(rows) > 1 and _most_work(pairs) < _SLICE_WORK:
        return [rows]
    each = _work(pairs, rows)
    total = float(each.sum())
    count = min(max(int(total / _SLICE_WORK), 1), _SLICES_A_THREAD * threads, max(len(rows), 1))
    if count == 1:
        return [rows] if len(rows) else []
    cuts = np.searchsorted(np.cumsum(each), np.arange(1, count) * (total / count))
    return [part for part in np.split(rows, cuts) if len(part)]


def _most_work(pairs: PairBatch) -> float:
    """Work of a whole batch, from above, without a look at each pair."""
    longest = int(pairs.q_len.max(initial=0)) + int(pairs.t_len.max(initial=0))
    return len(pairs.bases) * (1 + longest / 1000)


def _work(pairs: PairBatch, rows: I32) -> npt.NDArray[np.float64]:
    """Work of pairs in letters of short reads: a wavefront grows with the square of the length at a given error."""
    letters = pairs.q_len[rows].astype(np.float64) + pairs.t_len[rows]
    return letters + letters**2 / 1000


def _joined(rows: I32, parts: list[PartialResult]) -> PartialResult:
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0] + [len(p.cigar) for p in parts])
    starts = [p.cigar_start[:-1] + b for p, b in zip(parts, before[:-1], strict=True)]
    return PartialResult(
        rows,
        np.concatenate([p.status for p in parts] or [np.zeros(0, np.uint8)]),
        np.concatenate([p.cut for p in parts] or [np.zeros(0, np.uint8)]),
        np.concatenate([p.score for p in parts] or [np.zeros(0, np.int32)]),
        np.concatenate([p.span for p in parts] or [np.zeros((0, 4), np.int32)]),
        np.concatenate([p.cigar for p in parts] or [np.zeros(0, np.uint32)]),
        np.concatenate([*starts, before[-1:]]).astype(np.int64),
    )
