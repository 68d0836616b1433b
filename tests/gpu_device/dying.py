"""`wfacli` on GPUs of which one fails: python -m tests.gpu_device.dying fails|killed INDEX|all LAUNCHES align …

fails: from that launch on the GPU every call of it fails, and CUDA knows nothing of it. killed: a kernel reads where
nothing is, and CUDA kills the context, as when a GPU has an error that cannot be corrected. CUDA says that such a
process can do nothing more with it, and so it is with an H200's driver: the calls of other GPUs fail from then on.
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
from wfacli.gpu.runtime.cuda_driver import CudaDriver

from . import twins

_NOWHERE = 1 << 12  # an address that no GPU has
_LETTERS = 1 << 20


def fail(driver: Any) -> None:
    """Makes every later call of a driver fail, but those that end its work."""

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
    """Puts on a stream what ends the GPU's context."""
    pack = np.zeros(1, task.PACK_TASK)
    pack["bases"], pack["packed"], pack["n_bases"] = _NOWHERE, _NOWHERE, _LETTERS
    CudaDriver.launch(driver, driver.kernel(catalogue.ROWS["pack"]), 64, pack, stream)


def mortal(driver: Any, how: str, launches: int) -> Any:
    """The driver, which fails at a launch."""
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
    opened = choice.CudaDriver

    def open_gpu(index: int, compiler: Any = None) -> Any:
        driver = opened(index, compiler)
        return mortal(driver, how, launches) if which in (str(index), "all") else driver

    choice.CudaDriver = open_gpu  # type: ignore[misc, assignment]
    sys.argv = ["wfacli", *sys.argv[4:]]
    cli.entry()


if __name__ == "__main__":
    main()
