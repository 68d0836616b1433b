"""Kernels' sources built as host C++ and launched; numpy arrays are the GPU's memory."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tests.emulation.compiled import ROOT, launcher
from wfacli.gpu.kernels.catalogue import Row

_libc = ctypes.CDLL(None)

__all__ = ["ROOT", "Kernels", "address", "aligned"]


class Kernels:
    """One source with its macros."""

    def __init__(self, source: str, block: int, macros: Mapping[str, int] | None = None):
        self._row = Row("", source, "", tuple((macros or {}).items()), block)

    def launch(self, name: str, task: np.ndarray, grid: int, order: int = 0, shared: int = 0) -> None:
        """Runs all blocks; `order` 1 lets blocks and threads go on from the last to the first."""
        run = launcher(replace(self._row, entry=name))
        run(task.ctypes.data, grid, self._row.threads, shared, order)


def address(array: np.ndarray, offset: int = 0) -> int:
    """Of an element, as a task has it; the caller keeps the array alive."""
    assert array.flags.c_contiguous
    return array.ctypes.data + offset * array.itemsize


def aligned(size: int, dtype: np.dtype | type, alignment: int = 256) -> np.ndarray:
    """Memory as the driver hands it out, filled with a pattern; AddressSanitizer sees what lies beyond it."""
    items = max(size * np.dtype(dtype).itemsize, 1)
    pointer = ctypes.c_void_p()
    assert _libc.posix_memalign(ctypes.byref(pointer), ctypes.c_size_t(alignment), ctypes.c_size_t(items)) == 0
    assert pointer.value
    memory = (ctypes.c_uint8 * items).from_address(pointer.value)
    weakref.finalize(memory, _libc.free, pointer)
    array = np.ctypeslib.as_array(memory)
    array[:] = 0xA5
    return array[: size * np.dtype(dtype).itemsize].view(dtype)
