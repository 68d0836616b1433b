"""Pinned staging buffers for the inputs of launches, and pinned memory for their results; used by any thread."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable

import numpy as np

from ...core.batch import U8
from ...errors import DeviceError
from .driver import Driver
from .pinned_pool import Call, PinnedPool

_GROWTH = 1.25  # growth factor, so that batches of similar sizes need one allocation
_OPERATIONS, _LEAST = 8.0, 1024  # first guess of operations per pair; operations added to any guess
_MARGIN = 1.125  # factor over the size of earlier results
_MOST_READ = 24  # maximum number of results that stay in leased memory; further ones are copied


class Staging:
    """A fixed number of pinned buffers; take() waits until one is free."""

    def __init__(self, count: int, call: Callable[[Callable[[Driver], U8]], U8]) -> None:
        """Create `count` empty buffers; `call` runs a function of the driver in the device's thread."""
        self._call, self._count = call, count
        self._free: queue.LifoQueue[U8 | None] = queue.LifoQueue()
        for _ in range(count):
            self._free.put(None)

    def take(self, nbytes: int) -> U8:
        """Return a buffer of at least `nbytes` bytes. Raises DeviceError if the host has no memory to pin."""
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
        """Return a buffer for the next take()."""
        self._free.put(buffer)

    def close(self) -> None:
        """Wait for all buffers and free their memory."""
        held = [buffer for buffer in (self._free.get() for _ in range(self._count)) if buffer is not None]

        def release(driver: Driver) -> U8:
            for buffer in held:
                _unpin(driver, buffer)
            return np.zeros(0, np.uint8)

        self._call(release)


def answer_bytes(count: int, operations: int, spans: int = 0) -> int:
    """Return the size of results in bytes.

    Results are start i64[m + 1], cost i32[m], status and cut u8[m]; then, at a multiple of 16, the spans and u32
    operations.

    Args:
        count: pairs, m.
        operations: CIGAR operations of all pairs.
        spans: bytes of a pair's span.
    """
    return -(-(14 * count + 8) // 16) * 16 + spans * count + 4 * operations


class ResultPool:
    """Leases pinned memory for results, sized by the results of earlier launches.

    A lease never waits for another one to end, since the holder of that may be waiting for the device.
    """

    def __init__(self, call: Call) -> None:
        """Create a pool; `call` runs a function of the driver in the device's thread."""
        self._pool, self._call = PinnedPool(), call
        self._operations: dict[str, float] = {}  # operations per pair, by kernel

    def lease(self, kernel: str, count: int, most: int, spans: int = 0, guess: float = _OPERATIONS) -> U8:
        """Lease memory for the expected size of a launch's results.

        Args:
            kernel: name of the kernel.
            count: number of pairs.
            most: maximum number of operations of all pairs.
            spans: bytes of a pair's span.
            guess: expected operations per pair while the kernel has no results yet.

        Raises:
            DeviceError: the host has no memory to pin.
        """
        likely = int(_MARGIN * self._operations.get(kernel, guess) * count) + _LEAST
        return self._pool.lease(answer_bytes(count, min(most, likely), spans), self._call, _GROWTH)

    def lease_now(self, driver: Driver, count: int, operations: int, spans: int = 0) -> U8:
        """Lease memory for results of known size, in the device's thread. Raises DeviceError."""
        return self._pool.lease(answer_bytes(count, operations, spans), lambda renew: renew(driver), _GROWTH)

    @property
    def has_spare(self) -> bool:
        """Whether results may stay in leased memory; otherwise they should be copied and the lease dropped."""
        return self._pool.leased <= _MOST_READ

    def record_size(self, kernel: str, count: int, operations: int) -> None:
        """Record the size of a kernel's results, in the device's thread."""
        now = operations / count
        self._operations[kernel] = max(now, (now + 3 * self._operations.get(kernel, now)) / 4)

    def close(self, driver: Driver) -> None:
        """Unlock all memory, in the device's thread."""
        self._pool.close(driver)


def _unpin(driver: Driver, buffer: U8) -> None:
    """Free a buffer on close, ignoring errors of a GPU that is lost."""
    with contextlib.suppress(DeviceError):
        driver.unpin(buffer)
