"""What the engine asks of a GPU: a narrow protocol, so that it also runs where there is none (tests/emulation).

All calls come from one thread, the one that made the driver. Copies, fills and launches are put on a stream and run in
their order, some time later; nothing is ordered between streams. What they read or write must stay as it is until an
event recorded after them is done. Every call may raise DeviceError, also for work that was put on a stream before it.
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
    """Memory of the GPU, 256-byte aligned, its content undefined at first."""

    address: int
    nbytes: int


class Kernel(Protocol):
    """A loaded kernel."""

    @property
    def name(self) -> str:
        """Of its row in the catalogue."""

    @property
    def threads(self) -> int:
        """Of a block."""

    @property
    def registers(self) -> int:
        """Of a thread."""

    @property
    def static_shared(self) -> int:
        """Bytes of shared memory that a block has whatever the launch asks for."""

    def resident(self, shared_bytes: int = 0) -> int:
        """Blocks that a multiprocessor runs at a time, when each asks for so much dynamic shared memory; 0: none."""


class Driver(Protocol):
    """A GPU that is open."""

    @property
    def gpu(self) -> Gpu:
        """Which GPU it is."""

    def free_memory(self) -> int:
        """Bytes that nobody has, whichever process: others may take them at any time."""

    def allocate(self, nbytes: int) -> Memory:
        """Memory of the GPU, at least a byte; raises OutOfDeviceMemory."""

    def free(self, memory: Memory) -> None:
        """Gives it back; nothing on a stream may still need it."""

    def pinned(self, nbytes: int) -> Bytes:
        """Page-locked memory of the host; only this, what is locked, and views of them can be copied from or to."""

    def unpin(self, array: Bytes) -> None:
        """Gives it back: the very array that `pinned` gave, when no view of it is used any more."""

    def lock(self, memory: Bytes) -> None:
        """Page-locks memory that the host has already, from a page's beginning: every GPU's copies take it then."""

    def unlock(self, memory: Bytes) -> None:
        """Ends that: the very array that was locked, when no copy needs it any more. The memory stays."""

    def stream(self) -> Stream:
        """A new stream; it lives as long as the driver."""

    def upload(self, address: int, source: npt.NDArray[Any], stream: Stream) -> None:
        """Copies a contiguous array to the GPU."""

    def download(self, into: npt.NDArray[Any], address: int, stream: Stream) -> None:
        """Copies from the GPU, as many bytes as the contiguous array has."""

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Sets bytes of the GPU's memory."""

    def kernel(self, row: Row) -> Kernel:
        """A row of the catalogue, compiled or from the cache, and loaded; the same one each time."""

    def launch(
        self, kernel: Kernel, grid: int, arguments: npt.NDArray[np.void], stream: Stream, shared_bytes: int = 0
    ) -> None:
        """Runs `grid` blocks of a kernel, each with so much dynamic shared memory.

        `arguments` has one element, the kernel's argument (task.py); it is copied before the call returns.
        """

    def record(self, stream: Stream) -> Event:
        """An event that is done when all that is on the stream now is done."""

    def done(self, event: Event) -> bool:
        """Whether it is done, without waiting."""

    def wait(self, event: Event) -> None:
        """Waits for it; other threads of Python run meanwhile."""

    def elapsed(self, start: Event, end: Event) -> float:
        """Seconds between two events that are done."""

    def close(self) -> None:
        """Waits for everything and gives everything back; no call may follow but close itself."""
