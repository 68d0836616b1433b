"""What both drivers of NVIDIA GPUs do through libcuda itself: memory, priorities of launches, names of errors."""

from __future__ import annotations

import contextlib
import ctypes
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import DeviceError, OutOfDeviceMemory
from ..kernels.catalogue import Row
from ..kernels.occupancy import resident_blocks
from ..kernels.properties import Gpu
from .driver import Bytes, Memory, Stream

PLAIN_SHARED = 48 << 10  # bytes of shared memory per block without opt-in
OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
_PORTABLE = 1  # CU_MEMHOSTREGISTER_PORTABLE: page-locked for all GPUs
_PRIORITY = 8  # CU_STREAM_ATTRIBUTE_PRIORITY: priority of subsequent work on the stream
NO_NVIDIA_DRIVER = "no NVIDIA driver on this machine (libcuda.so.1 is missing): install it, or use --engine cpu"


def load_libcuda() -> Any:
    """Return the CUDA driver library. Raises DeviceError if there is none."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as problem:
        raise DeviceError(NO_NVIDIA_DRIVER) from problem


def error_name(library: Any, error: int) -> str:
    """Return an error of libcuda with its name, "700 (CUDA_ERROR_ILLEGAL_ADDRESS)", or its number alone."""
    name = ctypes.c_char_p()
    with contextlib.suppress(AttributeError):
        if not library.cuGetErrorName(ctypes.c_int(error), ctypes.byref(name)) and name.value:
            return f"{error} ({name.value.decode()})"
    return str(error)


@dataclass(eq=False)
class CudaKernel:
    """A function of a loaded module."""

    row: Row
    gpu: Gpu
    module: Any  # must live as long as its function
    function: Any
    registers: int
    static_shared: int
    shared_limit: int = 0  # bytes of dynamic shared memory that launches may request
    argument_bytes: int = 0  # argument size that the function is prepared for

    @property
    def name(self) -> str:
        """Name of its row in the catalogue."""
        return self.row.name

    @property
    def threads(self) -> int:
        """Threads per block."""
        return self.row.threads

    def resident(self, shared_bytes: int = 0) -> int:
        """Return the resident blocks per multiprocessor."""
        return resident_blocks(self.gpu, self.threads, self.registers, self.static_shared + shared_bytes)


class CudaEvent:
    """Number of one of a driver's events; reused once this object is deleted.

    PyCUDA's own events and streams print to standard error if their last reference is dropped in another thread than
    the device's, or after the context is gone, so only the driver refers to them.
    """

    __slots__ = ("_unused", "number")

    def __init__(self, number: int, unused: deque[int]) -> None:
        self.number, self._unused = number, unused

    def __del__(self) -> None:
        self._unused.append(self.number)


class LibcudaDriver(ABC):
    """The part of a driver that is the same with PyCUDA and without.

    PyCUDA's memory is not used. Its objects print to standard error if they cannot be freed, as when the failure of
    another GPU has ended CUDA for the process; and it sets a second base of an array that it page-locks, which numpy
    rejects.
    """

    gpu: Gpu

    def __init__(self, library: Any) -> None:
        self._library = library
        self._allocations: set[int] = set()
        self._pins: set[int] = set()
        self._locks: dict[int, Bytes] = {}
        self._brief: dict[Stream, bool] = {}  # whether subsequent work has priority
        self._priorities = (0, 0)

    @abstractmethod
    def _handle(self, stream: Stream) -> int:
        """Return libcuda's handle of a stream."""

    def _read_priorities(self) -> None:
        """Read the lowest and highest priority of the current context's streams."""
        least, greatest = ctypes.c_int(), ctypes.c_int()
        self._library.cuCtxGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
        self._priorities = least.value, greatest.value

    def _raise(self, error: int, what: str, name: str) -> None:
        """Raise the exception for an error of a function of libcuda, if it is one."""
        if error == OUT_OF_MEMORY:
            raise OutOfDeviceMemory(f"{self.gpu.name}: out of memory in {what}")
        if error:
            said = error_name(self._library, error)
            raise DeviceError(f"{self.gpu.name}: {what} failed: {name.partition('_')[0]} gave error {said}")

    def _called(self, what: str, name: str, *arguments: Any) -> None:
        """Call a function of the driver library. Raises DeviceError, OutOfDeviceMemory."""
        self._raise(getattr(self._library, name)(*arguments), what, name)

    def _given_back(self, name: str, address: int) -> None:
        """Free memory, ignoring errors: a dead context has no memory, and the next call reports why it is dead."""
        with contextlib.suppress(DeviceError):
            self._called("freeing memory", name, ctypes.c_void_p(address))

    def allocate(self, nbytes: int) -> Memory:
        """Allocate GPU memory."""
        address = ctypes.c_uint64()
        what = f"an allocation of {nbytes:,} bytes"
        self._called(what, "cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(int(nbytes)))
        self._allocations.add(address.value)
        return Memory(address.value, int(nbytes))

    def free(self, memory: Memory) -> None:
        """Free GPU memory."""
        self._allocations.remove(memory.address)
        self._given_back("cuMemFree_v2", memory.address)

    def pinned(self, nbytes: int) -> Bytes:
        """Allocate page-locked host memory."""
        address = ctypes.c_void_p()
        what = f"page-locking {nbytes:,} bytes of the host's memory"
        self._called(what, "cuMemAllocHost_v2", ctypes.byref(address), ctypes.c_size_t(int(nbytes)))
        assert address.value is not None
        self._pins.add(address.value)
        return np.ctypeslib.as_array((ctypes.c_uint8 * int(nbytes)).from_address(address.value))

    def unpin(self, array: Bytes) -> None:
        """Free page-locked memory."""
        self._pins.remove(array.ctypes.data)
        self._given_back("cuMemFreeHost", array.ctypes.data)

    def lock(self, memory: Bytes) -> None:
        """Page-lock host memory."""
        what, address = f"page-locking {memory.nbytes:,} bytes of the host's memory", memory.ctypes.data
        size = ctypes.c_size_t(memory.nbytes)
        self._called(what, "cuMemHostRegister_v2", ctypes.c_void_p(address), size, _PORTABLE)
        self._locks[address] = memory

    def unlock(self, memory: Bytes) -> None:
        """Unlock host memory."""
        address = memory.ctypes.data
        del self._locks[address]
        self._called("unlocking memory", "cuMemHostUnregister", ctypes.c_void_p(address))

    def _go_before(self, brief: bool, stream: Stream) -> None:
        """Set the priority of subsequent work on a stream: highest if `brief`, else lowest; affects only timing."""
        if self._brief.get(stream, False) != brief:
            self._brief[stream] = brief
            value = (ctypes.c_int * 16)(self._priorities[brief])  # a union of 64 bytes
            handle = ctypes.c_void_p(self._handle(stream))
            self._library.cuStreamSetAttribute(handle, _PRIORITY, ctypes.byref(value))

    def _free_memory(self) -> None:
        """Free all GPU memory and page-locked memory that is left, and unlock the rest, ignoring errors."""
        for name, addresses in (("cuMemFree_v2", self._allocations), ("cuMemFreeHost", self._pins)):
            for address in addresses:
                self._given_back(name, address)
        for memory in list(self._locks.values()):
            with contextlib.suppress(DeviceError):
                self.unlock(memory)
        self._allocations.clear()
        self._pins.clear()
        self._locks.clear()
