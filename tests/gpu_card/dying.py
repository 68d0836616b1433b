"""`wfacli` on cards of which one dies: python -m tests.gpu_card.dying INDEX|all LAUNCHES align …

At that launch on the card a kernel reads where nothing is: CUDA kills the context, and every later call of it fails,
as when a card has an error that cannot be corrected, or falls off the bus.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.emulation import command as emulated
from tests.emulation.driver import EmulatedDriver
from wfacli import cli
from wfacli.engines import choice
from wfacli.gpu import catalogue, task
from wfacli.gpu.cuda_driver import CudaDriver

from . import twins

_NOWHERE = 1 << 12  # an address that no card has
_LETTERS = 1 << 20


def kill(driver: Any, stream: Any) -> None:
    """Puts on a stream what ends the card's context."""
    if isinstance(driver, EmulatedDriver):
        driver.lose_card()
        return
    pack = np.zeros(1, task.PACK_TASK)
    pack["bases"], pack["packed"], pack["letters"] = _NOWHERE, _NOWHERE, _LETTERS
    CudaDriver.launch(driver, driver.kernel(catalogue.ROWS["pack"]), 64, pack, stream)


def mortal(driver: Any, launches: int) -> Any:
    """The driver, which dies at a launch."""
    launch, left = driver.launch, launches

    def counted(kernel: Any, grid: int, arguments: Any, stream: Any, shared_bytes: int = 0) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            kill(driver, stream)
        launch(kernel, grid, arguments, stream, shared_bytes)

    driver.launch = counted
    return driver


def main() -> None:
    which, launches = sys.argv[1], int(sys.argv[2])
    for stand_in in (emulated, twins):
        if stand_in.wanted():
            stand_in.install()
    opened = choice.CudaDriver

    def open_card(index: int, compiler: Any = None) -> Any:
        driver = opened(index, compiler)
        return mortal(driver, launches) if which in (str(index), "all") else driver

    choice.CudaDriver = open_card  # type: ignore[misc, assignment]
    sys.argv = ["wfacli", *sys.argv[3:]]
    cli.entry()


if __name__ == "__main__":
    main()
