"""`wfacli` with one real GPU as several: each is a separate context on the first GPU.

    WFACLI_TWIN_GPUS=2 python -m tests.gpu_device.twins align …

Tests page-locked memory shared by several contexts, threads, and a killed context beside others, on real CUDA with one
GPU. It is no faster.
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
    """Return the number of GPUs that the environment requests; 0: use real GPUs."""
    return int(os.environ.get(GPUS, "0"))


class Twin(CudaDriver):
    """The first GPU, with a context of its own."""

    @staticmethod
    def _entered(device: Any) -> Any:
        return device.make_context()

    def close(self) -> None:
        """Release the context too."""
        context = self._context
        super().close()
        if context is not None:
            context.detach()


def open_gpu(index: int, compiler: Any = None) -> Twin:
    """Open a GPU, like choice.CudaDriver."""
    if not 0 <= index < wanted():
        raise DeviceError(f"no GPU {index}: this machine has {wanted()}, counted from 0")
    driver = Twin(0, compiler)
    driver.gpu = dataclasses.replace(driver.gpu, bus=f"{driver.gpu.bus}, {index}")
    return driver


def install() -> None:
    """Make this process have several GPUs."""
    choice.CudaDriver = open_gpu  # type: ignore[misc, assignment]
    choice.count_devices = lambda cuda=None: wanted()  # type: ignore[assignment]


if __name__ == "__main__":
    install()
    cli.entry()
