"""Threads and bounded queues: items read by one thread, worked on by several, written in order by the caller.

Knows nothing of alignment. At most `in_flight` items exist between reader and writer: the reader takes a slot for
each, the writer gives it back, so memory is bounded whatever the input's size.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

_JOIN_SECONDS = 2.0  # a reader that waits for a pipe cannot be woken; it is left behind as a daemon


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Ended:
    pass


def run_ordered(
    items: Iterator[In],
    work: Callable[[In], Out],
    write: Callable[[Out], None],
    *,
    workers: int,
    in_flight: int,
    cancel: Callable[[], None],
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Passes every item through work and its result to write, in order.

    Args:
        items: read in a thread of its own. An exception it raises is raised here after all earlier items are written.
        work: called in `workers` threads.
        write: called in this thread.
        workers: threads for work.
        in_flight: items between reader and writer at any time.
        begin: called in this thread before the first write, while items are read and worked on already.
        cancel: called once when something fails or the caller is interrupted, to make running work stop.
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
        except BaseException as error:  # handed to the writer, which raises it in its turn
            results.put(_Failed(error))

    reader = threading.Thread(target=read, name="wfacli-read", daemon=True)
    reader.start()
    try:
        begin()
        while not isinstance(result := results.get(), _Ended):
            if isinstance(result, _Failed):
                raise result.error
            write(result.result())
            slots.release()
    except BaseException:
        stop.set()
        slots.release()
        cancel()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        reader.join(_JOIN_SECONDS)
