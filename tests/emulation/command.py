"""`wfacli` with emulated GPUs, so that tests for real ones can be tried without.

    WFACLI_EMULATED_GPUS=2 python -m tests.emulation.command align …

WFACLI_EMULATED_GPUS says how many there are; CUDA_VISIBLE_DEVICES hides some of them, as NVIDIA's driver does.
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
    """How many emulated GPUs the environment asks for; 0: none, and real ones are meant."""
    return int(os.environ.get(GPUS, "0"))


def visible() -> list[int]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves, as numbers of all, in the order in which they are counted."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return list(range(wanted())) if named is None else [int(n) for n in named.split(",") if n]


def open_gpu(index: int, compiler: object = None) -> EmulatedDriver:
    """A GPU, as choice.CudaDriver opens one."""
    gpus = visible()
    if not 0 <= index < len(gpus):
        raise DeviceError(f"no GPU {index}: this machine has {len(gpus)}, counted from 0")
    driver = EmulatedDriver()
    driver.gpu = dataclasses.replace(driver.gpu, bus=f"0000:{gpus[index]:02x}:00.0")
    return driver


def install() -> None:
    """From now on this process has emulated GPUs and no others."""
    choice.CudaDriver = open_gpu  # type: ignore[misc, assignment]
    choice.count_devices = lambda cuda=None: len(visible())  # type: ignore[assignment]
    from wfacli.run import align as run

    run.may_have_gpu = lambda: bool(visible())


if __name__ == "__main__":
    install()
    cli.entry()
