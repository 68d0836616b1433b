"""Page-locked memory of the host, through which batches go to the GPU; any thread fills it."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable

import numpy as np

from ...core.batch import U8
from ...errors import DeviceError
from .driver import Driver
from .pinned_pool import Call, PinnedPool

_GROWTH = 1.25  # over what is asked for, so that batches of about one size need one allocation
_OPERATIONS, _LEAST = 8.0, 1024  # a pair, as long as nothing is known; in any case
_MARGIN = 1.125  # over what the last answers had
_MOST_READ = 24  # answers that may be somebody's at a time; what is kept beyond that is copied


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


def answer_bytes(count: int, operations: int, spans: int = 0) -> int:
    """Bytes of answers.

    start i64[m + 1], cost i32[m], status and cut u8[m]; from a multiple of 16 on, spans of so many bytes each and
    operations.
    """
    return -(-(14 * count + 8) // 16) * 16 + spans * count + 4 * operations


class ResultPool:
    """Memory for answers, which comes back by itself, and how large they have been.

    Nobody waits for it, since who holds some may be waiting for the device.
    """

    def __init__(self, call: Call) -> None:
        """`call` runs a function of the driver in the device's thread."""
        self._pool, self._call = PinnedPool(), call
        self._operations: dict[str, float] = {}  # a pair, by kernel

    def lease(self, kernel: str, count: int, most: int, spans: int = 0, guess: float = _OPERATIONS) -> U8:
        """Memory for a kernel's answers for so many pairs with as many operations as are likely, up to so many.

        `guess`: operations a pair, as long as the kernel has answered nothing.

        Raises:
            DeviceError: there is none.
        """
        likely = int(_MARGIN * self._operations.get(kernel, guess) * count) + _LEAST
        return self._pool.lease(answer_bytes(count, min(most, likely), spans), self._call, _GROWTH)

    def lease_now(self, driver: Driver, count: int, operations: int, spans: int = 0) -> U8:
        """Memory for answers whose size is known, in the device's thread. Raises DeviceError."""
        return self._pool.lease(answer_bytes(count, operations, spans), lambda renew: renew(driver), _GROWTH)

    @property
    def has_spare(self) -> bool:
        """Whether answers may stay where they are for as long as somebody wants to read them."""
        return self._pool.leased <= _MOST_READ

    def record_size(self, kernel: str, count: int, operations: int) -> None:
        """How many they had; in the device's thread."""
        now = operations / count
        self._operations[kernel] = max(now, (now + 3 * self._operations.get(kernel, now)) / 4)

    def close(self, driver: Driver) -> None:
        """Unlocks all memory; in the device's thread."""
        self._pool.close(driver)


def _unpin(driver: Driver, buffer: U8) -> None:
    """As the last thing that is done with it: who closes wants no error of a GPU that is lost."""
    with contextlib.suppress(DeviceError):
        driver.unpin(buffer)
