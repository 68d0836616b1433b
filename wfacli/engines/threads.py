"""Routes shared out among threads, each with a native aligner of its own: what CPU engines have in common."""

from __future__ import annotations

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

# Letters of a part of a shared route, which one thread aligns without a pause: few enough for all to end together, and
# enough for kernels that take many short pairs at a time.
_PARTS_A_THREAD, _PART_LEAST, _PART_MOST = 32, 16_000, 160_000


class NativeAligner(Protocol):
    """What each thread has of its own."""

    @property
    def isa(self) -> str:
        """The instruction set that it is built for."""


class NativeJob(Protocol):
    """Rows of a batch that several threads share."""

    @property
    def parts(self) -> int:
        """How many parts there are."""

    def work(self, aligner: Any) -> None:
        """Aligns parts until all are taken."""

    def results(self) -> Any:
        """Waits for parts that others have taken; the columns of all."""


A = TypeVar("A", bound=NativeAligner)


@dataclass(frozen=True)
class Ticket:
    """A route under way."""

    pairs: PairBatch
    route: Route
    job: NativeJob | None  # none where who collects the route aligns it alone
    helpers: list[Future[None]]


class ThreadedEngine(ABC, Generic[A]):
    """Aligns on the CPU's threads; see engines.base.Engine."""

    name = "cpu"

    def __init__(self, aligners: list[A], stats: Stats | None) -> None:
        """Starts the threads lazily, as many as there are aligners. Raises ValueError where there are none."""
        if not aligners:
            raise ValueError("an engine needs at least one thread")
        self.isa = aligners[0].isa
        self._threads = len(aligners)
        self._cancel = CancelFlag()
        # As many may run as there are threads, whoever runs them; each with memory of its own.
        self._aligners: SimpleQueue[A] = SimpleQueue()
        for aligner in aligners:
            self._aligners.put(aligner)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="wfacli-cpu")
        self._stats = stats or Stats()
        self._closed = False

    @abstractmethod
    def _shared(self, pairs: PairBatch, route: Route) -> int:
        """Letters of a route that is worth sharing, or 0."""

    @abstractmethod
    def _job(self, pairs: PairBatch, route: Route, part: int) -> NativeJob:
        """A route in parts of so many letters."""

    @abstractmethod
    def _alone(self, aligner: A, pairs: PairBatch, route: Route) -> Any:
        """Columns of a whole route."""

    @abstractmethod
    def _result(self, route: Route, found: Any) -> PartialResult:
        """Columns as a result."""

    def letters_memory(self, nbytes: int) -> U8 | None:
        """Any does."""
        return None

    def submit(self, pairs: PairBatch, route: Route) -> Ticket:
        """Starts a route. Raises Cancelled after cancel()."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        letters = self._shared(pairs, route)
        if not letters:  # else in parts even for one thread, which looks after signals between them
            return Ticket(pairs, route, None, [])
        part = min(max(letters // (_PARTS_A_THREAD * self._threads), _PART_LEAST), _PART_MOST)
        job = self._job(pairs, route, part)
        helpers = min(self._threads, job.parts) - 1  # who collects the route takes part
        try:
            return Ticket(pairs, route, job, [self._pool.submit(self._work, job) for _ in range(helpers)])
        except RuntimeError:
            if not self._cancel.is_set:
                raise
            raise Cancelled("stopped") from None  # the pool takes nothing more

    def collect(self, ticket: Ticket) -> PartialResult:
        """Takes part in a route, or aligns it; results have rows in the route's order. Raises Cancelled."""
        if ticket.job is None:
            with self._aligner() as aligner:
                found = self._alone(aligner, ticket.pairs, ticket.route)
        else:
            self._work(ticket.job)
            for helper in ticket.helpers:
                helper.cancel()  # one that has not begun would find nothing left
            found = ticket.job.results()
        result = self._result(ticket.route, found)
        if self._cancel.is_set and (result.status == Status.DROPPED).any():
            raise Cancelled("stopped")
        return result

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


def letters_of(pairs: PairBatch, route: Route) -> int:
    """Letters of a route's queries and targets."""
    q_len, t_len = (
        (pairs.q_len, pairs.t_len)
        if len(route.rows) == len(pairs)
        else (pairs.q_len[route.rows], pairs.t_len[route.rows])
    )
    return int(q_len.sum(dtype=np.int64) + t_len.sum(dtype=np.int64))
