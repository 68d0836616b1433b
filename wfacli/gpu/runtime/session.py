"""One GPU as the engines use it: device thread, pinned memory for inputs and results, memory budget, and failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from ...core.batch import U8
from ...errors import Cancelled, DeviceError
from ..kernels.properties import Gpu
from .device import IN_FLIGHT, Device, Launch
from .driver import Driver
from .pinned_pool import PinnedPool
from .staging import ResultPool, Staging

_SHARE = 0.5  # default share of the GPU's free memory
_MAX_LAUNCH = 24 << 30  # default maximum bytes of a launch: enough for all pairs of a batch at once
MIN_LAUNCH = 16 << 20  # bytes of a launch below which the CPU takes over


class GpuSession:
    """A GPU that one run has opened.

    Attributes:
        launch_bytes: GPU memory that a launch may use, in bytes; reduced after the GPU ran out of memory.
        failure: why the GPU gets no more pairs; None as long as it works.
        starved: True if the GPU had too little memory even for the smallest launch, because other programs use it.
        results: pinned memory for results.
        bases: pinned memory for batches' bases.
    """

    def __init__(
        self,
        open_driver: Callable[[], Driver],
        memory: float | None = None,
        in_flight: int = IN_FLIGHT,
        bases: PinnedPool | None = None,
    ) -> None:
        """Open the GPU.

        Args:
            open_driver: called in the device's thread.
            memory: bytes of GPU memory to use; below 1 a fraction of the free memory; None: half of it.
            in_flight: maximum number of launches in flight.
            bases: pool for batches' bases, which may have leased memory before the GPU was open; None: a new one.

        Raises:
            DeviceError: no GPU works.
        """
        self._device = Device(open_driver, in_flight)
        try:
            free = self._device.call(lambda driver: driver.free_memory())
            if bases:
                bases.opened(self._device.call_now)
        except BaseException:
            self._device.close()
            raise
        if memory is None:
            budget = min(_SHARE * free, in_flight * _MAX_LAUNCH)
        else:
            budget = memory * free if memory < 1 else memory
        self.launch_bytes = int(budget) // in_flight
        self.failure: DeviceError | None = None
        self.starved = False
        self.results = ResultPool(self._device.call_now)
        self.bases = self._own_bases = bases or PinnedPool(forked=False)
        self._inputs = Staging(in_flight + 2, self._device.call_now)
        # For batches whose bases are in pinned memory already: small buffers, in use until the results arrive.
        self._columns = Staging(2 * in_flight + 2, self._device.call_now)
        self._cancelled = threading.Event()
        self._closed = False

    @property
    def gpu(self) -> Gpu:
        """Properties of the GPU."""
        return self._device.driver.gpu

    @property
    def call(self) -> Callable[[Callable[[Driver], Any]], Any]:
        """Function that runs a function of the driver in the device's thread, while launches are in flight."""
        return self._device.call_now

    @property
    def cancelled(self) -> Callable[[], bool]:
        """Function that returns whether cancel() was called."""
        return self._cancelled.is_set

    def share_bases(self, other: GpuSession) -> None:
        """Use the pinned memory of another session for bases; that session must be closed after this one."""
        self.bases = other.bases

    def batch_memory(self, nbytes: int) -> U8 | None:
        """Return pinned memory (u8[nbytes]) for a batch's bases, or None; it may be kept after close()."""
        if self._closed or self.failure is not None:
            return None
        try:
            return self.bases.lease(nbytes, self._device.call_now)
        except DeviceError:  # bases are staged from pageable memory instead
            return None

    def check_open(self) -> None:
        """Raise Cancelled after cancel(), RuntimeError after close()."""
        if self._cancelled.is_set():
            raise Cancelled("stopped")
        if self._closed:
            raise RuntimeError("the engine is closed")

    @contextmanager
    def staging(self, nbytes: int, pinned: bool) -> Iterator[tuple[U8, Callable[[U8], None]]]:
        """Yield a buffer for a launch's inputs, and the function that returns it; an exception returns it at once.

        Args:
            nbytes: size in bytes.
            pinned: True if the bases are in pinned memory already, so that only columns are staged.

        Raises:
            DeviceError: the host has no memory to pin.
        """
        buffers = self._columns if pinned else self._inputs
        buffer = buffers.take(nbytes)
        try:
            yield buffer, buffers.give_back
        except BaseException:
            buffers.give_back(buffer)
            raise

    def submit(self, launch: Launch) -> Future[Any]:
        """Start a launch; return the future of its result."""
        return self._device.submit(launch)

    def out_of_memory(self, launch_bytes: int) -> bool:
        """Halve the memory of launches after one of `launch_bytes` failed; return False if that leaves too little."""
        # Launches that were sized before the last one failed say nothing about what fits now.
        self.launch_bytes = min(self.launch_bytes, launch_bytes // 2)
        enough = launch_bytes // 2 >= MIN_LAUNCH
        self.starved = self.starved or not enough
        return enough

    def report(self) -> dict[str, Any]:
        """Return the GPU's part of an engine's stats, as plain values."""
        return self._device.report(self.launch_bytes, self.failure)

    def cancel(self) -> None:
        """Prevent launches that have not begun."""
        self._cancelled.set()

    def close(self) -> bool:
        """Wait for running launches and close the GPU; return False if it was closed before."""
        if self._closed:
            return False
        self._closed = True
        self._inputs.close()
        self._columns.close()
        for held in (self.results, self._own_bases):
            self._device.call(held.close)
        self._device.close()
        return True


def failed(error: Exception) -> Future[Any]:
    """Return a future that raises an error."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future
