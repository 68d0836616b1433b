"""`wfacli` with one real GPU as several: each of them is a context of its own on the first GPU.

    WFACLI_TWIN_GPUS=2 python -m tests.gpu_device.twins align …

Memory that is page-locked for one and used by all, threads, a context that is killed while others go on: all that is
CUDA's, on a machine with one GPU. Nothing is faster for it.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from wfacli import cli
from wfacli.engines import choice
from wfacli.errors import DeviceError
from wfacli.gpu.runtime.cuda_driver import CudaDriver

GPUS = "WFACLI_TWIN_GPUS"


def wanted() -> int:
    """How many the environment asks for; 0: none, and GPUs are what they are."""
    return int(os.environ.get(GPUS, "0"))


class Twin(CudaDriver):
    """The first GPU by a context that no other driver has."""

    @staticmethod
    def _entered(device: Any) -> Any:
        return device.make_context()

    def close(self) -> None:
        """Gives the context back, too."""
        context = self._context
        super().close()
        if context is not None:
            context.detach()


def open_gpu(index: int, compiler: Any = None) -> Twin:
    """A GPU, as choice.CudaDriver opens one."""
    if not 0 <= index < wanted():
        raise DeviceError(f"no GPU {index}: this machine has {wanted()}, counted from 0")
    driver = Twin(0, compiler)
    driver.gpu = dataclasses.replace(driver.gpu, bus=f"{driver.gpu.bus}, {index}")
    return driver


def install() -> None:
    """From now on this process has so many GPUs."""
    choice.CudaDriver = open_gpu  # type: ignore[misc, assignment]
    choice.count_devices = lambda cuda=None: wanted()  # type: ignore[assignment]


if __name__ == "__main__":
    install()
    cli.entry()
