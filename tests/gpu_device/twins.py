"""`wfacli` with one real GPU as several: each is a separate context on the first GPU.

    WFACLI_TWIN_GPUS=2 python -m tests.gpu_device.twins align …

Tests page-locked memory shared by several contexts, threads, and a killed context beside others, on real CUDA with one
GPU. It is no faster.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
from typing import Any

from wfacli import cli
from wfacli.engines import choice
from wfacli.errors import DeviceError
from wfacli.gpu.runtime.ctypes_driver import CtypesDriver
from wfacli.gpu.runtime.cuda_driver import CudaDriver
from wfacli.gpu.runtime.opening import uses_pycuda

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


class CtypesTwin(CtypesDriver):
    """The same without PyCUDA."""

    def _entered(self, device: ctypes.c_int) -> Any:
        context = ctypes.c_void_p()
        self._called("opening", "cuCtxCreate_v2", ctypes.byref(context), ctypes.c_uint(0), device)
        return context

    def _left(self) -> None:
        self._library.cuCtxDestroy_v2(self._context)


def open_gpu(index: int, compiler: Any = None) -> Twin | CtypesTwin:
    """Open a GPU, like choice.open_driver."""
    if not 0 <= index < wanted():
        raise DeviceError(f"no GPU {index}: this machine has {wanted()}, counted from 0")
    driver = (Twin if uses_pycuda() else CtypesTwin)(0, compiler)
    driver.gpu = dataclasses.replace(driver.gpu, bus=f"{driver.gpu.bus}, {index}")
    return driver


def install() -> None:
    """Make this process have several GPUs."""
    choice.open_driver = open_gpu  # type: ignore[assignment]
    choice.count_devices = wanted


if __name__ == "__main__":
    install()
    cli.entry()
