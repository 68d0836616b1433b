"""Base class of the CPU engines: routes shared among threads, each with its own native aligner."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .._native import CancelFlag
from ..core.batch import U8, PairBatch, PartialResult, Status
from ..core.route import Route
from ..core.stats import Stats
from ..errors import Cancelled

# Size of the parts of a shared route, in bases: parts per thread, minimum and maximum. Small enough for all threads to
# finish together, and large enough for kernels that align many short pairs at a time.
_PARTS_A_THREAD, _PART_LEAST, _PART_MOST = 32, 16_000, 160_000
_THREADS_FOR_FEW = 4  # threads of the engine for each route of short pairs that is one of few
_MOST_ALONE = 32_000_000  # bases of a route that one thread aligns while others have routes of their own
LONG = 4_000  # mean bases of a route's pairs from which each may take milliseconds


class NativeAligner(Protocol):
    """Native aligner of one thread."""

    @property
    def isa(self) -> str:
        """Instruction set that it is compiled for."""


class NativeJob(Protocol):
    """Rows of a batch that several threads share (native/engine/job.hpp)."""

    @property
    def parts(self) -> int:
        """Number of parts."""

    def work(self, aligner: Any) -> None:
        """Align parts until all are taken."""

    def results(self) -> Any:
        """Wait for the parts that other threads have taken, and return the columns of all rows."""


A = TypeVar("A", bound=NativeAligner)


@dataclass(frozen=True)
class Ticket:
    """A submitted route."""

    pairs: PairBatch
    route: Route
    job: NativeJob | None  # None if collect() aligns the whole route
    helpers: list[Future[None]]
    counted: bool = True  # among the routes that are not collected yet


class ThreadedEngine(ABC, Generic[A]):
    """Aligns on threads of the CPU (engines.base.Engine)."""

    name = "cpu"

    def __init__(self, aligners: list[A], stats: Stats | None) -> None:
        """Create one thread per aligner; threads start on first use. Raises ValueError if there are no aligners."""
        if not aligners:
            raise ValueError("an engine needs at least one thread")
        self.isa = aligners[0].isa
        self._threads = len(aligners)
        self._cancel = CancelFlag()
        # Limits the aligners in use to the number of threads, including callers' threads; each has its own memory.
        self._aligners: SimpleQueue[A] = SimpleQueue()
        for aligner in aligners:
            self._aligners.put(aligner)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="wfacli-cpu")
        self._stats = stats or Stats()
        self._closed = False
        self._lock = threading.Lock()
        self._submitted = 0  # routes that are worth sharing, and not collected yet

    @abstractmethod
    def _shared(self, pairs: PairBatch, route: Route) -> int:
        """Return the bases of a route if sharing it is worthwhile, otherwise 0."""

    @abstractmethod
    def _job(self, pairs: PairBatch, route: Route, part: int) -> NativeJob:
        """Return a route as a job with parts of at least `part` bases."""

    @abstractmethod
    def _alone(self, aligner: A, pairs: PairBatch, route: Route) -> Any:
        """Align a whole route in this thread; return its columns."""

    @abstractmethod
    def _result(self, route: Route, found: Any) -> PartialResult:
        """Convert columns to a result."""

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return None: any memory will do."""
        return None

    def submit(self, pairs: PairBatch, route: Route) -> Ticket:
        """Start a route. Raises Cancelled after cancel()."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        n_bases = self._shared(pairs, route)
        if not n_bases:  # a shared route has parts even with one thread, which handles signals between them
            return Ticket(pairs, route, None, [], counted=False)
        long = n_bases >= LONG * len(route.rows)
        threads = self._threads_for(long)
        if threads == 1 < self._threads and not long and n_bases <= _MOST_ALONE:
            return Ticket(pairs, route, None, [])
        part = min(max(n_bases // (_PARTS_A_THREAD * self._threads), _PART_LEAST), _PART_MOST)
        try:
            job = self._job(pairs, route, part)
            helpers = min(threads, job.parts) - 1  # collect() takes part as well
            return Ticket(pairs, route, job, [self._pool.submit(self._work, job) for _ in range(helpers)])
        except BaseException as error:
            self._collected()
            if not isinstance(error, RuntimeError) or not self._cancel.is_set:
                raise
            raise Cancelled("stopped") from None  # cancel() has shut the pool down

    def _threads_for(self, long: bool) -> int:
        """Return the threads that share another route.

        Routes of short pairs get an equal share of the threads each while there are few of them, and few batches at
        work. They are done within milliseconds, and each thread that takes part costs the interpreter 50 us, for which
        the thread that reads and the one that writes wait: where there are more, each is aligned by one thread.
        """
        with self._lock:
            self._submitted += 1
            if long:
                return self._threads
            few, sharing = max(self._threads // _THREADS_FOR_FEW, 1), max(self._submitted, self._stats.batches_at_work)
            return self._threads // sharing if sharing <= few else 1

    def _collected(self) -> None:
        with self._lock:
            self._submitted -= 1

    def collect(self, ticket: Ticket) -> PartialResult:
        """Align the rest of a route and return its results, in the route's order. Raises Cancelled after cancel()."""
        try:
            if ticket.job is None:
                with self._aligner() as aligner:
                    found = self._alone(aligner, ticket.pairs, ticket.route)
            else:
                self._work(ticket.job)
                for helper in ticket.helpers:
                    helper.cancel()  # a helper that has not begun would find no part left
                found = ticket.job.results()
        finally:
            if ticket.counted:
                self._collected()
        result = self._result(ticket.route, found)
        if self._cancel.is_set and (result.status == Status.DROPPED).any():
            raise Cancelled("stopped")
        return result

    def stats(self) -> dict[str, Any]:
        """Return name, instruction set and number of threads."""
        return {"engine": self.name, "instruction_set": self.isa, "threads": self._threads}

    def cancel(self) -> None:
        """Stop running kernels at their next row."""
        self._cancel.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for running threads; no route can be submitted afterwards."""
        self._closed = True
        self._pool.shutdown(wait=True)

    def _work(self, job: NativeJob) -> None:
        with self._aligner() as aligner:
            job.work(aligner)

    @contextmanager
    def _aligner(self) -> Iterator[A]:
        if self._cancel.is_set:
            raise Cancelled("stopped")
        aligner = self._aligners.get()
        try:
            with self._stats.timed("align"):
                yield aligner
        finally:
            self._aligners.put(aligner)


def bases_of(pairs: PairBatch, route: Route) -> int:
    """Return the total bases of a route's queries and targets."""
    if len(route.rows) == len(pairs):
        return pairs.total_bases
    return int(pairs.q_len[route.rows].sum(dtype=np.int64) + pairs.t_len[route.rows].sum(dtype=np.int64))
