"""A GPU that is opened when somebody wants it, and the algorithms that run there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from ...errors import DeviceError
from ...gpu.compile.compiler import Compiler
from ...gpu.runtime.cuda_driver import CudaDriver
from ...gpu.runtime.driver import Driver


class GpuOnDemand:
    """A GPU, opened by the thread that first asks for it, which then is the only one to use it.

    To open one takes longer than most pairs.
    """

    def __init__(self, opened: Callable[[], Driver]) -> None:
        """`opened` raises DeviceError where there is no GPU that works."""
        self._opened = opened
        self._driver: Driver | None = None
        self._failure: DeviceError | None = None

    def driver(self) -> Driver:
        """The open GPU. Raises DeviceError."""
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
        """Whether it was opened, and works."""
        return self._driver is not None

    @property
    def works(self) -> bool:
        """Whether it is open, or opens now."""
        try:
            self.driver()
        except DeviceError:
            return False
        return True

    def leave(self, failure: DeviceError) -> None:
        """Gives back one that has failed, and opens none any more."""
        self._failure = failure
        with contextlib.suppress(DeviceError):
            self.close()

    def close(self) -> None:
        """Gives it back; it may be called again."""
        driver, self._driver = self._driver, None
        if driver:
            driver.close()


def any_gpu(tell: Callable[[str], None]) -> GpuOnDemand:
    """The first GPU that CUDA offers; `tell` gets a line for each kernel that has to be compiled."""

    def compiled(row: str, arch: str, seconds: float | None) -> None:
        if seconds is not None:
            tell(f"compiled the kernel {row} for {arch} in {seconds:.1f} s; it is kept for the next time")

    return GpuOnDemand(lambda: CudaDriver(compiler=Compiler(progress=compiled)))
