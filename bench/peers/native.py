"""A peer's shared library, called with the columns of a batch."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from wfacli.core.batch import I32, PairBatch

_METRICS = {"edit": 0, "affine": 1}


class _Pairs(ctypes.Structure):
    """The struct Pairs of peer.hpp."""

    _fields_ = (
        ("n", ctypes.c_int64),
        ("size", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("bases", "q_start", "t_start", "q_len", "t_len")),
    )


class Aligner:
    """One of a peer's aligners, for one task under one setting; it keeps its memory until it is closed."""

    def __init__(self, library: Path, metric: str, score_only: bool, setting: str) -> None:
        """Open it. Raises ValueError if the peer does not support the task."""
        self._library = _loaded(library)
        self._opened = self._library.peer_open(_METRICS[metric], int(score_only), setting.encode())
        if not self._opened:
            raise ValueError(f"{library.stem} has no {metric}, score only {score_only}, setting {setting!r}")

    def run(self, pairs: PairBatch) -> tuple[float, I32]:
        """Align every pair; return seconds, and costs (i32[n], -1 for none)."""
        columns = {name: getattr(pairs, name) for name in ("bases", "q_start", "t_start", "q_len", "t_len")}
        costs = np.full(len(pairs), -1, np.int32)
        given = _Pairs(len(pairs), len(pairs.bases), *(column.ctypes.data for column in columns.values()))
        seconds = self._library.peer_run(self._opened, ctypes.byref(given), costs.ctypes.data)
        if seconds < 0:
            raise MemoryError("the peer failed, most likely for lack of memory")
        return seconds, costs

    def close(self) -> None:
        """Free its memory."""
        self._library.peer_close(self._opened)


def _loaded(path: Path) -> Any:
    library = ctypes.CDLL(str(path))
    library.peer_open.restype = ctypes.c_void_p
    library.peer_open.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_char_p)
    library.peer_run.restype = ctypes.c_double
    library.peer_run.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    library.peer_close.restype = None
    library.peer_close.argtypes = (ctypes.c_void_p,)
    return library
