"""The driver on a fake PyCUDA: missing parts, errors, limits and closing. test_driver.py tests a real GPU."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wfacli.errors import DeviceError, OutOfDeviceMemory
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.kernels.occupancy import resident_blocks
from wfacli.gpu.kernels.properties import Gpu
from wfacli.gpu.runtime.cuda_driver import CudaDriver, load_pycuda

from . import fake_pycuda

ROW = Row("row", "row.cu", "entry", (), 64)
COMPILER = SimpleNamespace(image=lambda row, arch: arch.encode())


@pytest.fixture
def cuda(monkeypatch):
    module = fake_pycuda.make()
    fake_pycuda.install(monkeypatch, module)
    return module


class _Refusing:
    def __init__(self, problem: ImportError) -> None:
        self.problem = problem

    def find_spec(self, name, *_):
        if name.startswith("pycuda"):
            raise self.problem


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (ModuleNotFoundError("No module named 'pycuda'"), r"needs PyCUDA .*pip install '\.\[gpu\]'.*conda-forge"),
        (ImportError("libcuda.so.1: cannot open shared object file"), "no NVIDIA driver"),
        (ImportError("undefined symbol: cuInit_v2"), r"does not work here \(undefined symbol.*pip install"),
    ],
)
def test_what_is_missing_is_said_in_a_line(monkeypatch, problem, words):
    for name in ("pycuda", "pycuda.driver"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Refusing(problem), *sys.meta_path])
    with pytest.raises(DeviceError, match=words) as raised:
        load_pycuda()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "index", "words"),
    [
        ({"count": 0}, 0, "has no NVIDIA GPU"),
        ({"count": 2}, 2, "no GPU 2: this machine has 2"),
        ({"capability": (7, 5)}, 0, "Some GPU, is sm_75; the GPU engine needs sm_80"),
    ],
)
def test_gpus_that_cannot_be_used(monkeypatch, options, index, words):
    fake_pycuda.install(monkeypatch, fake_pycuda.make(**options))
    with pytest.raises(DeviceError, match=words):
        CudaDriver(index)


def test_a_driver_that_does_not_start(cuda):
    cuda.faults["init"] = cuda.Error("cuInit failed: unknown error")
    with pytest.raises(DeviceError, match="finds no GPU that it can use: cuInit failed"):
        CudaDriver()


def test_the_gpu_is_described(cuda):
    gpu = CudaDriver().gpu
    assert gpu == Gpu("Some GPU", "sm_90", 132, 232448, 233472, 1 << 34, "13.0", "0000:01:00.0", "PyCUDA")


@pytest.mark.parametrize(("fault", "held"), [(None, 1), ("own init", 0), ("own device", 0), ("own retain", 0)])
def test_a_gpu_is_opened_without_the_interpreter_s_lock(cuda, fault, held):
    """libcuda opens the GPU with the GIL released before PyCUDA does; if that fails, PyCUDA may report the error."""
    if fault:
        cuda.faults[fault] = 100
    retain, order = cuda.call, []
    cuda.Device().retain_primary_context = lambda: (order.append(dict(cuda.calls)), retain("retain"))[1]
    cuda.faults["retain"] = cuda.Error("no context")
    with pytest.raises(DeviceError, match="opening the GPU failed: no context"):
        CudaDriver()
    assert order[0].get("own release", 0) == 0
    assert order[0].get("own retain", 0) == (held or fault == "own retain")
    assert cuda.calls["own release"] == held


def test_errors_are_ours_and_tell_what_failed(cuda):
    driver = CudaDriver(compiler=COMPILER)
    symbols = np.zeros(1000, np.uint8)
    calls = (
        ("alloc", "cuMemAlloc", "an allocation of 1,000 bytes", lambda: driver.allocate(1000)),
        ("pin", "cuMemAllocHost", "page-locking 1,000 bytes of the host's memory", lambda: driver.pinned(1000)),
        (
            "register",
            "cuMemHostRegister",
            "page-locking 1,000 bytes .*",
            lambda: driver.lock(symbols),
        ),
    )
    for fault, name, what, call in calls:
        cuda.faults[fault] = 801
        with pytest.raises(DeviceError, match=rf"Some GPU: {what} failed: {name} gave error 801"):
            call()
        cuda.faults[fault] = 2
        with pytest.raises(OutOfDeviceMemory, match=f"Some GPU: out of memory in {what}"):
            call()
    cuda.faults |= {"load": cuda.Error("no kernel image"), "info": cuda.Error("unspecified launch failure")}
    with pytest.raises(DeviceError, match="loading kernel row failed: no kernel image"):
        driver.kernel(ROW)
    with pytest.raises(DeviceError, match="unspecified launch failure"):
        driver.free_memory()


def test_shared_memory_limits_are_raised_when_needed(cuda):
    driver = CudaDriver(compiler=COMPILER)
    kernel, stream = driver.kernel(ROW), driver.stream()
    assert driver.kernel(ROW) is kernel
    assert (kernel.registers, kernel.static_shared, kernel.threads, kernel.name) == (40, 1024, 64, "row")
    argument = np.array([(1, 2)], np.dtype([("a", np.uint64), ("b", np.int32)], align=True))
    for shared in (0, 47 << 10, 48 << 10, 48 << 10, 100 << 10, 50 << 10):
        driver.launch(kernel, 3, argument, stream, shared)
    assert cuda.function.limits == [48 << 10, 100 << 10]
    assert cuda.function.formats == [["16s"]]
    assert cuda.function.launches[0] == ((3, 1), (64, 1, 1), argument.tobytes(), 0)
    assert cuda.calls["load"] == 1


def test_brief_kernels_go_before_others(cuda):
    driver = CudaDriver(compiler=COMPILER)
    assert driver.gpu.multiprocessors == 132
    long, brief = driver.kernel(ROW), driver.kernel(replace(ROW, name="brief", high_priority=True))
    first, second = driver.stream(), driver.stream()
    argument = np.zeros(1, np.dtype([("a", np.uint64)], align=True))
    for kernel, grid in ((long, 132), (brief, 132), (brief, 500), (long, 500), (long, 131)):
        driver.launch(kernel, grid, argument, first)
    assert cuda.priorities == [(16, 8, -5), (16, 8, 0), (16, 8, -5)]
    driver.launch(long, 132, argument, second)
    assert len(cuda.priorities) == 3, "streams have none to begin with"
    cuda.faults["attribute"] = 1  # a driver without stream priorities
    driver.launch(brief, 132, argument, second)
    assert len(cuda.function.launches) == 7


def test_events_are_used_again_when_nobody_holds_them(cuda):
    driver = CudaDriver()
    first, second = driver.stream(), driver.stream()
    made = cuda.Event.made
    kept = driver.record(first)
    for _ in range(5):
        event = driver.record(second)
        assert event.number != kept.number
        assert not driver.done(event) or driver.elapsed(kept, event) == 0.005
        driver.wait(event)
        assert driver.done(event)
    assert cuda.Event.made - made == 3  # one is cached, one is in use, one is recorded before that one is released
    driver.close()
    del event, kept


def test_a_dead_context_is_left_alone(cuda):
    driver = CudaDriver(compiler=COMPILER)
    memory, array, stream = driver.allocate(10), driver.pinned(10), driver.stream()
    kernel = driver.kernel(ROW)
    argument = np.zeros(1, np.dtype([("a", np.uint64)], align=True))
    cuda.faults |= {name: cuda.Error("an illegal memory access") for name in ("launch", "synchronize")}
    cuda.faults["free"] = 700
    count = sys.getrefcount(kernel.function)
    with pytest.raises(DeviceError, match="an illegal memory access"):
        driver.launch(kernel, 1, argument, stream)
    driver.free(memory)
    driver.unpin(array)
    driver.close()
    assert sys.getrefcount(kernel.function) >= count, "the driver's no more, and never destroyed"


def test_a_kernel_of_a_context_that_dies_meanwhile_is_never_unloaded(cuda):
    def get_function(_entry):
        raise cuda.Error("an illegal memory access")

    module = SimpleNamespace(get_function=get_function)
    cuda.module_from_buffer = lambda _image: module
    driver, count = CudaDriver(compiler=COMPILER), sys.getrefcount(module)
    with pytest.raises(DeviceError, match="loading kernel row failed: an illegal memory access"):
        driver.kernel(ROW)
    assert sys.getrefcount(module) == count + 1
    driver.close()


@pytest.mark.parametrize("lost", [False, True])
def test_close_gives_everything_back_once(cuda, lost):
    driver = CudaDriver(compiler=COMPILER)
    kept, given = driver.allocate(10), driver.pinned(10)
    driver.free(driver.allocate(20))
    driver.unpin(given)
    driver.pinned(10)
    unlocked, locked = np.zeros(10, np.uint8), np.ones(10, np.uint8)
    for memory in (unlocked, locked):
        driver.lock(memory)
    driver.unlock(unlocked)
    assert kept.nbytes == 10
    if lost:
        cuda.faults |= {name: cuda.Error("device lost") for name in ("synchronize", "pop")}
        cuda.faults |= {"unregister": 46, "free": 46}
    driver.close()
    driver.close()
    assert cuda.calls["pop"] == cuda.calls["push"] == cuda.calls["retain"] == 1
    assert cuda.calls["free"] == 4
    assert cuda.calls["register"] == cuda.calls["unregister"] == 2
    assert locked.all()


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks"),
    [
        ("sm_90", 64, 32, 0, 32),
        ("sm_90", 1024, 32, 0, 2),
        ("sm_90", 256, 128, 0, 2),
        ("sm_90", 256, 255, 0, 1),
        ("sm_90", 32, 40, 0, 32),
        ("sm_90", 64, 32, 100 << 10, 2),
        ("sm_90", 64, 32, 227 << 10, 1),
        ("sm_90", 64, 32, (227 << 10) + 1, 0),
        ("sm_86", 64, 32, 0, 16),
        ("sm_103", 64, 32, 0, 32),
        ("sm_90", 1024, 128, 0, 0),
    ],
)
def test_resident_blocks(arch, threads, registers, shared, blocks):
    gpu = Gpu("", arch, 1, 227 << 10, 228 << 10, 1, "13.0")
    assert resident_blocks(gpu, threads, registers, shared) == blocks
