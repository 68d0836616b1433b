"""Build kernel sources as host C++ and launch them; numpy arrays are the GPU memory."""

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
    """A source file with its macros."""

    def __init__(self, source: str, block: int, macros: Mapping[str, int] | None = None):
        self._row = Row("", source, "", tuple((macros or {}).items()), block)

    def launch(self, name: str, task: np.ndarray, grid: int, order: int = 0, shared: int = 0) -> None:
        """Run all blocks; `order` 1 runs blocks and threads from last to first."""
        run = launcher(replace(self._row, entry=name))
        run(task.ctypes.data, grid, self._row.threads, shared, order)


def address(array: np.ndarray, offset: int = 0) -> int:
    """Return the address of an element; the caller keeps the array alive."""
    assert array.flags.c_contiguous
    return array.ctypes.data + offset * array.itemsize


def aligned(size: int, dtype: np.dtype | type, alignment: int = 256) -> np.ndarray:
    """Allocate memory aligned like the driver's, filled with a pattern, whose bounds AddressSanitizer checks."""
    items = max(size * np.dtype(dtype).itemsize, 1)
    pointer = ctypes.c_void_p()
    assert _libc.posix_memalign(ctypes.byref(pointer), ctypes.c_size_t(alignment), ctypes.c_size_t(items)) == 0
    assert pointer.value
    memory = (ctypes.c_uint8 * items).from_address(pointer.value)
    weakref.finalize(memory, _libc.free, pointer)
    array = np.ctypeslib.as_array(memory)
    array[:] = 0xA5
    return array[: size * np.dtype(dtype).itemsize].view(dtype)
