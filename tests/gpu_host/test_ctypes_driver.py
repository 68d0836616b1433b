"""The driver without PyCUDA on a fake libcuda: signatures, errors, limits, and that nothing is left behind."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from wfacli.errors import DeviceError, OutOfDeviceMemory
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.kernels.properties import Gpu
from wfacli.gpu.runtime import ctypes_driver, cuda_driver, libcuda, opening
from wfacli.gpu.runtime.ctypes_driver import CtypesDriver

from . import fake_libcuda, fake_pycuda
from .fake_libcuda import FakeLibcuda

ROW = Row("row", "row.cu", "entry", (), 64)
COMPILER = SimpleNamespace(image=lambda row, arch: arch.encode())
SOURCE = (Path(__file__).with_name("fake_libcuda.c")).read_text()
# What a run calls, and what ends it: functions that fail there are ignored.
CALLED = sorted(
    set(re.findall(r'(?:answer|inside)\("(cu\w+)"\)', SOURCE))
    - {"cuCtxSynchronize", "cuMemFree", "cuMemFreeHost", "cuMemHostUnregister"}
)
IGNORED = {"cuStreamSetAttribute", "cuCtxGetStreamPriorityRange"}  # without them there are no priorities


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return fake_libcuda.build(tmp_path_factory.mktemp("libcuda"))


@pytest.fixture
def fake(monkeypatch, built, tmp_path) -> FakeLibcuda:
    return fake_libcuda.load(monkeypatch, built, tmp_path)


def argument(nbytes: int = 16) -> np.ndarray:
    return np.array([(7, 9)], np.dtype([("a", np.uint64), ("b", np.int32)], align=True))[: nbytes // 16]


def work(driver: CtypesDriver) -> None:
    """Call everything once, and leave some of it to close()."""
    stream, memory, kernel = driver.stream(), driver.allocate(1000), driver.kernel(ROW)
    host, own = driver.pinned(1000), np.zeros(1000, np.uint8)
    driver.lock(own)
    host[:] = np.arange(1000) % 251
    begun = driver.record(stream)
    driver.upload(memory.address, host, stream)
    driver.fill(memory.address + 100, 0xAB, 50, stream)
    driver.launch(kernel, 3, argument(), stream, 100 << 10)
    driver.download(own, memory.address, stream)
    ended = driver.record(stream)
    driver.wait(ended)
    assert driver.done(ended) and driver.elapsed(begun, ended) == pytest.approx(0.005)
    assert driver.free_memory() == (1 << 20) - 1000
    expected = (np.arange(1000) % 251).astype(np.uint8)
    expected[100:150] = 0xAB
    assert np.array_equal(own, expected)
    driver.unlock(own)
    driver.unpin(host)
    driver.free(memory)
    driver.allocate(10)
    driver.pinned(10)
    driver.lock(own)


def test_all_of_the_protocol_works_and_close_gives_everything_back(fake):
    driver = CtypesDriver(compiler=COMPILER)
    assert fake.live() == {"contexts": 1, "current contexts": 1}
    work(driver)
    assert fake.live() == {
        "contexts": 1, "current contexts": 1, "memory": 1, "host memory": 1, "locks": 1, "modules": 1, "streams": 1,
        "events": 2,
    }  # fmt: skip
    driver.close()
    assert fake.live() == {}
    calls = fake.number("calls").value
    driver.close()
    assert fake.number("calls").value == calls


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("error", [2, 700])
def test_whatever_fails_nothing_is_left(fake, name, error):
    fake.fail(name, error)
    driver = None
    try:
        driver = CtypesDriver(compiler=COMPILER)
        work(driver)
        assert name in IGNORED, "this function is not called, or its error is not noticed"
    except DeviceError as problem:
        assert isinstance(problem, OutOfDeviceMemory) == ("out of memory in" in str(problem))
        assert name in str(problem) or error == 2 or name in ("cuInit", "cuDeviceGetCount")
        assert error == 2 or "700 (CUDA_ERROR_ILLEGAL_ADDRESS)" in str(problem)
    fake.fail("", 0)
    if driver is not None:
        driver.close()
    assert fake.live() == {}


def test_a_lost_gpu_is_closed_without_a_word(fake, capfd):
    driver = CtypesDriver(compiler=COMPILER)
    work(driver)
    memory = driver.allocate(10)
    fake.fail("*", 700)
    driver.free(memory)
    with pytest.raises(
        DeviceError, match=r"Some GPU: a query of free memory failed: cuMemGetInfo gave error 700 \(CUDA_"
    ):
        driver.free_memory()
    driver.close()
    assert not {"contexts", "current contexts", "modules", "streams", "events"} & set(fake.live())
    assert capfd.readouterr() == ("", "")


def test_errors_tell_what_failed(fake):
    driver = CtypesDriver(compiler=COMPILER)
    symbols = np.zeros(1000, np.uint8)
    calls = (
        ("cuMemAlloc", "an allocation of 1,000 bytes", lambda: driver.allocate(1000)),
        ("cuMemAllocHost", "page-locking 1,000 bytes of the host's memory", lambda: driver.pinned(1000)),
        ("cuMemHostRegister", "page-locking 1,000 bytes of the host's memory", lambda: driver.lock(symbols)),
        ("cuModuleLoadData", "loading kernel row", lambda: driver.kernel(ROW)),
    )
    for name, what, call in calls:
        fake.fail(name, 801)
        with pytest.raises(
            DeviceError, match=rf"Some GPU: {what} failed: {name} gave error 801 \(CUDA_ERROR_NOT_SUPP"
        ):
            call()
        fake.fail(name, 12345)
        with pytest.raises(DeviceError, match=rf"{name} gave error 12345$"):
            call()
        fake.fail(name, 2)
        with pytest.raises(OutOfDeviceMemory, match=f"Some GPU: out of memory in {what}"):
            call()
    fake.fail("", 0)
    with pytest.raises(OutOfDeviceMemory):
        driver.allocate(2 * driver.gpu.memory_total)
    driver.close()


@pytest.mark.parametrize(
    ("settings", "index", "words"),
    [
        ({"count": 0}, 0, "has no NVIDIA GPU"),
        ({"count": 2}, 2, "no GPU 2: this machine has 2"),
        ({"major": 7, "minor": 5}, 0, "Some GPU, is sm_75; the GPU engine needs sm_80"),
    ],
)
def test_gpus_that_cannot_be_used(fake, settings, index, words):
    for name, value in settings.items():
        fake.number(name).value = value
    with pytest.raises(DeviceError, match=words):
        CtypesDriver(index)
    assert fake.live() == {}


@pytest.mark.parametrize(("error", "count"), [(100, 0), (999, None)])
def test_a_driver_that_finds_nothing(fake, error, count):
    fake.fail("cuInit", error)
    if count is None:
        with pytest.raises(DeviceError, match="finds no GPU that it can use: error 999"):
            ctypes_driver.count_devices()
    else:
        assert ctypes_driver.count_devices() == count


def test_no_driver_at_all(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(DeviceError, match=r"no NVIDIA driver on this machine \(libcuda.so.1 is missing\)"):
        libcuda.load_libcuda()


def test_the_gpu_is_described(fake):
    driver = CtypesDriver(compiler=COMPILER)
    assert driver.gpu == Gpu("Some GPU", "sm_90", 132, 232448, 233472, 1 << 20, "13.0", "0000:01:00.0", "ctypes")
    driver.close()


def test_launches_pass_what_the_kernel_gets(fake):
    driver = CtypesDriver(compiler=COMPILER)
    kernel, stream = driver.kernel(ROW), driver.stream()
    assert driver.kernel(ROW) is kernel
    assert (kernel.registers, kernel.static_shared, kernel.threads, kernel.name) == (40, 1024, 64, "row")
    limits = []
    for shared in (0, 47 << 10, 48 << 10, 100 << 10, 50 << 10):
        driver.launch(kernel, 70_000, argument(), stream, shared)
        assert fake.launched() == ([70_000, 1, 1, 64, 1, 1], shared, argument().tobytes())
        limits.append(fake.number("limit").value)
    assert limits == [0, 0, 48 << 10, 100 << 10, 100 << 10]
    driver.close()


def test_brief_kernels_go_before_others(fake):
    driver = CtypesDriver(compiler=COMPILER)
    long, brief = driver.kernel(ROW), driver.kernel(replace(ROW, name="brief", high_priority=True))
    stream, seen = driver.stream(), []
    for kernel, grid in ((long, 132), (brief, 132), (brief, 500), (long, 500), (long, 131)):
        driver.launch(kernel, grid, argument(), stream)
        seen.append((fake.number("priority_calls").value, fake.number("priority").value))
    assert seen == [(0, 0), (1, -5), (1, -5), (2, 0), (3, -5)]
    driver.close()


def test_events_are_used_again_when_nobody_holds_them(fake):
    driver = CtypesDriver(compiler=COMPILER)
    stream = driver.stream()
    kept = driver.record(stream)
    fake.number("ready").value = 0
    for _ in range(5):
        event = driver.record(stream)
        assert event.number != kept.number and not driver.done(event)
    assert fake.live()["events"] == 3
    fake.number("ready").value = 1
    assert driver.done(event)
    driver.close()
    del event, kept
    assert fake.live() == {}


def test_arrays_with_gaps_are_refused(fake):
    driver = CtypesDriver(compiler=COMPILER)
    stream, memory = driver.stream(), driver.allocate(100)
    with pytest.raises(ValueError, match="contiguous"):
        driver.upload(memory.address, np.zeros(100, np.uint8)[::2], stream)
    with pytest.raises(ValueError, match="contiguous"):
        driver.download(np.zeros((10, 10), np.uint8)[:, :5], memory.address, stream)
    driver.close()


@pytest.fixture
def both(monkeypatch, fake):
    """A fake PyCUDA beside the fake library."""
    fake_pycuda.install(monkeypatch, fake_pycuda.make(count=3))


@pytest.mark.parametrize(
    ("wanted", "through", "count"), [("", "PyCUDA", 3), ("pycuda", "PyCUDA", 3), ("ctypes", "ctypes", 1)]
)
def test_pycuda_is_preferred_and_the_environment_decides(monkeypatch, both, wanted, through, count):
    monkeypatch.setenv(opening.WANTED, wanted)
    assert opening.count_devices() == count
    driver = opening.open_driver(compiler=COMPILER)
    assert driver.gpu.through.split()[0] == through
    driver.close()


@pytest.mark.parametrize("problem", ["PyCUDA is missing", "PyCUDA does not work here"])
def test_without_pycuda_ctypes_takes_its_place(monkeypatch, fake, problem):
    def load_pycuda() -> None:
        raise DeviceError(problem)

    monkeypatch.delenv(opening.WANTED, raising=False)
    monkeypatch.setattr(cuda_driver, "load_pycuda", load_pycuda)
    driver = opening.open_driver(compiler=COMPILER)
    assert isinstance(driver, CtypesDriver)
    driver.close()
    monkeypatch.setenv(opening.WANTED, "pycuda")
    with pytest.raises(DeviceError, match=problem):
        opening.open_driver()
    monkeypatch.setenv(opening.WANTED, "hip")
    with pytest.raises(DeviceError, match="WFACLI_CUDA_DRIVER is pycuda or ctypes, and not 'hip'"):
        opening.open_driver()
