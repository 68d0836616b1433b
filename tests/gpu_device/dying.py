"""`wfacli` on GPUs of which one fails: python -m tests.gpu_device.dying fails|killed INDEX|all LAUNCHES align …

fails: from that launch on, every call of this GPU fails, without CUDA's knowledge. killed: a kernel reads an invalid
address, and CUDA kills the context, as after an uncorrectable hardware error. CUDA documents that such a process can
no longer use the GPU. With an H200's driver, the calls of the other GPUs fail from then on too.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.emulation import command as emulated
from tests.emulation.driver import EmulatedDriver
from wfacli import cli
from wfacli.engines import choice
from wfacli.errors import DeviceError
from wfacli.gpu.kernels import catalogue
from wfacli.gpu.runtime import task

from . import twins

_NOWHERE = 1 << 12  # an address that no GPU has
_SYMBOLS = 1 << 20


def fail(driver: Any) -> None:
    """Make every later call of a driver fail, except those that release its resources."""

    def failing(*_: Any, **__: Any) -> Any:
        raise DeviceError("injected: the GPU is gone")

    for call in (
        "allocate",
        "pinned",
        "lock",
        "upload",
        "download",
        "fill",
        "kernel",
        "launch",
        "record",
        "done",
        "wait",
    ):
        setattr(driver, call, failing)


def kill(driver: Any, stream: Any) -> None:
    """Queue a kernel on a stream that kills the GPU's context."""
    pack = np.zeros(1, task.PACK_TASK)
    pack["bases"], pack["packed"], pack["n_bases"] = _NOWHERE, _NOWHERE, _SYMBOLS
    type(driver).launch(driver, driver.kernel(catalogue.ROWS["pack"]), 64, pack, stream)


def mortal(driver: Any, how: str, launches: int) -> Any:
    """Make the driver fail after a number of launches."""
    launch, left = driver.launch, launches

    def counted(kernel: Any, grid: int, arguments: Any, stream: Any, shared_bytes: int = 0) -> None:
        nonlocal left
        left -= 1
        if left == 0 and isinstance(driver, EmulatedDriver):
            driver.lose_gpu()
        elif left == 0 and how == "fails":
            fail(driver)
            driver.launch()
        elif left == 0:
            kill(driver, stream)
        launch(kernel, grid, arguments, stream, shared_bytes)

    driver.launch = counted
    return driver


def main() -> None:
    how, which, launches = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for stand_in in (emulated, twins):
        if stand_in.wanted():
            stand_in.install()
    opened = choice.open_driver

    def open_gpu(index: int, compiler: Any = None) -> Any:
        driver = opened(index, compiler)
        return mortal(driver, how, launches) if which in (str(index), "all") else driver

    choice.open_driver = open_gpu  # type: ignore[misc, assignment]
    sys.argv = ["wfacli", *sys.argv[4:]]
    cli.entry()


if __name__ == "__main__":
    main()
