"""The driver protocol on an NVIDIA GPU, by PyCUDA, which is imported only when a GPU is opened."""

from __future__ import annotations

import contextlib
import ctypes
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DeviceError, OutOfDeviceMemory
from ..compile.compiler import OLDEST, Compiler
from ..kernels.catalogue import Row
from ..kernels.occupancy import capability, resident_blocks
from ..kernels.properties import Gpu
from .driver import Bytes, Event, Kernel, Memory, Stream

_PLAIN_SHARED = 48 << 10  # bytes that a block may have without being allowed more
_NON_BLOCKING = 1  # streams that do not wait for the default one
_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
_PORTABLE = 1  # CU_MEMHOSTREGISTER_PORTABLE: page-locked for all GPUs
_PRIORITY = 8  # CU_STREAM_ATTRIBUTE_PRIORITY, of what comes on the stream next
GET_PYCUDA = (
    "pip install 'wfacli[gpu]' builds it where the CUDA toolkit is installed; conda-forge has it ready (pycuda)"
)


def load_pycuda() -> Any:
    """The module pycuda.driver; a DeviceError says what it lacks."""
    try:
        import pycuda.driver as cuda
    except ModuleNotFoundError as problem:
        raise DeviceError(f"the GPU engine needs PyCUDA ({problem}): {GET_PYCUDA}") from problem
    except ImportError as problem:
        if "libcuda.so" in str(problem):
            raise DeviceError(
                "no NVIDIA driver on this machine (libcuda.so.1 is missing): install it, or use --engine cpu"
            ) from problem
        raise DeviceError(f"PyCUDA does not work here ({problem}): {GET_PYCUDA}") from problem
    return cuda


def load_libcuda() -> Any:
    """The driver's own library, which PyCUDA has loaded already."""
    return ctypes.CDLL("libcuda.so.1")


def count_devices(cuda: Any = None) -> int:
    """GPUs that the driver counts, which CUDA_VISIBLE_DEVICES may hide from it. Raises DeviceError."""
    cuda = cuda or load_pycuda()
    try:
        cuda.init()
        return int(cuda.Device.count())
    except cuda.Error as problem:
        raise DeviceError(f"the NVIDIA driver finds no GPU that it can use: {problem}") from problem


def open_device(cuda: Any, index: int) -> Any:
    """A device of PyCUDA's that the kernels can run on."""
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
    """What PyCUDA tells of a device."""
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
    )


@contextlib.contextmanager
def _awake(library: Any, index: int) -> Iterator[None]:
    """Makes a GPU's primary context, without the interpreter's lock: PyCUDA would keep that for all the 0.2 s.

    Whatever fails here PyCUDA's own calls will find, and name.
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


@dataclass(eq=False)
class CudaKernel:
    """A function of a loaded module."""

    row: Row
    gpu: Gpu
    module: Any  # lives as long as its function
    function: Any
    registers: int
    static_shared: int
    shared_limit: int = 0  # dynamic shared memory that a launch may ask for
    argument_bytes: int = 0  # that the function is prepared for

    @property
    def name(self) -> str:
        """Of its row."""
        return self.row.name

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.row.threads

    def resident(self, shared_bytes: int = 0) -> int:
        """Blocks of a multiprocessor at a time."""
        return resident_blocks(self.gpu, self.threads, self.registers, self.static_shared + shared_bytes)


class CudaEvent:
    """A number of the driver's, free again when nobody holds it any more.

    PyCUDA's own events and streams complain on standard error when another thread than the device's drops the last
    reference, or when that is after the context is gone; so only the driver has any.
    """

    __slots__ = ("_unused", "number")

    def __init__(self, number: int, unused: deque[int]) -> None:
        self.number, self._unused = number, unused

    def __del__(self) -> None:
        self._unused.append(self.number)


class CudaDriver:
    """A GPU whose primary context is current in the calling thread until close()."""

    def __init__(self, index: int = 0, compiler: Compiler | None = None) -> None:
        """Opens the GPU.

        Args:
            index: which GPU, as the driver counts them.
            compiler: where the kernels' machine code comes from.
        """
        self._cuda = load_pycuda()
        self._library = load_libcuda()
        with _awake(self._library, index):
            device = open_device(self._cuda, index)
            self._open(device, compiler)

    def _open(self, device: Any, compiler: Compiler | None) -> None:
        self.gpu = describe(self._cuda, device)
        self._compiler = compiler or Compiler()
        self._allocations: set[int] = set()
        self._pins: set[int] = set()
        self._locks: dict[int, Bytes] = {}
        self._kernels: dict[Row, CudaKernel] = {}
        self._streams: list[Any] = []
        self._events: list[Any] = []
        self._unused: deque[int] = deque()  # events that may be recorded again
        self._brief: dict[Stream, bool] = {}  # whether what comes next goes before others
        with self._named("opening the GPU"):
            self._context: Any = self._entered(device)
        least, greatest = ctypes.c_int(), ctypes.c_int()
        self._library.cuCtxGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
        self._priorities = least.value, greatest.value

    @staticmethod
    def _entered(device: Any) -> Any:
        """The context that work is done in, current in this thread from now on."""
        context = device.retain_primary_context()
        context.push()
        return context

    @contextlib.contextmanager
    def _named(self, what: str) -> Iterator[None]:
        """PyCUDA's errors as ours. Work on streams fails late, so `what` may only be where it was noticed."""
        try:
            yield
        except self._cuda.MemoryError as problem:
            raise OutOfDeviceMemory(f"{self.gpu.name}: out of memory in {what}") from problem
        except self._cuda.Error as problem:
            raise DeviceError(f"{self.gpu.name}: {what} failed: {problem}") from problem

    def _dead(self) -> bool:
        """Whether no call can succeed any more, as after a kernel's illegal access, in any context of the process."""
        try:
            self._cuda.Context.synchronize()
        except self._cuda.Error:
            return True
        return False

    def free_memory(self) -> int:
        """Bytes that nobody has."""
        with self._named("a query of free memory"):
            return int(self._cuda.mem_get_info()[0])

    # Memory is not PyCUDA's: its objects complain on standard error where they cannot be freed, as when another GPU's
    # failure has ended CUDA for the process; and it gives a second base to an array that it page-locks, which numpy
    # refuses.
    def _called(self, what: str, name: str, *arguments: Any) -> None:
        """A function of the driver's library. Raises DeviceError, OutOfDeviceMemory."""
        error = getattr(self._library, name)(*arguments)
        if error == _OUT_OF_MEMORY:
            raise OutOfDeviceMemory(f"{self.gpu.name}: out of memory in {what}")
        if error:
            raise DeviceError(f"{self.gpu.name}: {what} failed: {name.partition('_')[0]} gave error {error}")

    def _given_back(self, name: str, address: int) -> None:
        """Frees memory; a context that is dead has none, and whatever is asked of it next says why it died."""
        with contextlib.suppress(DeviceError):
            self._called("freeing memory", name, ctypes.c_void_p(address))

    def allocate(self, nbytes: int) -> Memory:
        """Memory of the GPU."""
        address = ctypes.c_uint64()
        what = f"an allocation of {nbytes:,} bytes"
        self._called(what, "cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(int(nbytes)))
        self._allocations.add(address.value)
        return Memory(address.value, int(nbytes))

    def free(self, memory: Memory) -> None:
        """Gives it back."""
        self._allocations.remove(memory.address)
        self._given_back("cuMemFree_v2", memory.address)

    def pinned(self, nbytes: int) -> Bytes:
        """Page-locked memory of the host."""
        address = ctypes.c_void_p()
        what = f"page-locking {nbytes:,} bytes of the host's memory"
        self._called(what, "cuMemAllocHost_v2", ctypes.byref(address), ctypes.c_size_t(int(nbytes)))
        assert address.value is not None
        self._pins.add(address.value)
        return np.ctypeslib.as_array((ctypes.c_uint8 * int(nbytes)).from_address(address.value))

    def unpin(self, array: Bytes) -> None:
        """Gives it back."""
        self._pins.remove(array.ctypes.data)
        self._given_back("cuMemFreeHost", array.ctypes.data)

    def lock(self, memory: Bytes) -> None:
        """Page-locks memory of the host."""
        what, address = f"page-locking {memory.nbytes:,} bytes of the host's memory", memory.ctypes.data
        size = ctypes.c_size_t(memory.nbytes)
        self._called(what, "cuMemHostRegister_v2", ctypes.c_void_p(address), size, _PORTABLE)
        self._locks[address] = memory

    def unlock(self, memory: Bytes) -> None:
        """Ends that."""
        address = memory.ctypes.data
        del self._locks[address]
        self._called("unlocking memory", "cuMemHostUnregister", ctypes.c_void_p(address))

    def stream(self) -> Stream:
        """A new stream."""
        with self._named("making a stream"):
            self._streams.append(self._cuda.Stream(_NON_BLOCKING))
        return len(self._streams) - 1

    def upload(self, address: int, source: npt.NDArray[Any], stream: Stream) -> None:
        """Copies to the GPU."""
        if source.nbytes:
            with self._named("a copy to the GPU"):
                self._cuda.memcpy_htod_async(int(address), source, self._streams[stream])

    def download(self, into: npt.NDArray[Any], address: int, stream: Stream) -> None:
        """Copies from the GPU."""
        if into.nbytes:
            with self._named("a copy from the GPU"):
                self._cuda.memcpy_dtoh_async(into, int(address), self._streams[stream])

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Sets bytes."""
        if nbytes:
            with self._named("filling memory"):
                self._cuda.memset_d8_async(int(address), int(byte), int(nbytes), self._streams[stream])

    def kernel(self, row: Row) -> Kernel:
        """A row, loaded."""
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

    def _go_before(self, brief: bool, stream: Stream) -> None:
        """Gives what comes on a stream next the greatest priority, or the least: a matter of time alone."""
        if self._brief.get(stream, False) != brief:
            self._brief[stream] = brief
            value = (ctypes.c_int * 16)(self._priorities[brief])  # of a union of 64 bytes
            handle = ctypes.c_void_p(self._streams[stream].handle)
            self._library.cuStreamSetAttribute(handle, _PRIORITY, ctypes.byref(value))

    def launch(
        self, kernel: Kernel, grid: int, arguments: npt.NDArray[np.void], stream: Stream, shared_bytes: int = 0
    ) -> None:
        """Runs a kernel; its argument goes by value, as bytes."""
        assert isinstance(kernel, CudaKernel)
        # So does what leaves most of the GPU free: it takes as long as one of its blocks.
        self._go_before(kernel.row.high_priority or grid < self.gpu.multiprocessors, stream)
        with self._named(f"launching kernel {kernel.name}"):
            if kernel.argument_bytes != arguments.nbytes:
                kernel.function.prepare([f"{arguments.nbytes}s"])
                kernel.argument_bytes = arguments.nbytes
            if kernel.static_shared + shared_bytes > _PLAIN_SHARED and shared_bytes > kernel.shared_limit:
                limit = self._cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
                kernel.function.set_attribute(limit, int(shared_bytes))
                kernel.shared_limit = shared_bytes
            size, block, own = (int(grid), 1), (kernel.threads, 1, 1), self._streams[stream]
            kernel.function.prepared_async_call(size, block, own, arguments.tobytes(), shared_size=int(shared_bytes))

    def record(self, stream: Stream) -> Event:
        """An event; who waits for it leaves the core to others."""
        with self._named("recording an event"):
            if self._unused:
                event = CudaEvent(self._unused.popleft(), self._unused)
            else:
                self._events.append(self._cuda.Event(self._cuda.event_flags.BLOCKING_SYNC))
                event = CudaEvent(len(self._events) - 1, self._unused)
            self._events[event.number].record(self._streams[stream])
            return event

    def done(self, event: Event) -> bool:
        """Whether it is done."""
        with self._named("the work before an event"):
            return bool(self._events[event.number].query())

    def wait(self, event: Event) -> None:
        """Waits for it."""
        with self._named("the work before an event"):
            self._events[event.number].synchronize()

    def elapsed(self, start: Event, end: Event) -> float:
        """Seconds between two events."""
        with self._named("reading an event's time"):
            return float(self._events[end.number].time_since(self._events[start.number])) * 1e-3

    def close(self) -> None:
        """Gives everything back, on a GPU that is lost too: PyCUDA ends a process that leaves its context behind."""
        if self._context is None:
            return
        dead = self._dead()
        for name, addresses in (("cuMemFree_v2", self._allocations), ("cuMemFreeHost", self._pins)):
            for address in addresses:
                self._given_back(name, address)
        if dead:
            modules = [part for kernel in self._kernels.values() for part in (kernel.function, kernel.module)]
            for held in (*modules, *self._streams, *self._events):
                _abandon(held)
        for memory in list(self._locks.values()):
            with contextlib.suppress(DeviceError):
                self.unlock(memory)
        self._allocations.clear()
        self._pins.clear()
        self._locks.clear()
        for all_of_a_kind in (self._kernels, self._streams, self._events):
            all_of_a_kind.clear()
        with contextlib.suppress(self._cuda.Error):
            self._context.pop()
        self._context = None


def _abandon(held: Any) -> None:
    """Keeps an object of PyCUDA's for ever: of a dead context, each says on standard error that it cannot be freed."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
