"""A check for GPU support that imports nothing that drives a GPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))  # of NVIDIA's driver, and of Windows' in its Linux


def may_have_gpu() -> bool:
    """Return whether opening a GPU may succeed.

    PyCUDA is installed, or the machine has a driver's device and this package can get kernels for it. Runs that do not
    require a GPU check this first, to avoid importing the GPU engines in vain.
    """
    if "pycuda" in sys.modules or importlib.util.find_spec("pycuda") is not None:
        return True
    return any(device.exists() for device in _DEVICES) and _has_kernels()


def _has_kernels() -> bool:
    """Return whether there are compiled kernels, or a compiler for them."""
    from ..compile.cache import Cache
    from ..compile.compiler import find_nvcc, shipped_folders

    shipped = any(next(folder.glob("*.cubin"), None) for folder in shipped_folders())
    return shipped or find_nvcc() is not None or bool(Cache().names("*.cubin"))
