"""A check for GPU support that imports nothing that drives a GPU."""

from __future__ import annotations

import importlib.util
import sys


def may_have_gpu() -> bool:
    """Return whether PyCUDA is installed, which is required to open a GPU.

    Runs that do not require a GPU check this first, to avoid importing the GPU engines in vain.
    """
    return "pycuda" in sys.modules or importlib.util.find_spec("pycuda") is not None
