"""Batches that are read and planned while a GPU is being opened."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from ..core.batch import U8, LaterBatch, PairBatch
from ..errors import DeviceError
from ..gpu.runtime.pinned_pool import PinnedPool
from .rows import Lend


class EarlyBatches:
    """Yields the batches of an iterator; until opened() is called, threads read and plan the first ones ahead.

    Attributes:
        pool: pool from which the memory for these batches' bases is leased.
    """

    def __init__(
        self, batches: Callable[[Lend], Iterator[LaterBatch]], prepare: Callable[[PairBatch], None], most: int
    ) -> None:
        """Start two threads, one that reads and one that plans.

        Args:
            batches: creates the iterator, which leases memory as io.read.reader.read_batches does.
            prepare: plans a batch; needs no GPU.
            most: maximum number of batches to read ahead.
        """
        self.pool = PinnedPool(forked=False)
        self._lend: Lend = self.pool.lease_early
        self._batches = batches(self._memory)
        self._prepare, self._maker = prepare, ThreadPoolExecutor(1, thread_name_prefix="wfacli-plan")
        self._ready: queue.SimpleQueue[Future[PairBatch] | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(most,), name="wfacli-early", daemon=True)
        self._thread.start()

    def _memory(self, nbytes: int) -> U8 | None:
        try:
            return self._lend(nbytes)
        except DeviceError:  # fall back to pageable memory
            return None

    def _read(self, most: int) -> None:
        try:
            for _ in range(most):
                batch = None if self._stop.is_set() else next(self._batches, None)
                if batch is None:
                    break
                self._ready.put(self._maker.submit(self._prepared, batch))
        except BaseException as error:  # re-raised by __iter__
            self._error = error
        self._ready.put(None)

    def _prepared(self, later: LaterBatch) -> PairBatch:
        batch = later()
        self._prepare(batch)
        return batch

    def opened(self, lend: Lend) -> None:
        """Stop reading ahead; further batches are read by the thread that iterates, with memory from `lend`."""
        self._lend = lend
        self._stop.set()

    def __iter__(self) -> Iterator[LaterBatch]:
        while (batch := self._ready.get()) is not None:
            yield batch.result
        if self._error:
            raise self._error
        yield from self._batches

    def close(self) -> None:
        """Wait for the batch that is being read; no thread may be iterating."""
        self._stop.set()
        self._thread.join()
        self._maker.shutdown(cancel_futures=True)
