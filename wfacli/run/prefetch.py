"""Batches that are read while a GPU is being opened."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from ..core.batch import U8, PairBatch
from ..errors import DeviceError
from ..gpu.runtime.pinned_pool import PinnedPool

Lend = Callable[[int], U8 | None]


class EarlyBatches:
    """Yields what an iterator does, whose first items are taken at once, and got ready, until opened() is called.

    Attributes:
        letters: lends the memory that these batches have their letters in.
    """

    def __init__(
        self, batches: Callable[[Lend], Iterator[PairBatch]], prepare: Callable[[PairBatch], None], most: int
    ) -> None:
        """Begins, with one thread that reads and one behind it.

        Args:
            batches: makes the iterator, which asks for memory as io.reader.read_batches does.
            prepare: plans a batch, which needs no GPU.
            most: batches that are taken before somebody wants them.
        """
        self.letters = PinnedPool(forked=False)
        self._lend: Lend = self.letters.lease_early
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
        except DeviceError:  # who has no such memory takes any
            return None

    def _read(self, most: int) -> None:
        try:
            for _ in range(most):
                batch = None if self._stop.is_set() else next(self._batches, None)
                if batch is None:
                    break
                self._ready.put(self._maker.submit(self._prepared, batch))
        except BaseException as error:  # handed to who wants the batches
            self._error = error
        self._ready.put(None)

    def _prepared(self, batch: PairBatch) -> PairBatch:
        self._prepare(batch)
        return batch

    def opened(self, lend: Lend) -> None:
        """There is a GPU now: it lends the memory of further batches, which are read by who wants them."""
        self._lend = lend
        self._stop.set()

    def __iter__(self) -> Iterator[PairBatch]:
        while (batch := self._ready.get()) is not None:
            yield batch.result()
        if self._error:
            raise self._error
        yield from self._batches

    def close(self) -> None:
        """Waits for the batch that is being read; nobody may be iterating."""
        self._stop.set()
        self._thread.join()
        self._maker.shutdown(cancel_futures=True)
