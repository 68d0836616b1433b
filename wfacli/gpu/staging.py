"""Page-locked memory of the host, through which batches go to the card; any thread fills it."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable

import numpy as np

from ..batch import U8
from ..errors import DeviceError
from .driver import Driver

_GROWTH = 1.25  # over what is asked for, so that batches of about one size need one allocation


class Staging:
    """A fixed number of buffers; who wants one waits until another one is given back."""

    def __init__(self, count: int, call: Callable[[Callable[[Driver], U8]], U8]) -> None:
        """`call` runs a function of the driver in the device's thread."""
        self._call, self._count = call, count
        self._free: queue.LifoQueue[U8 | None] = queue.LifoQueue()
        for _ in range(count):
            self._free.put(None)

    def take(self, nbytes: int) -> U8:
        """A buffer of at least so many bytes. Raises DeviceError where the host has no such memory."""
        buffer = self._free.get()
        if buffer is not None and len(buffer) >= nbytes:
            return buffer
        old = buffer

        def renew(driver: Driver) -> U8:
            if old is not None:
                driver.unpin(old)
            return driver.pinned(int(nbytes * _GROWTH))

        try:
            return self._call(renew)
        except BaseException:
            self._free.put(None)
            raise

    def give_back(self, buffer: U8) -> None:
        """For the next one."""
        self._free.put(buffer)

    def close(self) -> None:
        """Waits for all buffers and gives their memory back."""
        held = [buffer for buffer in (self._free.get() for _ in range(self._count)) if buffer is not None]

        def release(driver: Driver) -> U8:
            for buffer in held:
                _unpin(driver, buffer)
            return np.zeros(0, np.uint8)

        self._call(release)


class Outbox:
    """Buffers for answers: the device's thread takes them, and whoever has read one gives it back.

    There are as many as are read at a time. Nobody waits for one, since who holds one may be waiting for the device.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[U8] = []
        self._all: dict[int, U8] = {}  # also those that nobody gives back, by their addresses

    def take(self, driver: Driver, nbytes: int) -> U8:
        """A buffer of at least so many bytes; in the device's thread. Raises DeviceError."""
        with self._lock:
            fitting = [i for i, buffer in enumerate(self._free) if len(buffer) >= nbytes]
            if fitting:
                return self._free.pop(min(fitting, key=lambda i: len(self._free[i])))
            small = self._free.pop() if self._free else None
        if small is not None:
            del self._all[small.ctypes.data]
            driver.unpin(small)
        buffer = driver.pinned(int(nbytes * _GROWTH))
        self._all[buffer.ctypes.data] = buffer
        return buffer

    def give_back(self, buffer: U8) -> None:
        """For the next job; in any thread."""
        with self._lock:
            self._free.append(buffer)

    def close(self, driver: Driver) -> None:
        """Gives all memory back, that of answers which nobody came for as well; in the device's thread."""
        for buffer in self._all.values():
            _unpin(driver, buffer)
        self._all.clear()
        self._free.clear()


def _unpin(driver: Driver, buffer: U8) -> None:
    """As the last thing that is done with it: who closes wants no error of a card that is lost."""
    with contextlib.suppress(DeviceError):
        driver.unpin(buffer)
