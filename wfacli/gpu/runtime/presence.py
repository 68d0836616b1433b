"""Whether a GPU may be there, told without what it takes to use one."""

from __future__ import annotations

import importlib.util
import sys


def may_have_gpu() -> bool:
    """Whether PyCUDA is installed, without which no GPU is opened.

    Where nobody insists on a GPU, a run that cannot have one need not import what drives it.
    """
    return "pycuda" in sys.modules or importlib.util.find_spec("pycuda") is not None
