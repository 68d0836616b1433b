"""The CPU engine: routes shared out among threads, each with its own native kernel and memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from .. import tuning
from .._native import Aligner, AlignJob, AlignOptions, CancelFlag
from ..batch import I32, I64, U8, U32, PairBatch, PartialResult, Status
from ..config import AlignSpec, Limits, Mode
from ..dispatch import Route
from ..errors import Cancelled
from ..forecast import BITS, CAPPED, CPU_KERNELS, DIFFERENCE, LINEAR, READS, STRIPES
from ..stats import Stats

# Letters of a route from which on it is shared: fewer take less time than to wake a thread; and those of long pairs,
# which may take milliseconds each.
_SHARED, _SHARED_LONG, _LONG = 500_000, 20_000, 4_000
# Letters of a part of a shared route, which one thread aligns without a pause: few enough for all to end together, and
# enough for kernels that take many short pairs at a time.
_PARTS_A_THREAD, _PART_LEAST, _PART_MOST = 32, 16_000, 160_000
_ALGORITHMS = {**dict.fromkeys(BITS, "lanes"), STRIPES: "stripes", DIFFERENCE: "difference", READS: "reads"}


@dataclass(frozen=True)
class _Ticket:
    pairs: PairBatch
    route: Route
    job: AlignJob | None  # none where who collects the route aligns it alone
    helpers: list[Future[None]]


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
    ) -> None:
        """Starts the threads lazily; isa "" takes the fastest build that the machine runs.

        Raises:
            ValueError: an unknown instruction set.
        """
        self.isa = Aligner(isa).isa
        self._threads = threads
        self._options = {kernel: native_options(spec, limits, kernel) for kernel in CPU_KERNELS}
        self._cancel = CancelFlag()
        # As many may run as there are threads, whoever runs them; each with memory of its own.
        self._aligners: SimpleQueue[Aligner] = SimpleQueue()
        for _ in range(threads):
            self._aligners.put(Aligner(self.isa))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="wfacli-cpu")
        self._stats = stats or Stats()
        self._closed = False

    def letters_memory(self, nbytes: int) -> U8 | None:
        """Any does."""
        return None

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route of one of dispatch.CPU_KERNELS. Raises Cancelled after cancel()."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        letters = _letters(pairs, route) if len(route.rows) > 1 else 0
        shared = _SHARED if letters < _LONG * len(route.rows) else _SHARED_LONG
        if letters < shared:  # else in parts even for one thread, which looks after signals between them
            return _Ticket(pairs, route, None, [])
        part = min(max(letters // (_PARTS_A_THREAD * self._threads), _PART_LEAST), _PART_MOST)
        rows = self._rows_of_a_part(route)
        job = AlignJob(pairs, route.rows, self._options[route.kernel], self._cancel, part, rows)
        helpers = min(self._threads, job.parts) - 1  # who collects the route takes part
        try:
            return _Ticket(pairs, route, job, [self._pool.submit(self._work, job) for _ in range(helpers)])
        except RuntimeError:
            if not self._cancel.is_set:
                raise
            raise Cancelled("stopped") from None  # the pool takes nothing more

    def _rows_of_a_part(self, route: Route) -> int:
        """A kernel that takes a pair a lane loses with lanes that stay empty: with those of reads, at each band."""
        lanes, most = (8, 8) if route.kernel in BITS else (64, 256) if route.kernel == READS else (1, 1)
        shares = 4 * self._threads if self._threads > 1 else 1
        return lanes * min(-(-len(route.rows) // (lanes * shares)), most)

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Takes part in a route, or aligns it; results have rows in the route's order. Raises Cancelled."""
        if ticket.job is None:
            found = self._align(ticket.pairs, ticket.route)
        else:
            self._work(ticket.job)
            for helper in ticket.helpers:
                helper.cancel()  # one that has not begun would find nothing left
            found = ticket.job.joined()
        status, cut, score, span, cigar, start = found
        if self._cancel.is_set and (status == Status.DROPPED).any():
            raise Cancelled("stopped")
        return PartialResult(ticket.route.rows, status, cut, score, span.reshape(-1, 4), cigar, start)

    def stats(self) -> dict[str, Any]:
        """Name, instruction set and threads."""
        return {"engine": self.name, "instruction_set": self.isa, "threads": self._threads}

    def cancel(self) -> None:
        """Stops running kernels at their next row."""
        self._cancel.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Waits for running threads; nothing is aligned any more."""
        self._closed = True
        self._pool.shutdown(wait=True)

    def _align(self, pairs: PairBatch, route: Route) -> tuple[U8, U8, I32, I32, U32, I64]:
        with self._aligner() as aligner:
            return aligner.align(pairs, route.rows, self._options[route.kernel], self._cancel)

    def _work(self, job: AlignJob) -> None:
        with self._aligner() as aligner:
            job.work(aligner)

    @contextmanager
    def _aligner(self) -> Iterator[Aligner]:
        if self._cancel.is_set:
            raise Cancelled("stopped")
        aligner = self._aligners.get()
        try:
            with self._stats.timed("align"):
                yield aligner
        finally:
            self._aligners.put(aligner)


def _letters(pairs: PairBatch, route: Route) -> int:
    q_len, t_len = (
        (pairs.q_len, pairs.t_len)
        if len(route.rows) == len(pairs)
        else (pairs.q_len[route.rows], pairs.t_len[route.rows])
    )
    return int(q_len.sum(dtype=np.int64) + t_len.sum(dtype=np.int64))
