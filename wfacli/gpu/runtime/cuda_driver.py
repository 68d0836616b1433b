"""Driver for NVIDIA GPUs, through PyCUDA, which is imported only when a GPU is opened."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DeviceError, OutOfDeviceMemory, install
from ..compile.compiler import OLDEST, Compiler
from ..kernels.catalogue import Row
from ..kernels.occupancy import capability
from ..kernels.properties import Gpu
from .driver import Event, Kernel, Stream
from .libcuda import NO_NVIDIA_DRIVER, PLAIN_SHARED, CudaEvent, CudaKernel, LibcudaDriver, load_libcuda

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: does not synchronize with the default stream
GET_PYCUDA = f"{install('gpu')} builds it where the CUDA toolkit is installed; conda-forge has it ready (pycuda)"


def load_pycuda() -> Any:
    """Import and return pycuda.driver. Raises DeviceError, which says what is missing."""
    try:
        import pycuda.driver as cuda
    except ModuleNotFoundError as problem:
        raise DeviceError(f"the GPU engine needs PyCUDA ({problem}): {GET_PYCUDA}") from problem
    except ImportError as problem:
        if "libcuda.so" in str(problem):
            raise DeviceError(NO_NVIDIA_DRIVER) from problem
        raise DeviceError(f"PyCUDA does not work here ({problem}): {GET_PYCUDA}") from problem
    return cuda


def count_devices(cuda: Any = None) -> int:
    """Return the number of GPUs visible to the driver (see CUDA_VISIBLE_DEVICES). Raises DeviceError."""
    cuda = cuda or load_pycuda()
    try:
        cuda.init()
        return int(cuda.Device.count())
    except cuda.Error as problem:
        raise DeviceError(f"the NVIDIA driver finds no GPU that it can use: {problem}") from problem


def open_device(cuda: Any, index: int) -> Any:
    """Return the PyCUDA device `index`. Raises DeviceError if it does not exist or is too old."""
    count = count_devices(cuda)
    if not 0 <= index < count:
        what = (
            f"no GPU {index}: this machine has {count}, counted from 0" if count else "this machine has no NVIDIA GPU"
        )
        raise DeviceError(what)
    device = cuda.Device(index)
    arch = "sm_{}{}".format(*device.compute_capability())
    if capability(arch) < capability(OLDEST):
        raise DeviceError(f"GPU {index}, {device.name()}, is {arch}; the GPU engine needs {OLDEST} (Ampere) or newer")
    return device


def describe(cuda: Any, device: Any) -> Gpu:
    """Return the properties of a PyCUDA device."""
    attribute, version = cuda.device_attribute, cuda.get_driver_version()
    return Gpu(
        name=device.name(),
        arch="sm_{}{}".format(*device.compute_capability()),
        multiprocessors=device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
        shared_per_block=device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        shared_per_multiprocessor=device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        memory_total=device.total_memory(),
        driver_version=f"{version // 1000}.{version % 1000 // 10}",
        bus=device.pci_bus_id(),
        through=f"PyCUDA {getattr(sys.modules.get('pycuda'), 'VERSION_TEXT', '')}".rstrip(),
    )


@contextlib.contextmanager
def _awake(library: Any, index: int) -> Iterator[None]:
    """Create a GPU's primary context with the GIL released; PyCUDA would hold it for all of the 0.2 s.

    Errors are ignored here, since PyCUDA's own calls will report them.
    """
    device, context = ctypes.c_int(), ctypes.c_void_p()
    held = not (
        library.cuInit(0)
        or library.cuDeviceGet(ctypes.byref(device), index)
        or library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    )
    try:
        yield
    finally:
        if held:
            library.cuDevicePrimaryCtxRelease_v2(device)


class CudaDriver(LibcudaDriver):
    """A GPU whose primary context is current in the calling thread until close()."""

    def __init__(self, index: int = 0, compiler: Compiler | None = None) -> None:
        """Open the GPU.

        Args:
            index: the driver's number of the GPU.
            compiler: source of the kernels' machine code.
        """
        self._cuda = load_pycuda()
        super().__init__(load_libcuda())
        with _awake(self._library, index):
            device = open_device(self._cuda, index)
            self._open(device, compiler)

    def _open(self, device: Any, compiler: Compiler | None) -> None:
        self.gpu = describe(self._cuda, device)
        self._compiler = compiler or Compiler()
        self._kernels: dict[Row, CudaKernel] = {}
        self._streams: list[Any] = []
        self._events: list[Any] = []
        self._unused: deque[int] = deque()  # numbers of events that can be reused
        with self._named("opening the GPU"):
            self._context: Any = self._entered(device)
        self._read_priorities()

    @staticmethod
    def _entered(device: Any) -> Any:
        """Retain the primary context and make it current in this thread."""
        context = device.retain_primary_context()
        context.push()
        return context

    @contextlib.contextmanager
    def _named(self, what: str) -> Iterator[None]:
        """Translate PyCUDA's errors. Work on streams fails late, so `what` may only be the call that noticed it."""
        try:
            yield
        except self._cuda.MemoryError as problem:
            raise OutOfDeviceMemory(f"{self.gpu.name}: out of memory in {what}") from problem
        except self._cuda.Error as problem:
            raise DeviceError(f"{self.gpu.name}: {what} failed: {problem}") from problem

    def _dead(self) -> bool:
        """Return whether all further calls of this process fail, as after a kernel's illegal memory access."""
        try:
            self._cuda.Context.synchronize()
        except self._cuda.Error:
            return True
        return False

    def free_memory(self) -> int:
        """Return the free GPU memory in bytes."""
        with self._named("a query of free memory"):
            return int(self._cuda.mem_get_info()[0])

    def _handle(self, stream: Stream) -> int:
        return int(self._streams[stream].handle)

    def stream(self) -> Stream:
        """Create a stream."""
        with self._named("making a stream"):
            self._streams.append(self._cuda.Stream(_NON_BLOCKING))
        return len(self._streams) - 1

    def upload(self, address: int, source: npt.NDArray[Any], stream: Stream) -> None:
        """Copy to the GPU."""
        if source.nbytes:
            with self._named("a copy to the GPU"):
                self._cuda.memcpy_htod_async(int(address), source, self._streams[stream])

    def download(self, into: npt.NDArray[Any], address: int, stream: Stream) -> None:
        """Copy from the GPU."""
        if into.nbytes:
            with self._named("a copy from the GPU"):
                self._cuda.memcpy_dtoh_async(into, int(address), self._streams[stream])

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Set bytes of GPU memory."""
        if nbytes:
            with self._named("filling memory"):
                self._cuda.memset_d8_async(int(address), int(byte), int(nbytes), self._streams[stream])

    def kernel(self, row: Row) -> Kernel:
        """Return a row of the catalogue as a loaded kernel."""
        if row not in self._kernels:
            image = self._compiler.image(row, self.gpu.arch)
            with self._named(f"loading kernel {row.name}"):
                module = self._cuda.module_from_buffer(image)
                try:
                    function = module.get_function(row.entry)
                    registers, shared = int(function.num_regs), int(function.shared_size_bytes)
                except self._cuda.Error:
                    _abandon(module)
                    raise
            self._kernels[row] = CudaKernel(row, self.gpu, module, function, registers, shared)
        return self._kernels[row]

    def launch(
        self, kernel: Kernel, grid: int, arguments: npt.NDArray[np.void], stream: Stream, shared_bytes: int = 0
    ) -> None:
        """Launch a kernel; its argument is passed by value, as bytes."""
        assert isinstance(kernel, CudaKernel)
        # Launches that leave some multiprocessors idle have priority, too: they take only as long as one block.
        self._go_before(kernel.row.high_priority or grid < self.gpu.multiprocessors, stream)
        with self._named(f"launching kernel {kernel.name}"):
            if kernel.argument_bytes != arguments.nbytes:
                kernel.function.prepare([f"{arguments.nbytes}s"])
                kernel.argument_bytes = arguments.nbytes
            if kernel.static_shared + shared_bytes > PLAIN_SHARED and shared_bytes > kernel.shared_limit:
                limit = self._cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
                kernel.function.set_attribute(limit, int(shared_bytes))
                kernel.shared_limit = shared_bytes
            size, block, own = (int(grid), 1), (kernel.threads, 1, 1), self._streams[stream]
            kernel.function.prepared_async_call(size, block, own, arguments.tobytes(), shared_size=int(shared_bytes))

    def record(self, stream: Stream) -> Event:
        """Record an event; waiting for it blocks the thread instead of spinning."""
        with self._named("recording an event"):
            if self._unused:
                event = CudaEvent(self._unused.popleft(), self._unused)
            else:
                self._events.append(self._cuda.Event(self._cuda.event_flags.BLOCKING_SYNC))
                event = CudaEvent(len(self._events) - 1, self._unused)
            self._events[event.number].record(self._streams[stream])
            return event

    def done(self, event: Event) -> bool:
        """Return whether an event is done."""
        with self._named("the work before an event"):
            return bool(self._events[event.number].query())

    def wait(self, event: Event) -> None:
        """Wait for an event."""
        with self._named("the work before an event"):
            self._events[event.number].synchronize()

    def elapsed(self, start: Event, end: Event) -> float:
        """Return the seconds between two events."""
        with self._named("reading an event's time"):
            return float(self._events[end.number].time_since(self._events[start.number])) * 1e-3

    def close(self) -> None:
        """Free all resources, even if the GPU is lost: PyCUDA aborts a process that leaves its context behind."""
        if self._context is None:
            return
        dead = self._dead()
        if dead:
            modules = [part for kernel in self._kernels.values() for part in (kernel.function, kernel.module)]
            for held in (*modules, *self._streams, *self._events):
                _abandon(held)
        self._free_memory()
        for all_of_a_kind in (self._kernels, self._streams, self._events):
            all_of_a_kind.clear()
        with contextlib.suppress(self._cuda.Error):
            self._context.pop()
        self._context = None


def _abandon(held: Any) -> None:
    """Leak a PyCUDA object: if its context is dead, it would print to standard error that it cannot be freed."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
