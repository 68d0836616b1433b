"""Opens GPUs: through PyCUDA where it works, else through ctypes, which needs only the NVIDIA driver."""

from __future__ import annotations

import os

from ...errors import DeviceError
from ..compile.compiler import Compiler
from . import ctypes_driver, cuda_driver
from .driver import Driver

WANTED = "WFACLI_CUDA_DRIVER"  # environment variable: "pycuda" or "ctypes" uses that one or fails


def uses_pycuda() -> bool:
    """Return whether GPUs are opened through PyCUDA. Raises DeviceError if it is wanted and does not work."""
    wanted = os.environ.get(WANTED, "")
    if wanted not in ("", "pycuda", "ctypes"):
        raise DeviceError(f"{WANTED} is pycuda or ctypes, and not {wanted!r}")
    if wanted == "ctypes":
        return False
    try:
        cuda_driver.load_pycuda()
    except DeviceError:
        if wanted:
            raise
        return False
    return True


def count_devices() -> int:
    """Return the number of GPUs visible to the driver (see CUDA_VISIBLE_DEVICES). Raises DeviceError."""
    return cuda_driver.count_devices() if uses_pycuda() else ctypes_driver.count_devices()


def open_driver(index: int = 0, compiler: Compiler | None = None) -> Driver:
    """Open a GPU.

    Args:
        index: the driver's number of the GPU.
        compiler: source of the kernels' machine code.

    Raises:
        DeviceError: there is no driver, no such GPU, or it is too old.
        OutOfDeviceMemory: its memory is in use.
    """
    if uses_pycuda():
        return cuda_driver.CudaDriver(index, compiler)
    return ctypes_driver.CtypesDriver(index, compiler)
