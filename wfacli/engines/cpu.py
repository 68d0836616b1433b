"""The CPU engine: slices of routes over threads, each with its own native kernel and memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np

from .. import tuning
from .._native import Aligner, AlignOptions, CancelFlag
from ..batch import I32, PairBatch, PartialResult, Status
from ..config import AlignSpec, Limits, Mode
from ..dispatch import BITS, CAPPED, CPU_KERNELS, DIFFERENCE, LINEAR, READS, STRIPES, Forecast, Route
from ..errors import Cancelled
from ..stats import Stats

_SLICES_A_THREAD = 4
_SLICE = 500.0  # microseconds; smaller slices cost more in hand-over than they gain in balance
_ALGORITHMS = {**dict.fromkeys(BITS, "lanes"), STRIPES: "stripes", DIFFERENCE: "difference", READS: "reads"}


@dataclass(frozen=True)
class _Ticket:
    rows: I32
    slices: list[Callable[[], PartialResult]]  # wait for a slice, or align it


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
    """Every CPU kernel, on threads; see engines.base.Engine."""

    name = "cpu"

    def __init__(
        self,
        spec: AlignSpec,
        limits: Limits,
        threads: int,
        isa: str = "",
        stats: Stats | None = None,
        slice_microseconds: float = _SLICE,
    ) -> None:
        """Starts the threads lazily; isa "" takes the fastest build that the machine runs.

        Routes are cut into slices that take about slice_microseconds, by the models of wfacli.tuning.

        Raises:
            ValueError: an unknown instruction set.
        """
        self.isa = Aligner(isa).isa
        self._spec, self._limits, self._threads, self._slice = spec, limits, threads, slice_microseconds
        self._options = {kernel: native_options(spec, limits, kernel) for kernel in CPU_KERNELS}
        self._cancel = CancelFlag()
        # As many may run as there are threads, whoever runs them; each with memory of its own.
        self._aligners: SimpleQueue[Aligner] = SimpleQueue()
        for _ in range(threads):
            self._aligners.put(Aligner(self.isa))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="wfacli-cpu")
        self._stats = stats or Stats()
        self._closed = False

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route of one of dispatch.CPU_KERNELS. Raises Cancelled after cancel()."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        options = self._options[route.kernel]
        slices = self._slices(pairs, route)
        if len(slices) == 1:  # no hand-over to another thread: who collects it aligns it
            return _Ticket(route.rows, [partial(self._align, pairs, slices[0], options)])
        try:
            return _Ticket(
                route.rows, [self._pool.submit(self._align, pairs, rows, options).result for rows in slices]
            )
        except RuntimeError:
            if not self._cancel.is_set:
                raise
            raise Cancelled("stopped") from None  # the pool takes nothing more

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results, rows in the route's order. Raises Cancelled."""
        try:
            parts = [result() for result in ticket.slices]
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
        """Waits for running slices; nothing is aligned any more."""
        self._closed = True
        self._pool.shutdown(wait=True)

    def _align(self, pairs: PairBatch, rows: I32, options: AlignOptions) -> PartialResult:
        if self._cancel.is_set:
            raise Cancelled("stopped")
        aligner = self._aligners.get()
        try:
            with self._stats.timed("align"):
                status, cut, score, span, cigar, start = aligner.align(pairs, rows, options, self._cancel)
        finally:
            self._aligners.put(aligner)
        return PartialResult(rows, status, cut, score, span.reshape(-1, 4), cigar, start)

    def _slices(self, pairs: PairBatch, route: Route) -> list[I32]:
        """Cuts rows into parts of about equal time, enough of them to keep the threads busy to the end."""
        rows = route.rows
        if len(rows) < 2 or self._threads == 1:
            return [rows] if len(rows) else []
        each = Forecast(pairs, self._spec, self._limits).tries((route.kernel,))[0][rows]
        total = float(each.sum())
        count = min(max(round(total / self._slice), 1), _SLICES_A_THREAD * self._threads, len(rows))
        if count == 1:
            return [rows]
        cuts = np.searchsorted(np.cumsum(each), np.arange(1, count) * (total / count))
        return [part for part in np.split(rows, cuts) if len(part)]


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
