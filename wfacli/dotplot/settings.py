"""Matplotlib's packaged settings, whatever files named matplotlibrc exist."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from ..core.interruption import deferred

_SEARCHED = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY  # of Linux: the folder need not be readable
_BACKEND = "MPLBACKEND"
_NOT_A_STYLE = "backend"  # the only setting that rc_context does not restore


@contextmanager
def packaged_settings() -> Iterator[None]:
    """Run a block whose first import of matplotlib reads only the settings that are packaged with it.

    While it is imported, matplotlib reads the first file named matplotlibrc of those in the working directory, where
    MATPLOTLIBRC says, and in the user's configuration. Such a file can block, fail, or name a program to run, and
    matplotlib has no option to ignore the one in the working directory. Therefore the folder of the packaged file is
    the working directory during the block. MPLBACKEND, which names a window system, is not set during the block: files
    need none, and an unknown name would be an error.

    For the main thread of a process that has no other threads yet. Signals are deferred.

    Raises:
        OSError: the working directory cannot be opened.
    """
    if "matplotlib" in sys.modules or (folder := _packaged_folder()) is None:
        yield
        return
    with deferred():
        before = os.open(os.curdir, _SEARCHED)
        backend = os.environ.pop(_BACKEND, None)
        try:
            os.chdir(folder)
            yield
        finally:
            os.fchdir(before)
            os.close(before)
            if backend is not None:
                os.environ[_BACKEND] = backend


def _packaged_folder() -> Path | None:
    """Return matplotlib's folder that contains its matplotlibrc, or else its own folder; None if not installed."""
    found = importlib.util.find_spec("matplotlib")
    if found is None or not found.origin:
        return None
    package = Path(found.origin).parent
    data = package / "mpl-data"
    return data if data.is_dir() else package


def packaged_style(changes: dict[str, Any]) -> AbstractContextManager[None]:
    """Return a context in which matplotlib has its packaged settings with changes, in any process that imported it."""
    import matplotlib

    defaults: Any = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != _NOT_A_STYLE}
    style: AbstractContextManager[None] = matplotlib.rc_context(defaults | changes)
    return style
