"""Self-test of a GPU; takes about a second once its kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import DeviceError
from ..kernels.catalogue import Row
from .driver import Driver

_BYTES = 1 << 20


@dataclass(frozen=True)
class Check:
    """Result of a check; `problem` is empty if it passed."""

    name: str
    problem: str = ""


def check_gpu(driver: Driver, rows: Iterable[Row]) -> Iterator[Check]:
    """Copy data to the GPU and back, then load every kernel; yield the result of each check."""
    yield _checked("copies", partial(_copies, driver))
    for row in rows:
        yield _checked(f"kernel {row.name}", partial(_loads, driver, row))


def _checked(name: str, trial: Callable[[], str]) -> Check:
    try:
        return Check(name, trial())
    except DeviceError as problem:
        return Check(name, str(problem))


def _copies(driver: Driver) -> str:
    stream, memory = driver.stream(), driver.allocate(_BYTES)
    sent, received = driver.pinned(_BYTES), driver.pinned(_BYTES)
    try:
        sent[:] = np.arange(_BYTES, dtype=np.uint32).astype(np.uint8)
        sent[_BYTES // 2 :] ^= 0x5A
        driver.upload(memory.address, sent, stream)
        driver.fill(memory.address + _BYTES // 4, 0xA5, _BYTES // 4, stream)
        driver.download(received, memory.address, stream)
        driver.wait(driver.record(stream))
        sent[_BYTES // 4 : _BYTES // 2] = 0xA5
        return "" if np.array_equal(sent, received) else "what came back from the GPU is not what went there"
    finally:
        driver.free(memory)
        driver.unpin(sent)
        driver.unpin(received)


def _loads(driver: Driver, row: Row) -> str:
    return "" if driver.kernel(row).resident() else "no block of it fits on a multiprocessor"
