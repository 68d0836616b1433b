"""Driver for NVIDIA GPUs through ctypes: needs nothing but the NVIDIA driver, and nothing to be built."""

from __future__ import annotations

import ctypes
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DeviceError
from ..compile.compiler import OLDEST, Compiler
from ..kernels.catalogue import Row
from ..kernels.occupancy import capability
from ..kernels.properties import Gpu
from .driver import Event, Kernel, Stream
from .libcuda import PLAIN_SHARED, CudaEvent, CudaKernel, LibcudaDriver, error_name, load_libcuda

# Values of cuda.h, which NVIDIA keeps from version to version.
_NOT_READY = 600  # CUDA_ERROR_NOT_READY
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: does not synchronize with the default stream
_BLOCKING_SYNC = 1  # CU_EVENT_BLOCKING_SYNC: waiting blocks the thread instead of spinning
_MULTIPROCESSORS, _SHARED_OF_MULTIPROCESSOR, _SHARED_OF_BLOCK = 16, 81, 97  # CU_DEVICE_ATTRIBUTE_…
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
_STATIC_SHARED, _REGISTERS, _DYNAMIC_SHARED = 1, 4, 8  # CU_FUNC_ATTRIBUTE_…
_ARGUMENT, _ARGUMENT_SIZE = 1, 2  # CU_LAUNCH_PARAM_BUFFER_POINTER and …_SIZE
_TEXT = 256  # bytes for a name


def count_devices(library: Any = None) -> int:
    """Return the number of GPUs visible to the driver (see CUDA_VISIBLE_DEVICES). Raises DeviceError."""
    library, count = library or load_libcuda(), ctypes.c_int()
    error = library.cuInit(ctypes.c_uint(0))
    if error == _NO_DEVICE:
        return 0
    error = error or library.cuDeviceGetCount(ctypes.byref(count))
    if error:
        raise DeviceError(f"the NVIDIA driver finds no GPU that it can use: error {error_name(library, error)}")
    return count.value


class CtypesDriver(LibcudaDriver):
    """A GPU whose primary context is current in the calling thread until close()."""

    def __init__(self, index: int = 0, compiler: Compiler | None = None) -> None:
        """Open the GPU.

        Args:
            index: the driver's number of the GPU.
            compiler: source of the kernels' machine code.
        """
        super().__init__(load_libcuda())
        self.gpu = Gpu(f"GPU {index}", "", 0, 0, 0, 0, "")  # its name, for errors until the rest is known
        self._context: Any = None
        self._device = self._found(index)
        self.gpu = self._described()
        if capability(self.gpu.arch) < capability(OLDEST):
            raise DeviceError(
                f"GPU {index}, {self.gpu.name}, is {self.gpu.arch}; the GPU engine needs {OLDEST} (Ampere) or newer"
            )
        self._compiler = compiler or Compiler()
        self._kernels: dict[Row, CudaKernel] = {}
        self._streams: list[int] = []
        self._events: list[ctypes.c_void_p] = []
        self._unused: deque[int] = deque()  # numbers of events that can be reused
        self._context = self._entered(self._device)
        self._read_priorities()

    def _found(self, index: int) -> ctypes.c_int:
        """Return a device. Raises DeviceError if it does not exist."""
        count = count_devices(self._library)
        if not 0 <= index < count:
            there = f"no GPU {index}: this machine has {count}, counted from 0"
            raise DeviceError(there if count else "this machine has no NVIDIA GPU")
        device = ctypes.c_int()
        self._called("opening the GPU", "cuDeviceGet", ctypes.byref(device), ctypes.c_int(index))
        return device

    def _described(self) -> Gpu:
        """Return the properties of the device."""
        what, device = "reading the GPU's properties", self._device

        def number(attribute: int) -> int:
            value = ctypes.c_int()
            self._called(what, "cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(attribute), device)
            return value.value

        name, bus = ctypes.create_string_buffer(_TEXT), ctypes.create_string_buffer(_TEXT)
        total, version = ctypes.c_size_t(), ctypes.c_int()
        self._called(what, "cuDeviceGetName", name, ctypes.c_int(_TEXT), device)
        self._called(what, "cuDeviceGetPCIBusId", bus, ctypes.c_int(_TEXT), device)
        self._called(what, "cuDeviceTotalMem_v2", ctypes.byref(total), device)
        self._called(what, "cuDriverGetVersion", ctypes.byref(version))
        return Gpu(
            name=name.value.decode(errors="replace"),
            arch=f"sm_{number(_MAJOR)}{number(_MINOR)}",
            multiprocessors=number(_MULTIPROCESSORS),
            shared_per_block=number(_SHARED_OF_BLOCK),
            shared_per_multiprocessor=number(_SHARED_OF_MULTIPROCESSOR),
            memory_total=total.value,
            driver_version=f"{version.value // 1000}.{version.value % 1000 // 10}",
            bus=bus.value.decode(errors="replace"),
            through="ctypes",
        )

    def _entered(self, device: ctypes.c_int) -> Any:
        """Retain the primary context and make it current in this thread."""
        context = ctypes.c_void_p()
        self._called("opening the GPU", "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        try:
            self._called("opening the GPU", "cuCtxPushCurrent_v2", context)
        except DeviceError:
            self._library.cuDevicePrimaryCtxRelease_v2(device)
            raise
        return context

    def _left(self) -> None:
        """Undo _entered, ignoring errors."""
        self._library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        self._library.cuDevicePrimaryCtxRelease_v2(self._device)

    def _handle(self, stream: Stream) -> int:
        return self._streams[stream]

    def _on(self, stream: Stream) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._streams[stream])

    def free_memory(self) -> int:
        """Return the free GPU memory in bytes."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._called("a query of free memory", "cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def stream(self) -> Stream:
        """Create a stream."""
        made = ctypes.c_void_p()
        self._called("making a stream", "cuStreamCreate", ctypes.byref(made), ctypes.c_uint(_NON_BLOCKING))
        self._streams.append(made.value or 0)
        return len(self._streams) - 1

    def upload(self, address: int, source: npt.NDArray[Any], stream: Stream) -> None:
        """Copy to the GPU."""
        if source.nbytes:
            place, host = ctypes.c_uint64(int(address)), ctypes.c_void_p(_contiguous(source))
            size = ctypes.c_size_t(source.nbytes)
            self._called("a copy to the GPU", "cuMemcpyHtoDAsync_v2", place, host, size, self._on(stream))

    def download(self, into: npt.NDArray[Any], address: int, stream: Stream) -> None:
        """Copy from the GPU."""
        if into.nbytes:
            host, place = ctypes.c_void_p(_contiguous(into)), ctypes.c_uint64(int(address))
            size = ctypes.c_size_t(into.nbytes)
            self._called("a copy from the GPU", "cuMemcpyDtoHAsync_v2", host, place, size, self._on(stream))

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Set bytes of GPU memory."""
        if nbytes:
            place, size = ctypes.c_uint64(int(address)), ctypes.c_size_t(int(nbytes))
            self._called("filling memory", "cuMemsetD8Async", place, ctypes.c_ubyte(int(byte)), size, self._on(stream))

    def kernel(self, row: Row) -> Kernel:
        """Return a row of the catalogue as a loaded kernel."""
        if row not in self._kernels:
            image, what = self._compiler.image(row, self.gpu.arch), f"loading kernel {row.name}"
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            # bytes end with a zero in memory, as PTX must.
            self._called(what, "cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(image))
            try:
                name = ctypes.c_char_p(row.entry.encode())
                self._called(what, "cuModuleGetFunction", ctypes.byref(function), module, name)
                registers, shared = (self._of_function(what, each, function) for each in (_REGISTERS, _STATIC_SHARED))
            except DeviceError:
                self._library.cuModuleUnload(module)
                raise
            self._kernels[row] = CudaKernel(row, self.gpu, module, function, registers, shared)
        return self._kernels[row]

    def _of_function(self, what: str, attribute: int, function: ctypes.c_void_p) -> int:
        value = ctypes.c_int()
        self._called(what, "cuFuncGetAttribute", ctypes.byref(value), ctypes.c_int(attribute), function)
        return value.value

    def launch(
        self, kernel: Kernel, grid: int, arguments: npt.NDArray[np.void], stream: Stream, shared_bytes: int = 0
    ) -> None:
        """Launch a kernel; its argument is passed by value, as bytes."""
        assert isinstance(kernel, CudaKernel)
        # Launches that leave some multiprocessors idle have priority, too: they take only as long as one block.
        self._go_before(kernel.row.high_priority or grid < self.gpu.multiprocessors, stream)
        what, one, shared = f"launching kernel {kernel.name}", ctypes.c_uint(1), ctypes.c_uint(int(shared_bytes))
        if kernel.static_shared + shared_bytes > PLAIN_SHARED and shared_bytes > kernel.shared_limit:
            attribute, limit = ctypes.c_int(_DYNAMIC_SHARED), ctypes.c_int(int(shared_bytes))
            self._called(what, "cuFuncSetAttribute", kernel.function, attribute, limit)
            kernel.shared_limit = shared_bytes
        argument = np.ascontiguousarray(arguments)
        size = ctypes.c_size_t(argument.nbytes)
        extra = (ctypes.c_void_p * 5)(
            _ARGUMENT, argument.ctypes.data, _ARGUMENT_SIZE, ctypes.addressof(size), None
        )  # copied before the call returns
        blocks, threads = (ctypes.c_uint(int(grid)), one, one), (ctypes.c_uint(kernel.threads), one, one)
        own = self._on(stream)
        self._called(what, "cuLaunchKernel", kernel.function, *blocks, *threads, shared, own, None, extra)

    def record(self, stream: Stream) -> Event:
        """Record an event; waiting for it blocks the thread instead of spinning."""
        what = "recording an event"
        if self._unused:
            event = CudaEvent(self._unused.popleft(), self._unused)
        else:
            made = ctypes.c_void_p()
            self._called(what, "cuEventCreate", ctypes.byref(made), ctypes.c_uint(_BLOCKING_SYNC))
            self._events.append(made)
            event = CudaEvent(len(self._events) - 1, self._unused)
        self._called(what, "cuEventRecord", self._events[event.number], self._on(stream))
        return event

    def done(self, event: Event) -> bool:
        """Return whether an event is done."""
        error = self._library.cuEventQuery(self._events[event.number])
        if error != _NOT_READY:
            self._raise(error, "the work before an event", "cuEventQuery")
        return bool(error != _NOT_READY)

    def wait(self, event: Event) -> None:
        """Wait for an event."""
        self._called("the work before an event", "cuEventSynchronize", self._events[event.number])

    def elapsed(self, start: Event, end: Event) -> float:
        """Return the seconds between two events."""
        took = ctypes.c_float()
        first, last = self._events[start.number], self._events[end.number]
        self._called("reading an event's time", "cuEventElapsedTime", ctypes.byref(took), first, last)
        return took.value * 1e-3

    def close(self) -> None:
        """Free all resources, even if the GPU is lost: then libcuda's functions return errors, which are ignored."""
        if self._context is None:
            return
        self._library.cuCtxSynchronize()
        self._free_memory()
        for kernel in self._kernels.values():
            self._library.cuModuleUnload(kernel.module)
        for event in self._events:
            self._library.cuEventDestroy_v2(event)
        for stream in self._streams:
            self._library.cuStreamDestroy_v2(ctypes.c_void_p(stream))
        for all_of_a_kind in (self._kernels, self._streams, self._events):
            all_of_a_kind.clear()
        self._left()
        self._context = None


def _contiguous(array: npt.NDArray[Any]) -> int:
    """Return the address of an array. Raises ValueError for one with gaps, of which only a part would be copied."""
    if not array.flags.c_contiguous:
        raise ValueError("only contiguous arrays can be copied")
    return int(array.ctypes.data)
