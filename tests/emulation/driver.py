"""A driver (wfacli/gpu/runtime/driver.py) without a GPU: runs the kernels' sources as host code, in host memory.

Streams are lazy. Queued work runs only when the host waits for a later event, or queries it, which runs one operation
at a time. An engine that reads an answer too early, or overwrites the source of a pending copy, therefore gets wrong
data every time instead of once a month. Protocol violations raise AssertionError.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wfacli.errors import DeviceError, OutOfDeviceMemory
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.kernels.occupancy import resident_blocks
from wfacli.gpu.kernels.properties import Gpu
from wfacli.gpu.runtime.driver import Memory

from . import compiled

ALIGNMENT = 256


@dataclass
class EmulatedStream:
    queue: deque[Callable[[], None] | EmulatedEvent] = field(default_factory=deque)


@dataclass(eq=False)
class EmulatedEvent:
    stream: EmulatedStream
    passed_at: float | None = None


@dataclass(frozen=True)
class EmulatedKernel:
    row: Row
    gpu: Gpu
    run: Callable[..., None]
    registers: int
    static_shared: int = 0

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def threads(self) -> int:
        return self.row.threads

    def resident(self, shared_bytes: int = 0) -> int:
        return resident_blocks(self.gpu, self.threads, self.registers, self.static_shared + shared_bytes)


@dataclass
class _Fault:
    call: str
    after: int  # number of calls that succeed first
    times: int | None  # number of calls that fail then; None: all
    error: type[Exception]


_one_kernel = threading.Lock()  # shared memory is static, so kernels run on one GPU at a time
_locked_by_any: dict[int, int] = {}  # memory locked for one GPU is locked for all


class EmulatedDriver:
    """Runs kernels on the waiting thread.

    Attributes:
        order: of the threads of a block and of blocks: 0 first to last, 1 last to first.
        taken: bytes of GPU memory that another process uses.
        calls: number of calls of each method.
        allocations, pins, locks: live ones, as address to bytes; those left after a test are leaks.
        most_allocated: maximum of the bytes allocated at a time.
    """

    def __init__(
        self,
        *,
        order: int = 0,
        memory_total: int = 1 << 30,
        multiprocessors: int = 2,
        shared_per_block: int = 227 << 10,
        shared_per_multiprocessor: int = 228 << 10,
        arch: str = "sm_90",
        registers: int = 32,
        folder: Path = compiled.SOURCES,
    ) -> None:
        self.gpu = Gpu(
            "emulated GPU", arch, multiprocessors, shared_per_block, shared_per_multiprocessor, memory_total, "13.0"
        )
        self.order = order
        self.taken = 0
        self.calls: Counter[str] = Counter()
        self.allocations: dict[int, int] = {}
        self.pins: dict[int, int] = {}
        self.locks: dict[int, int] = {}
        self.most_allocated = 0
        self._registers, self._folder = registers, folder
        self._kernels: dict[Row, EmulatedKernel] = {}
        self._streams: list[EmulatedStream] = []
        self._faults: list[_Fault] = []
        self._lost = False
        self._library = compiled.allocator()
        self._thread = threading.get_ident()
        self._closed = False

    # Fault injection

    def fail(self, *, call: str, after: int = 0, error: type[Exception] = DeviceError, times: int | None = 1) -> None:
        """Make calls of a method fail: the first `after` succeed, the next `times` fail (None: all)."""
        assert hasattr(self, call) or call == "*", call
        self._faults.append(_Fault(call, after, times, error))

    def lose_gpu(self, *, after: int = 0) -> None:
        """Make all calls of any method fail after the first `after`, as when a GPU falls off the bus."""
        self.fail(call="*", after=after, times=None)

    def _called(self, call: str) -> None:
        assert threading.get_ident() == self._thread, f"{call} from another thread than the one that made the driver"
        assert not self._closed, f"{call} after close"
        self.calls[call] += 1
        for fault in self._faults:
            if fault.call not in (call, "*"):
                continue
            if fault.after:
                fault.after -= 1
            elif fault.times is None or fault.times > 0:
                fault.times = fault.times and fault.times - 1
                self._lost |= fault.call == "*" and fault.times is None
                raise fault.error(f"injected: {call} failed")

    # Memory

    def free_memory(self) -> int:
        self._called("free_memory")
        return max(self.gpu.memory_total - self.taken - sum(self.allocations.values()), 0)

    def allocate(self, nbytes: int) -> Memory:
        self._called("allocate")
        assert nbytes > 0, "allocate takes at least a byte"
        if nbytes > self.gpu.memory_total - self.taken - sum(self.allocations.values()):
            raise OutOfDeviceMemory(f"emulated GPU: no {nbytes} bytes left")
        address = self._memory(nbytes)
        self.allocations[address] = nbytes
        self.most_allocated = max(self.most_allocated, sum(self.allocations.values()))
        return Memory(address, nbytes)

    def free(self, memory: Memory) -> None:
        self._called("free")
        assert self.allocations.get(memory.address) == memory.nbytes, "free of what is not allocated"
        del self.allocations[memory.address]
        self._library.emulation_free(memory.address)

    def pinned(self, nbytes: int) -> np.ndarray:
        self._called("pinned")
        address = self._memory(nbytes)
        self.pins[address] = nbytes
        return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))

    def unpin(self, array: np.ndarray) -> None:
        self._called("unpin")
        assert self.pins.get(array.ctypes.data) == array.nbytes, "unpin of what is not pinned, or of a part of it"
        del self.pins[array.ctypes.data]
        self._library.emulation_free(array.ctypes.data)

    def lock(self, memory: np.ndarray) -> None:
        self._called("lock")
        address = memory.ctypes.data
        assert memory.flags.c_contiguous
        assert address % 4096 == 0, "lock from another place than a page's beginning"
        assert not any(
            address < begin + size and begin < address + memory.nbytes for begin, size in self.locks.items()
        )
        self.locks[address] = _locked_by_any[address] = memory.nbytes

    def unlock(self, memory: np.ndarray) -> None:
        self._called("unlock")
        assert self.locks.get(memory.ctypes.data) == memory.nbytes, "unlock of what is not locked, or of a part of it"
        del self.locks[memory.ctypes.data]
        _locked_by_any.pop(memory.ctypes.data, None)

    def _memory(self, nbytes: int) -> int:
        address = self._library.emulation_allocate(nbytes)
        if not address:
            raise MemoryError
        assert address % ALIGNMENT == 0
        return int(address)

    # Kernels and streams

    def stream(self) -> EmulatedStream:
        self._called("stream")
        self._streams.append(EmulatedStream())
        return self._streams[-1]

    def upload(self, address: int, source: np.ndarray, stream: EmulatedStream) -> None:
        self._called("upload")
        self._check_array(source)
        stream.queue.append(partial(self._copy, address, source, to_gpu=True))

    def download(self, into: np.ndarray, address: int, stream: EmulatedStream) -> None:
        self._called("download")
        self._check_array(into)
        assert into.flags.writeable
        stream.queue.append(partial(self._copy, address, into, to_gpu=False))

    def fill(self, address: int, byte: int, nbytes: int, stream: EmulatedStream) -> None:
        self._called("fill")
        assert 0 <= byte <= 255

        def run() -> None:
            assert _inside(self.allocations, address, nbytes), "fill of what is not the GPU's memory"
            ctypes.memset(address, byte, nbytes)

        stream.queue.append(run)

    def kernel(self, row: Row) -> EmulatedKernel:
        self._called("kernel")
        if row not in self._kernels:
            run = compiled.launcher(row, self._folder)
            self._kernels[row] = EmulatedKernel(row, self.gpu, run, self._registers)
        return self._kernels[row]

    def launch(
        self, kernel: EmulatedKernel, grid: int, arguments: np.ndarray, stream: EmulatedStream, shared_bytes: int = 0
    ) -> None:
        self._called("launch")
        assert arguments.shape == (1,), "one element: the kernel's argument"
        assert arguments.dtype.isalignedstruct
        if not 0 < grid < 1 << 31 or kernel.static_shared + shared_bytes > self.gpu.shared_per_block:
            raise DeviceError(f"emulated GPU: cannot launch {kernel.name}, {grid} blocks, {shared_bytes} bytes shared")
        own = arguments.copy()

        def run() -> None:
            with _one_kernel:
                kernel.run(own.ctypes.data, grid, kernel.threads, shared_bytes, self.order)

        stream.queue.append(run)

    def record(self, stream: EmulatedStream) -> EmulatedEvent:
        self._called("record")
        event = EmulatedEvent(stream)
        stream.queue.append(event)
        return event

    def done(self, event: EmulatedEvent) -> bool:
        self._called("done")
        if event.passed_at is None:
            self._run_one(event.stream)
        return event.passed_at is not None

    def wait(self, event: EmulatedEvent) -> None:
        self._called("wait")
        while event.passed_at is None:
            self._run_one(event.stream)

    def elapsed(self, start: EmulatedEvent, end: EmulatedEvent) -> float:
        self._called("elapsed")
        assert start.passed_at is not None, "elapsed before the start is done"
        assert end.passed_at is not None, "elapsed before the end is done"
        return end.passed_at - start.passed_at

    def close(self) -> None:
        """Run pending work, unless the GPU is lost, and release everything but `allocations` and `pins`."""
        if self._closed:
            return
        try:
            for stream in self._streams:
                while stream.queue and not self._lost:
                    self._run_one(stream)
        finally:
            self._closed = True
            for address in self.locks:
                _locked_by_any.pop(address, None)
            for address in [*self.allocations, *self.pins]:
                self._library.emulation_free(address)

    def _run_one(self, stream: EmulatedStream) -> None:
        item = stream.queue.popleft()
        if isinstance(item, EmulatedEvent):
            item.passed_at = time.perf_counter()
        else:
            item()

    def _check_array(self, array: np.ndarray) -> None:
        assert array.flags.c_contiguous, "copies take contiguous arrays"
        assert self._locked(array), "copies take page-locked arrays"

    def _locked(self, array: np.ndarray) -> bool:
        return any(_inside(pieces, array.ctypes.data, array.nbytes) for pieces in (self.pins, _locked_by_any))

    def _copy(self, address: int, array: np.ndarray, *, to_gpu: bool) -> None:
        assert _inside(self.allocations, address, array.nbytes), "a copy beyond the GPU's memory"
        assert self._locked(array), "unpinned before its copy was done"
        there, here = (address, array.ctypes.data) if to_gpu else (array.ctypes.data, address)
        ctypes.memmove(there, here, array.nbytes)


def _inside(pieces: dict[int, int], address: int, nbytes: int) -> bool:
    return not nbytes or any(begin <= address and address + nbytes <= begin + size for begin, size in pieces.items())


def leaks(driver: EmulatedDriver) -> dict[str, Any]:
    """Return what is still allocated, pinned or locked."""
    kinds = {"gpu": driver.allocations, "pinned": driver.pins, "locked": driver.locks}
    return {name: left for name, left in kinds.items() if left}
