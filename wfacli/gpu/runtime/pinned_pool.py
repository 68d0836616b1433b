"""Pool of page-locked host memory, leased as numpy arrays; a lease ends when the last view of its array is deleted."""

from __future__ import annotations

import contextlib
import mmap
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.batch import U8
from ...errors import DeviceError
from .driver import Driver

Call = Callable[[Callable[[Driver], None]], Any]  # runs a function in the device's thread


class _Lease:
    """Base object of an array over leased memory and of all its views; deleting it ends the lease.

    It is not an array, because numpy collapses chains of bases: an array between a view and the memory might be
    deleted too early.
    """

    __slots__ = ("__array_interface__", "_address", "_back", "_memory")

    def __init__(self, memory: U8, back: Callable[[int], None]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._back = memory, back
        self._address: int = memory.ctypes.data  # read here: numpy imports a module for it, which fails at exit

    def __del__(self) -> None:
        self._back(self._address)


class PinnedPool:
    """Any number of pieces of page-locked memory, which are reused.

    The memory belongs to the host process and is only locked for the GPU, so arrays may outlive the GPU: after close()
    they remain valid, and are freed like any other array.
    """

    def __init__(self, forked: bool = True) -> None:
        """Create an empty pool; `forked`: whether forked child processes read leased memory as well."""
        self._forked = forked
        self._lock = threading.Lock()
        # Free pieces, not guarded by the lock: a lease may end in any thread at any time, even in one that holds it.
        self._free: deque[U8] = deque()
        self._all: dict[int, U8] = {}  # by address; only the device's thread changes it
        self._early: list[U8] = []  # pieces leased before a GPU was open, not page-locked yet
        self._call: Call | None = None
        self._closed = False

    @property
    def leased(self) -> int:
        """Number of pieces that are leased."""
        return len(self._all) - len(self._free)

    def lease(self, nbytes: int, call: Call, spare: float = 1.0) -> U8:
        """Return an array (u8[nbytes]) whose memory is leased as long as it or a view of it lives. Any thread.

        Args:
            nbytes: size in bytes.
            call: runs a function in the device's thread.
            spare: growth factor for new memory, so that later leases of similar size fit.

        Raises:
            DeviceError: the host has no memory to pin.
        """
        with self._lock:
            memory, small = self._fitting(nbytes)
        if memory is None:  # without the lock, which the device's thread may need before it runs the call
            memory = self._renewed(max(int(nbytes * spare), 1), small, call)
        array: U8 = np.asarray(_Lease(memory, self._come_back))
        return array[:nbytes]

    def lease_early(self, nbytes: int) -> U8:
        """Lease memory, possibly before a GPU is open; see opened(). Any thread. Raises DeviceError."""
        if self._call is None:
            memory = _pages(nbytes, self._forked)
            with self._lock:
                early = self._call is None
                if early:
                    self._early.append(memory)
            if early:
                array: U8 = np.asarray(_Lease(memory, self._come_back))
                return array[:nbytes]
        assert self._call is not None
        return self.lease(nbytes, self._call)

    def opened(self, call: Call) -> None:
        """Page-lock memory that was leased before a GPU was open, if possible; `call`: see lease."""
        with self._lock:
            self._call = call
        call(self._lock_early)

    def _lock_early(self, driver: Driver) -> None:
        for memory in self._early:
            with contextlib.suppress(DeviceError):  # its bases will be staged instead
                driver.lock(memory)
                self._all[memory.ctypes.data] = memory
        self._early.clear()

    def owns(self, array: U8) -> bool:
        """Return whether an array is at the beginning of a page-locked piece of this pool."""
        memory = self._all.get(array.ctypes.data)
        return memory is not None and array.nbytes <= len(memory)

    def close(self, driver: Driver) -> None:
        """Unlock all memory, including leased pieces; in the device's thread."""
        self._closed = True
        for memory in self._all.values():
            with contextlib.suppress(DeviceError):  # a lost GPU has no locked memory
                driver.unlock(memory)
        self._all.clear()
        self._free.clear()

    def _come_back(self, address: int) -> None:
        memory = None if self._closed else self._all.get(address)
        if memory is not None:
            self._free.append(memory)

    def _fitting(self, nbytes: int) -> tuple[U8 | None, U8 | None]:
        """Take the smallest free piece that is large enough; if there is none, the largest one, to be replaced."""
        free: list[U8] = []
        with contextlib.suppress(IndexError):
            while True:
                free.append(self._free.popleft())
        free.sort(key=len)
        fit = next((i for i, memory in enumerate(free) if len(memory) >= nbytes), None)
        taken = free.pop(-1 if fit is None else fit) if free else None
        self._free.extend(free)
        return (taken, None) if fit is not None else (None, taken)

    def _renewed(self, nbytes: int, old: U8 | None, call: Call) -> U8:
        memory = _pages(nbytes, self._forked)

        def renew(driver: Driver) -> None:
            if old is not None:
                del self._all[old.ctypes.data]
                driver.unlock(old)
            if self._closed:
                raise DeviceError("the GPU is closed")
            driver.lock(memory)
            self._all[memory.ctypes.data] = memory

        call(renew)
        return memory


def _pages(nbytes: int, forked: bool) -> U8:
    """Allocate whole pages and touch them, since present pages are locked faster.

    If no child process reads the memory, it uses huge pages if the system has them, since fewer pages have to be
    created; the gain depends on the system. Otherwise the memory is shared, and shared memory usually has no huge
    pages. It cannot be private: copy-on-write after a fork could leave the GPU and this process with different copies
    of a page.
    """
    if forked or not hasattr(mmap, "MADV_HUGEPAGE") or not hasattr(mmap, "MADV_DONTFORK"):
        pages = mmap.mmap(-1, nbytes)
    else:
        pages = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pages.madvise(mmap.MADV_DONTFORK)
        with contextlib.suppress(OSError):
            pages.madvise(mmap.MADV_HUGEPAGE)
    memory = np.frombuffer(pages, np.uint8)
    memory[:: mmap.PAGESIZE] = 0
    return memory
