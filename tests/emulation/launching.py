"""Kernels' sources built as host C++ and launched; numpy arrays are the card's memory."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

import numpy as np

_libc = ctypes.CDLL(None)
ROOT = Path(__file__).resolve().parents[2]
_SANITIZE = os.environ.get("WFACLI_EMULATION_SANITIZE", "undefined")  # "address,undefined" under libasan
_FLAGS = ("-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-fno-sanitize-recover=all")


@functools.cache
def _where() -> Path:
    """A folder for built kernels; they are found again by what they were built from."""
    sources = [
        p for folder in ("cuda", "tests/emulation") for p in sorted((ROOT / folder).rglob("*.[ch]*")) if p.is_file()
    ]
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"wfacli-emulation-{os.getuid()}-{digest.hexdigest()[:16]}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@functools.cache
def _library(source: str, macros: tuple[str, ...]) -> ctypes.CDLL:
    command = ["g++", *_FLAGS, f"-fsanitize={_SANITIZE}", "-shared", "-fPIC", *macros]
    command += [f"-I{ROOT / 'cuda'}", f"-I{ROOT / 'tests/emulation'}", "-x", "c++", str(ROOT / "cuda" / source)]
    built = _where() / f"{hashlib.sha256(' '.join(command).encode()).hexdigest()[:16]}.so"
    if not built.exists():
        with tempfile.TemporaryDirectory(dir=_where()) as folder:  # another process may build the same
            partial = Path(folder) / "kernels.so"
            subprocess.run([*command, "-o", str(partial)], check=True)
            partial.rename(built)
    return ctypes.CDLL(str(built))


class Kernels:
    """One source with its macros."""

    def __init__(self, source: str, block: int, macros: Mapping[str, int] | None = None):
        self.block = block
        values = {"WFACLI_BLOCK": block, **(macros or {})}
        self._library = _library(source, tuple(f"-D{name}={value}" for name, value in values.items()))

    def launch(self, name: str, task: np.ndarray, grid: int, order: int = 0, shared: int = 0) -> None:
        """Runs all blocks; `order` 1 lets blocks and threads go on from the last to the first."""
        entry = getattr(self._library, name)
        entry.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int]
        entry.restype = None
        entry(task.ctypes.data, grid, self.block, shared, order)


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
