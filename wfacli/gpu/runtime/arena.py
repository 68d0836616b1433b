"""Memory of the GPU for one job: taken once, given out piece by piece."""

from __future__ import annotations

from ..kernels.layout import padded
from .driver import Driver, Memory

_SPARE = 1.25  # times as much as is asked for: jobs are never quite alike, and whoever grows waits for the whole GPU


class Arena:
    """A piece of the GPU's memory that only grows."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._memory: Memory | None = None
        self._used = 0

    @property
    def nbytes(self) -> int:
        """Bytes that it holds."""
        return self._memory.nbytes if self._memory else 0

    def begin(self, nbytes: int, most: int = 0) -> None:
        """Makes room for so many bytes; what was given out before is void. Raises OutOfDeviceMemory.

        `most`: bytes up to which it may hold more than that, for jobs that want a little more than this one.
        """
        self._used = 0
        if nbytes > self.nbytes:
            self.release()
            self._memory = self._driver.allocate(max(min(int(_SPARE * nbytes), most), nbytes))

    def take(self, nbytes: int) -> int:
        """The address of the next piece."""
        if self._memory is None or self._used + nbytes > self._memory.nbytes:
            raise MemoryError(f"an arena of {self.nbytes} bytes has no room for {nbytes} more than {self._used}")
        address = self._memory.address + self._used
        self._used += padded(nbytes)
        return address

    def release(self) -> None:
        """Gives the memory back to the GPU."""
        if self._memory is not None:
            self._driver.free(self._memory)
            self._memory = None
