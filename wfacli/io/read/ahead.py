"""An iterator whose items are produced ahead by a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class _Ended:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Ahead(Generic[T]):
    """Yields the items of an iterator in order, then raises the exception that ended it, if any."""

    def __init__(self, items: Iterator[T], max_ahead: int) -> None:
        """Start the thread, which stays at most `max_ahead` items ahead."""
        self._items = items
        self._slots = threading.Semaphore(max_ahead)
        self._ready: queue.SimpleQueue[T | _Ended] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._produce, name="wfacli-ahead", daemon=True)
        self._thread.start()

    def _produce(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._items:
                self._slots.acquire()
                if self._stop.is_set():
                    break
                self._ready.put(item)
        except BaseException as raised:  # re-raised by __next__
            error = raised
        finally:
            if isinstance(self._items, Generator):
                self._items.close()
        self._ready.put(_Ended(error))

    def __iter__(self) -> Ahead[T]:
        return self

    def __next__(self) -> T:
        item = self._ready.get()
        if isinstance(item, _Ended):
            self._ready.put(item)
            if item.error:
                raise item.error
            raise StopIteration
        self._slots.release()
        return item

    def close(self) -> None:
        """Stop the thread after its current item and wait for it; nothing more is yielded."""
        self._stop.set()
        self._slots.release()
        self._thread.join()
