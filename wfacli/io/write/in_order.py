"""Work of threads whose results are taken in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


def in_order(pool: Executor, work: Callable[[In], Out], items: Iterable[In], ahead: int) -> Iterator[Out]:
    """Yield the results of `work` on every item, in order; up to `ahead` items are being worked on."""
    begun: deque[Future[Out]] = deque()
    try:
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) >= ahead:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        for future in begun:
            future.cancel()
