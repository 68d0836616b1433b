"""The protocol of GPU drivers, narrow enough to be emulated without a GPU (tests/emulation).

All calls must come from the thread that created the driver. Copies, fills and launches are enqueued on a stream and
run asynchronously, in order within a stream and unordered between streams. Memory that they access must not be changed
or freed until an event recorded after them is done. Every call may raise DeviceError, also for work enqueued earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..kernels.catalogue import Row
from ..kernels.properties import Gpu

Bytes = npt.NDArray[np.uint8]
Stream = Any  # opaque
Event = Any  # opaque


@dataclass(frozen=True)
class Memory:
    """GPU memory, 256-byte aligned, initially undefined."""

    address: int
    nbytes: int


class Kernel(Protocol):
    """A loaded kernel."""

    @property
    def name(self) -> str:
        """Name of its row in the catalogue."""

    @property
    def threads(self) -> int:
        """Threads per block."""

    @property
    def registers(self) -> int:
        """Registers per thread."""

    @property
    def static_shared(self) -> int:
        """Bytes of static shared memory per block."""

    def resident(self, shared_bytes: int = 0) -> int:
        """Return the resident blocks per multiprocessor, given bytes of dynamic shared memory per block; may be 0."""


class Driver(Protocol):
    """An open GPU."""

    @property
    def gpu(self) -> Gpu:
        """Properties of the GPU."""

    def free_memory(self) -> int:
        """Return the free GPU memory in bytes; other processes may allocate it at any time."""

    def allocate(self, nbytes: int) -> Memory:
        """Allocate GPU memory, at least one byte. Raises OutOfDeviceMemory."""

    def free(self, memory: Memory) -> None:
        """Free GPU memory; no enqueued work may still need it."""

    def pinned(self, nbytes: int) -> Bytes:
        """Allocate page-locked host memory. Copies need such memory, memory that was locked, or views of these."""

    def unpin(self, array: Bytes) -> None:
        """Free an array that pinned() returned; no view of it may be in use."""

    def lock(self, memory: Bytes) -> None:
        """Page-lock existing host memory, which starts at a page boundary, for copies of all GPUs."""

    def unlock(self, memory: Bytes) -> None:
        """Unlock an array that was passed to lock(), without freeing it; no copy may still need it."""

    def stream(self) -> Stream:
        """Create a stream, which lives as long as the driver."""

    def upload(self, address: int, source: npt.NDArray[Any], stream: Stream) -> None:
        """Copy a contiguous array to the GPU."""

    def download(self, into: npt.NDArray[Any], address: int, stream: Stream) -> None:
        """Copy from the GPU as many bytes as the contiguous array has."""

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Set bytes of GPU memory."""

    def kernel(self, row: Row) -> Kernel:
        """Return a row of the catalogue as a loaded kernel, compiled or cached; always the same object."""

    def launch(
        self, kernel: Kernel, grid: int, arguments: npt.NDArray[np.void], stream: Stream, shared_bytes: int = 0
    ) -> None:
        """Launch a kernel.

        Args:
            kernel: the kernel.
            grid: number of blocks.
            arguments: one element, the kernel's argument (task.py); copied before the call returns.
            stream: stream to enqueue the launch on.
            shared_bytes: bytes of dynamic shared memory per block.
        """

    def record(self, stream: Stream) -> Event:
        """Return an event that is done once all work now on the stream is done."""

    def done(self, event: Event) -> bool:
        """Return whether an event is done, without waiting."""

    def wait(self, event: Event) -> None:
        """Wait for an event, with the GIL released."""

    def elapsed(self, start: Event, end: Event) -> float:
        """Return the seconds between two events that are done."""

    def close(self) -> None:
        """Wait for all work and free all resources; idempotent, and no other call may follow."""
