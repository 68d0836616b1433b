"""The kernels' sources, and the emulation's own, compiled for this machine; kept in build/emulation."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from wfacli.gpu.cache import Cache
from wfacli.gpu.catalogue import Row
from wfacli.gpu.sources import row_key

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCES = ROOT / "cuda"
CACHE = Cache(ROOT / "build" / "emulation")


def compiler() -> str:
    return os.environ.get("CXX", "g++")


def flags() -> list[str]:
    """As tests/sanitize.sh wants them. Without gnu-unique, so that rows do not share objects that are named alike."""
    sanitizers = ["undefined"]
    if "address" in os.environ.get("WFACLI_SANITIZE", "").split(","):
        sanitizers.append("address")
    return ["-std=c++20", "-O1", "-g", "-w", "-shared", "-fPIC", "-fno-gnu-unique", "-fno-omit-frame-pointer",
            *(f"-fsanitize={name}" for name in sanitizers), "-fno-sanitize-recover=all"]  # fmt: skip


@lru_cache
def _own_key() -> str:
    digest = hashlib.sha256(subprocess.check_output([compiler(), "--version"]))
    for file in sorted([*HERE.glob("*.hpp"), *HERE.glob("*.cpp")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def build(source: Path, definitions: tuple[str, ...] = ()) -> bytes:
    """A shared library of one source; the compiler's message where it fails."""
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "library.so"
        includes = ["-I", str(SOURCES), "-I", str(HERE)]
        command = [compiler(), *flags(), *definitions, *includes, "-x", "c++", str(source), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return out.read_bytes()


def library(row: Row, folder: Path = SOURCES) -> ctypes.CDLL:
    """A row of the catalogue as a library that has its kernel."""
    name = f"{row.name}.{row_key(row, folder, [*flags(), _own_key()])}.so"
    CACHE.make(name, lambda: build(folder / row.source, row.definitions))
    loaded = ctypes.CDLL(str(CACHE.path(name)))
    launch = getattr(loaded, row.entry)
    launch.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int]
    launch.restype = None
    return loaded


def allocator() -> ctypes.CDLL:
    row = Row("allocator", str(HERE / "allocator.cpp"), "emulation_allocate", (), 1)
    loaded = library(row)
    loaded.emulation_allocate.argtypes = [ctypes.c_size_t]
    loaded.emulation_allocate.restype = ctypes.c_void_p
    loaded.emulation_free.argtypes = [ctypes.c_void_p]
    loaded.emulation_free.restype = None
    return loaded
