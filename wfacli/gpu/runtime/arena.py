"""Bump allocator: GPU memory of one launch, allocated at once and handed out in pieces."""

from __future__ import annotations

from ..kernels.layout import padded
from .driver import Driver, Memory

_SPARE = 1.25  # growth factor: launches differ in size, and growing waits for all work on the GPU


class Arena:
    """A block of GPU memory that only grows, handed out in pieces."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._memory: Memory | None = None
        self._used = 0

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self._memory.nbytes if self._memory else 0

    def begin(self, nbytes: int, most: int = 0) -> None:
        """Make room for `nbytes` bytes and invalidate all pieces. Raises OutOfDeviceMemory.

        `most`: size in bytes up to which the arena may grow beyond `nbytes`, for slightly larger launches later.
        """
        self._used = 0
        if nbytes > self.nbytes:
            self.release()
            self._memory = self._driver.allocate(max(min(int(_SPARE * nbytes), most), nbytes))

    def take(self, nbytes: int) -> int:
        """Return the address of a piece of `nbytes` bytes."""
        if self._memory is None or self._used + nbytes > self._memory.nbytes:
            raise MemoryError(f"an arena of {self.nbytes} bytes has no room for {nbytes} more than {self._used}")
        address = self._memory.address + self._used
        self._used += padded(nbytes)
        return address

    def release(self) -> None:
        """Free the memory."""
        if self._memory is not None:
            self._driver.free(self._memory)
            self._memory = None
