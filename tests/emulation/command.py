"""`wfacli` with emulated GPUs, to try tests for real GPUs without any.

    WFACLI_EMULATED_GPUS=2 python -m tests.emulation.command align …

WFACLI_EMULATED_GPUS is their number. CUDA_VISIBLE_DEVICES hides some of them, as with NVIDIA's driver.
"""

from __future__ import annotations

import dataclasses
import os

from wfacli import cli
from wfacli.engines import choice
from wfacli.errors import DeviceError

from .driver import EmulatedDriver

GPUS = "WFACLI_EMULATED_GPUS"


def wanted() -> int:
    """Return the number of emulated GPUs that the environment requests; 0: use real GPUs."""
    return int(os.environ.get(GPUS, "0"))


def visible() -> list[int]:
    """Return the physical indices of the GPUs in CUDA_VISIBLE_DEVICES, in the order of their visible indices."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return list(range(wanted())) if named is None else [int(n) for n in named.split(",") if n]


def open_gpu(index: int, compiler: object = None) -> EmulatedDriver:
    """Open an emulated GPU, like choice.open_driver."""
    gpus = visible()
    if not 0 <= index < len(gpus):
        raise DeviceError(f"no GPU {index}: this machine has {len(gpus)}, counted from 0")
    driver = EmulatedDriver()
    driver.gpu = dataclasses.replace(driver.gpu, bus=f"0000:{gpus[index]:02x}:00.0")
    return driver


def install() -> None:
    """Replace the real GPUs of this process by emulated ones."""
    choice.open_driver = open_gpu  # type: ignore[misc, assignment]
    choice.count_devices = lambda: len(visible())  # type: ignore[assignment]
    from wfacli.run import align as run

    run.may_have_gpu = lambda: bool(visible())


if __name__ == "__main__":
    install()
    cli.entry()
