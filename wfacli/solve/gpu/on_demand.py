"""A GPU that is opened on first use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from ...errors import DeviceError
from ...gpu.compile.compiler import Compiler
from ...gpu.runtime.driver import Driver
from ...gpu.runtime.opening import open_driver


class GpuOnDemand:
    """A GPU that is opened by the first thread that uses it; only that thread may use it afterwards.

    Opening a GPU takes longer than computing most pairs.
    """

    def __init__(self, opened: Callable[[], Driver]) -> None:
        """`opened` opens the GPU; it raises DeviceError if there is no working one."""
        self._opened = opened
        self._driver: Driver | None = None
        self._failure: DeviceError | None = None

    def driver(self) -> Driver:
        """Return the driver of the GPU, opening it if needed. Raises DeviceError."""
        if self._failure:
            raise self._failure
        if self._driver is None:
            try:
                self._driver = self._opened()
            except DeviceError as failure:
                self._failure = failure
                raise
        return self._driver

    @property
    def is_open(self) -> bool:
        """True if it is open."""
        return self._driver is not None

    @property
    def works(self) -> bool:
        """True if it is open or can be opened; opens it."""
        try:
            self.driver()
        except DeviceError:
            return False
        return True

    def exclude(self, failure: DeviceError) -> None:
        """Close it after a failure; `driver` raises that failure from now on."""
        self._failure = failure
        with contextlib.suppress(DeviceError):
            self.close()

    def close(self) -> None:
        """Close it; idempotent."""
        driver, self._driver = self._driver, None
        if driver:
            driver.close()


def any_gpu(tell: Callable[[str], None]) -> GpuOnDemand:
    """Return the first GPU that CUDA lists; `tell` receives a message for each kernel that has to be compiled."""

    def compiled(row: str, arch: str, seconds: float | None) -> None:
        if seconds is not None:
            tell(f"compiled the kernel {row} for {arch} in {seconds:.1f} s; it is cached")

    return GpuOnDemand(lambda: open_driver(compiler=Compiler(progress=compiled)))
