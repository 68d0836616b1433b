"""Hardware limits of the throughput of any aligner: bandwidth of memory, and of the bus to the GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..gpu.compile.compiler import Compiler
from ..gpu.runtime.driver import Driver
from ..gpu.runtime.opening import open_driver

_BYTES = 48 << 20  # size of each thread's array: larger than a core's share of any cache
_BUS_BYTES = 64 << 20
_REPEATS = 5


def memory_rate(threads: int, nbytes: int = _BYTES) -> float:
    """Return the bytes a second that `threads` threads read and write together when copying; best of some repeats."""
    # Pages are mapped only when they are written.
    arrays = [(np.ones(nbytes, np.uint8), np.ones(nbytes, np.uint8)) for _ in range(threads)]
    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_REPEATS):
            begun = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), arrays))
            best = min(best, time.perf_counter() - begun)
    return 2 * nbytes * threads / best


def open_gpu(index: int = 0) -> Driver:
    """Open a GPU. Raises DeviceError."""
    return open_driver(index, Compiler())


def bus_rate(opened: Callable[[], Driver] | None = None, nbytes: int = _BUS_BYTES) -> float:
    """Return bytes a second from page-locked memory to a GPU, best of some copies. Raises DeviceError."""
    driver = (opened or open_gpu)()
    try:
        source, memory, stream = driver.pinned(nbytes), driver.allocate(nbytes), driver.stream()
        best = float("inf")
        for _ in range(_REPEATS):
            begun = time.perf_counter()
            driver.upload(memory.address, source, stream)
            driver.wait(driver.record(stream))
            best = min(best, time.perf_counter() - begun)
        driver.free(memory)
        driver.unpin(source)
        return nbytes / best
    finally:
        driver.close()
