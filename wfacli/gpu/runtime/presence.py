"""Whether a card may be there, told without what it takes to use one."""

from __future__ import annotations

import importlib.util
import sys


def may_have_card() -> bool:
    """Whether PyCUDA is installed, without which no card is opened.

    Where nobody insists on a card, a run that cannot have one need not import what drives it.
    """
    return "pycuda" in sys.modules or importlib.util.find_spec("pycuda") is not None
