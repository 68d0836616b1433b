"""Ordered pipeline: one thread reads items, several process them, and the caller writes the results in order.

Independent of alignment. The reader acquires a slot for each item and the writer releases it, so at most `in_flight`
items exist between them, and memory does not depend on the size of the input.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ..core.interruption import deferred

In = TypeVar("In")
Out = TypeVar("Out")

_TOGETHER = 4  # results that are written together at most; their slots are free only then
_LOOK_SECONDS = 0.5  # after which a signal is seen that a wait has missed
_JOIN_SECONDS = 2.0  # a reader blocked on a pipe cannot be woken; it is abandoned as a daemon thread


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Ended:
    pass


def _next(results: queue.SimpleQueue[Future[Out] | _Failed | _Ended]) -> Future[Out] | _Failed | _Ended:
    while True:
        # A signal that arrives just before Python waits does not end the wait, and its handler runs behind it.
        with contextlib.suppress(queue.Empty):
            return results.get(timeout=_LOOK_SECONDS)


def _ready(results: queue.SimpleQueue[Future[Out] | _Failed | _Ended]) -> Iterator[list[Out]]:
    """Yield the next results, up to _TOGETHER that are there already; at last raise the exception that ended them."""
    after = None  # the next one, which is not there yet
    while not isinstance(result := after or _next(results), _Ended):
        if isinstance(result, _Failed):
            raise result.error
        ready, after = [result.result()], None
        while len(ready) < _TOGETHER and after is None and not results.empty():
            result = results.get()
            if isinstance(result, Future) and result.done() and not result.exception():
                ready.append(result.result())
            else:
                after = result
        yield ready
        del result, ready  # of which the caller has released the slots


def run_ordered(
    items: Iterator[In],
    work: Callable[[In], Out],
    write: Callable[[list[Out]], None],
    *,
    workers: int,
    in_flight: int,
    cancel: Callable[[], None],
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Call `work` on every item, and `write` with the results in order, as many as there are at a time.

    Args:
        items: read in a thread of its own. Its exception is raised here after all earlier items are written.
        work: called in `workers` threads.
        write: called in this thread, with at least one result. Taking them together spares this thread, which all
            others depend on, from waiting for the interpreter between them.
        workers: number of threads for `work`.
        in_flight: maximum number of items between reader and writer.
        cancel: called once if anything fails or the caller is interrupted, to stop running work.
        begin: called in this thread before the first write, while items are already being read and processed.
    """
    slots = threading.Semaphore(in_flight)
    stop = threading.Event()
    results: queue.SimpleQueue[Future[Out] | _Failed | _Ended] = queue.SimpleQueue()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="wfacli-work")

    def read() -> None:
        try:
            while True:
                slots.acquire()
                if stop.is_set():
                    return
                item = next(items, None)
                if item is None or stop.is_set():
                    break
                results.put(pool.submit(work, item))
            results.put(_Ended())
        except BaseException as error:  # raised by the writer, after the results of earlier items
            results.put(_Failed(error))

    reader = threading.Thread(target=read, name="wfacli-read", daemon=True)
    complete = False
    try:
        with deferred():
            reader.start()
        begin()
        for ready in _ready(results):
            write(ready)
            slots.release(len(ready))
            del ready
        complete = True
    finally:
        with deferred():  # a signal must not end the command while its threads go on
            if not complete:
                stop.set()
                slots.release()
                cancel()
            pool.shutdown(wait=True, cancel_futures=True)
            if reader.ident is not None:
                reader.join(_JOIN_SECONDS)
