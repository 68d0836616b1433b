"""GPU memory and page-locked memory of one solver, whose copies all use one stream."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DeviceError
from ...gpu.runtime.driver import Bytes, Driver, Memory


class Buffers:
    """Memory that lives until `close`; the driver is borrowed, and not closed."""

    def __init__(self, driver: Driver) -> None:
        """Create a stream."""
        self.stream = driver.stream()
        self._driver = driver
        self._memories: list[Memory] = []
        self._pinned: Bytes | None = None

    def allocate(self, nbytes: int) -> int:
        """Allocate GPU memory, at least one byte, and return its address. Raises DeviceError."""
        self._memories.append(self._driver.allocate(max(nbytes, 1)))
        return self._memories[-1].address

    def zeroed(self, nbytes: int) -> int:
        """Allocate zeroed GPU memory and return its address."""
        address = self.allocate(nbytes)
        self._driver.fill(address, 0, nbytes, self.stream)
        return address

    def uploaded(self, values: npt.NDArray[Any]) -> int:
        """Upload values into new GPU memory and return its address."""
        address = self.allocate(values.nbytes)
        self.write(address, values)
        return address

    def scratch(self, nbytes: int) -> Bytes:
        """Return page-locked memory, u8[nbytes], valid until the next call of scratch, read or write."""
        if self._pinned is None or len(self._pinned) < nbytes:
            pinned, self._pinned = self._pinned, None
            if pinned is not None:
                self._driver.unpin(pinned)
            self._pinned = self._driver.pinned(max(nbytes, 2 * len(pinned) if pinned is not None else 1))
        return self._pinned[:nbytes]

    def read(self, address: int, size: int) -> Bytes:
        """Download `size` bytes and wait for them."""
        pinned = self.scratch(size)
        if size:
            self._driver.download(pinned, address, self.stream)
        self.wait()
        return pinned.copy()

    def write(self, address: int, values: npt.NDArray[Any]) -> None:
        """Upload values and wait until they are there."""
        if not values.nbytes:
            return
        pinned = self.scratch(values.nbytes)
        pinned[:] = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        self._driver.upload(address, pinned, self.stream)
        self.wait()

    def wait(self) -> None:
        """Wait for all work on the stream. Raises DeviceError."""
        self._driver.wait(self._driver.record(self.stream))

    def drain(self) -> None:
        """Wait for work that may use the memory; a failed GPU has no work left."""
        with contextlib.suppress(DeviceError):
            if self._memories:
                self.wait()

    def close(self) -> None:
        """Release all memory; idempotent."""
        pinned, self._pinned = self._pinned, None
        if pinned is not None:
            with contextlib.suppress(DeviceError):
                self._driver.unpin(pinned)
        while self._memories:
            with contextlib.suppress(DeviceError):
                self._driver.free(self._memories.pop())
