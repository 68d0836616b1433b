"""Page-locked memory of the host that is lent as arrays; it comes back by itself when the last of them is gone."""

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
    """What an array over lent memory, and every view of it, has at its base.

    No array itself: numpy leaves out arrays between a view and the memory, and one that is left out may go too early.
    """

    __slots__ = ("__array_interface__", "_address", "_back", "_memory")

    def __init__(self, memory: U8, back: Callable[[int], None]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._back = memory, back
        self._address: int = memory.ctypes.data  # read now: numpy imports to tell it, which fails as the program ends

    def __del__(self) -> None:
        self._back(self._address)


class PinnedPool:
    """Any number of pieces of memory, which serve again and again.

    The memory is the host's own and only page-locked for the GPU, so that arrays may outlive the GPU: after close()
    they are as good as any, and their memory goes with them.
    """

    def __init__(self, forked: bool = True) -> None:
        """`forked`: whether copies of this process may look at what is lent, too."""
        self._forked = forked
        self._lock = threading.Lock()
        # What came back. Arrays die in any thread at any moment, even in one that has the lock: no lock for these.
        self._free: deque[U8] = deque()
        self._all: dict[int, U8] = {}  # by address; only the device's thread changes it
        self._early: list[U8] = []  # not locked, as there is no GPU yet
        self._call: Call | None = None
        self._closed = False

    @property
    def leased(self) -> int:
        """Pieces that somebody has."""
        return len(self._all) - len(self._free)

    def lease(self, nbytes: int, call: Call, spare: float = 1.0) -> U8:
        """An array (u8[nbytes]) that keeps its memory lent as long as it or a view of it lives; in any thread.

        Args:
            nbytes: bytes.
            call: runs what has to be done by the device's thread.
            spare: times as many where new memory is taken, so that more of about one size fit.

        Raises:
            DeviceError: no such memory is to be had.
        """
        with self._lock:
            memory, small = self._fitting(nbytes)
        if memory is None:  # without the lock, as the device's thread may want it before it comes to the call
            memory = self._renewed(max(int(nbytes * spare), 1), small, call)
        array: U8 = np.asarray(_Lease(memory, self._come_back))
        return array[:nbytes]

    def lease_early(self, nbytes: int) -> U8:
        """The same for who may come before there is a GPU; see opened(). Raises DeviceError."""
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
        """There is a GPU now: page-locks what was lent early, where that can be done."""
        with self._lock:
            self._call = call
        call(self._lock_early)

    def _lock_early(self, driver: Driver) -> None:
        for memory in self._early:
            with contextlib.suppress(DeviceError):  # its letters are staged
                driver.lock(memory)
                self._all[memory.ctypes.data] = memory
        self._early.clear()

    def owns(self, array: U8) -> bool:
        """Whether an array that begins where a piece does is lent memory."""
        memory = self._all.get(array.ctypes.data)
        return memory is not None and array.nbytes <= len(memory)

    def close(self, driver: Driver) -> None:
        """Unlocks all memory, also what is still lent; in the device's thread."""
        self._closed = True
        for memory in self._all.values():
            with contextlib.suppress(DeviceError):  # a GPU that is lost has nothing locked
                driver.unlock(memory)
        self._all.clear()
        self._free.clear()

    def _come_back(self, address: int) -> None:
        memory = None if self._closed else self._all.get(address)
        if memory is not None:
            self._free.append(memory)

    def _fitting(self, nbytes: int) -> tuple[U8 | None, U8 | None]:
        """The smallest free piece that is large enough; where there is none, the largest one."""
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
    """Memory in whole pages, which are there: to lock them takes less then.

    Where no copy of this process is to have it, the pages are large ones if the system has such, of which fewer are to
    be made; what that is worth differs from system to system. Memory that is shared with copies has none, as systems
    are set up; and if it were private, a copy could leave the GPU and this process with different pages of what was
    one.
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
