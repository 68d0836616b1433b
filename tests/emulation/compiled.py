"""Compile the kernels and the emulation's own sources for the host, cached in build/emulation."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.sources import row_key
from wfacli.gpu.kernels.catalogue import Row

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCES = ROOT / "cuda"
CACHE = Cache(ROOT / "build" / "emulation")


def compiler() -> str:
    return os.environ.get("CXX", "g++")


def flags() -> list[str]:
    """Return the compiler flags, with the sanitizers that tests/sanitize.sh requests.

    Without gnu-unique, so that rows do not share objects of the same name.
    """
    sanitizers = ["undefined"]
    if "address" in os.environ.get("WFACLI_SANITIZE", "").split(","):
        sanitizers.append("address")
    own = [
        "-std=c++20",
        "-O1",
        "-g1",
        "-Wall",
        "-Wextra",
        "-Wno-unknown-pragmas",
        "-shared",
        "-fPIC",
        "-fno-gnu-unique",
    ]
    own += ["-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
    own += [f"-fsanitize={name}" for name in sanitizers]
    # The checks that are slowest to compile and least useful (null pointers crash the test anyway) run in make
    # sanitize.
    return own if "address" in sanitizers else [*own, "-fno-sanitize=null,object-size,pointer-overflow,vptr"]


@lru_cache
def _own_key() -> str:
    digest = hashlib.sha256(subprocess.check_output([compiler(), "--version"]))
    for file in sorted([*HERE.glob("*.hpp"), *HERE.glob("*.cpp")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def build(source: Path, options: tuple[str, ...] = (), kind: str = "c++", objects: tuple[str, ...] = ()) -> bytes:
    """Compile a source and objects to a shared library, or a header to a precompiled one.

    Fails with the compiler's message.
    """
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "made"
        includes = ["-I", str(SOURCES), "-I", str(HERE)]
        command = [compiler(), *flags(), *options, *includes, "-x", kind, str(source), "-x", "none", *objects]
        command += ["-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return out.read_bytes()


@lru_cache
def _shared_key() -> str:
    return hashlib.sha256(" ".join([*flags(), _own_key()]).encode()).hexdigest()[:32]


@lru_cache
def _prelude() -> tuple[str, ...]:
    """Return options that include the precompiled emulation header, which saves a third of a row's compile time."""
    name = f"prelude.{_shared_key()}.hpp.gch"
    CACHE.make(name, lambda: build(HERE / "cuda_on_host.hpp", kind="c++-header"))
    return "-include", str(CACHE.path(name).with_suffix("")), "-Winvalid-pch", "-Werror=invalid-pch"


@lru_cache
def _runtime() -> tuple[str, ...]:
    """Return the object file that all kernels are linked with, optimized as it is not under test."""
    name = f"runtime.{_shared_key()}.o"
    CACHE.make(name, lambda: build(HERE / "runtime.cpp", ("-c", "-O2", "-fno-sanitize=undefined")))
    return (str(CACHE.path(name)),)


def library(row: Row, folder: Path = SOURCES) -> ctypes.CDLL:
    """Compile and load the kernel of a catalogue row."""
    key = row_key(row, folder, [*flags(), _own_key()])
    name = f"{Path(row.source).stem}.{key}.so"
    CACHE.make(name, lambda: build(folder / row.source, (*row.definitions, *_prelude()), objects=_runtime()))
    return ctypes.CDLL(str(CACHE.path(name)))


@lru_cache
def launcher(row: Row, folder: Path = SOURCES) -> Callable[[int, int, int, int, int], None]:
    """Return the kernel's launcher: (argument address, blocks, threads per block, shared bytes, order)."""
    launch: Callable[..., None] = getattr(library(row, folder), row.entry)
    launch.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int]
    launch.restype = None
    return launch


def allocator() -> ctypes.CDLL:
    name = f"runtime.{_shared_key()}.so"
    CACHE.make(name, lambda: build(Path(*_runtime()), kind="none"))
    loaded = ctypes.CDLL(str(CACHE.path(name)))
    loaded.emulation_allocate.argtypes = [ctypes.c_size_t]
    loaded.emulation_allocate.restype = ctypes.c_void_p
    loaded.emulation_free.argtypes = [ctypes.c_void_p]
    loaded.emulation_free.restype = None
    return loaded
