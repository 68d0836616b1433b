"""A pycuda.driver without a GPU, which counts calls and fails on request."""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType, SimpleNamespace

import numpy as np

from wfacli.gpu.runtime import cuda_driver


class Event:
    made = 0

    def __init__(self, _flags) -> None:
        Event.made += 1
        self.recorded, self.waited = [], 0

    def record(self, stream) -> None:
        self.recorded.append(stream)

    def query(self) -> bool:
        return self.waited > 0

    def synchronize(self) -> None:
        self.waited += 1

    def time_since(self, _other) -> float:
        return 5.0


class Function:
    num_regs, shared_size_bytes = 40, 1024

    def __init__(self, cuda: ModuleType) -> None:
        self._cuda, self.limits, self.launches, self.formats = cuda, [], [], []

    def prepare(self, formats: list[str]) -> None:
        self.formats.append(formats)

    def set_attribute(self, _which: str, value: int) -> None:
        self.limits.append(value)

    def prepared_async_call(self, grid, block, stream, argument, shared_size):
        self._cuda.call("launch")
        self.launches.append((grid, block, argument, shared_size))


def make(capability: tuple[int, int] = (9, 0), count: int = 1) -> ModuleType:
    cuda = ModuleType("pycuda.driver")
    cuda.Error = type("Error", (Exception,), {})
    cuda.MemoryError = type("MemoryError", (cuda.Error,), {})
    cuda.calls, cuda.faults, cuda.function = Counter(), {}, Function(cuda)

    def call(name: str, answer=None):
        cuda.calls[name] += 1
        if name in cuda.faults:
            raise cuda.faults[name]
        return answer

    cuda.host = {}  # page-locked memory by address

    def of_library(name: str) -> int:  # functions of libcuda return an error code
        cuda.calls[name] += 1
        return cuda.faults.get(name, 0)

    def memory_of_the_gpu(pointer, _nbytes) -> int:
        pointer._obj.value = 4096 * (1 + cuda.calls["alloc"])
        return of_library("alloc")

    def memory_of_the_host(pointer, nbytes) -> int:
        array = np.zeros(nbytes.value, np.uint8)
        pointer._obj.value = array.ctypes.data
        cuda.host[array.ctypes.data] = array
        return of_library("pin")

    cuda.priorities = []  # priorities set, by stream handle

    def range_of_priorities(least, greatest) -> int:
        least._obj.value, greatest._obj.value = 0, -5
        return of_library("range")

    def attribute_of_stream(handle, attribute, value) -> int:
        cuda.priorities.append((handle.value, attribute, value._obj[0]))
        return of_library("attribute")

    context = SimpleNamespace(push=lambda: call("push"), pop=lambda: call("pop"))
    device = SimpleNamespace(
        name=lambda: "Some GPU", compute_capability=lambda: capability, total_memory=lambda: 1 << 34,
        get_attribute=len, pci_bus_id=lambda: "0000:01:00.0", retain_primary_context=lambda: call("retain", context),
    )  # fmt: skip
    cuda.call = call
    cuda.init = lambda: call("init")
    cuda.Device = type("Device", (), {"count": staticmethod(lambda: count), "__new__": lambda *_: device})
    cuda.device_attribute = SimpleNamespace(
        MULTIPROCESSOR_COUNT="x" * 132, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN="x" * 232448,
        MAX_SHARED_MEMORY_PER_MULTIPROCESSOR="x" * 233472,
    )  # fmt: skip
    cuda.function_attribute = SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES="limit")
    cuda.event_flags, cuda.Event = SimpleNamespace(BLOCKING_SYNC=1), Event
    cuda.get_driver_version = lambda: 13000
    cuda.mem_get_info = lambda: call("info", (5, 6))
    cuda.libcuda = SimpleNamespace(
        cuMemAlloc_v2=memory_of_the_gpu,
        cuMemFree_v2=lambda address: of_library("free"),
        cuMemAllocHost_v2=memory_of_the_host,
        cuMemFreeHost=lambda address: of_library("free"),
        cuMemHostRegister_v2=lambda address, nbytes, flags: of_library("register"),
        cuMemHostUnregister=lambda address: of_library("unregister"),
        cuCtxGetStreamPriorityRange=range_of_priorities,
        cuStreamSetAttribute=attribute_of_stream,
        cuInit=lambda flags: of_library("own init"),
        cuDeviceGet=lambda device, index: of_library("own device"),
        cuDevicePrimaryCtxRetain=lambda context, device: of_library("own retain"),
        cuDevicePrimaryCtxRelease_v2=lambda device: of_library("own release"),
    )
    cuda.Context = SimpleNamespace(synchronize=lambda: call("synchronize"))
    cuda.Stream = lambda flags: call("stream", SimpleNamespace(handle=16 * (1 + cuda.calls["stream"])))
    module = SimpleNamespace(get_function=lambda entry: cuda.function)
    cuda.module_from_buffer = lambda image: call("load", module)
    return cuda


def install(monkeypatch, cuda: ModuleType) -> None:
    package = ModuleType("pycuda")
    package.driver = cuda
    monkeypatch.setitem(sys.modules, "pycuda", package)
    monkeypatch.setitem(sys.modules, "pycuda.driver", cuda)
    monkeypatch.setattr(cuda_driver, "load_libcuda", lambda: cuda.libcuda)
