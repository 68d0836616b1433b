"""Builds and loads fake_libcuda.c."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from wfacli.gpu.runtime import ctypes_driver, libcuda

KINDS = ("contexts", "current contexts", "memory", "host memory", "locks", "modules", "streams", "events")
_SOURCE = Path(__file__).with_suffix(".c")


class FakeLibcuda:
    """The library, and its variables as attributes."""

    def __init__(self, path: Path) -> None:
        """Load a copy of its own, whose variables have their first values."""
        self.library = ctypes.CDLL(str(path))

    def number(self, name: str, kind: Any = ctypes.c_int) -> Any:
        """Return a variable, whose `value` can be set."""
        return kind.in_dll(self.library, f"fake_{name}")

    def fail(self, name: str, error: int) -> None:
        """Have a function return an error from now on; "*" is all of them, "" none."""
        ctypes.memmove(
            ctypes.addressof(ctypes.c_char.in_dll(self.library, "fake_fault")), name.encode() + b"\0", len(name) + 1
        )
        self.number("error").value = error

    def live(self) -> dict[str, int]:
        """Return what was made and not given back, by kind."""
        counts = (ctypes.c_int * len(KINDS)).in_dll(self.library, "fake_live")
        return {kind: count for kind, count in zip(KINDS, counts, strict=True) if count}

    def launched(self) -> tuple[list[int], int, bytes]:
        """Return the last launch's blocks and threads in three dimensions each, its shared memory, its argument."""
        size = self.number("argument_size", ctypes.c_uint64).value
        whole = (ctypes.c_ubyte * 256).in_dll(self.library, "fake_argument")
        grid = (ctypes.c_uint32 * 6).in_dll(self.library, "fake_grid")
        return list(grid), self.number("shared", ctypes.c_uint32).value, bytes(whole[:size])


def build(folder: Path) -> Path:
    """Compile the library into a folder; skip the test without a C compiler."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("there is no C compiler")
    made = folder / "libcuda.so"
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", made, _SOURCE], check=True)
    return made


def load(monkeypatch: pytest.MonkeyPatch, built: Path, folder: Path) -> FakeLibcuda:
    """Load a fresh copy, and have drivers use it."""
    fake = FakeLibcuda(Path(shutil.copy(built, folder / "libcuda-of-this-test.so")))
    for module in (libcuda, ctypes_driver):
        monkeypatch.setattr(module, "load_libcuda", lambda: fake.library)
    return fake
