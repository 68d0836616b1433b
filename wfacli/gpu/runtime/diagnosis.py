"""Diagnosis of the GPU engine's requirements on this machine, as plain values for `wfacli doctor`."""

from __future__ import annotations

import ctypes
import os
from importlib import metadata
from typing import Any

from ...core.cores import usable_cores
from ...errors import DeviceError
from ..compile.cache import Cache
from ..compile.compiler import GET_NVCC, Compiler, Progress, find_nvcc, nvcc_version
from ..compile.package import prepare
from ..kernels.catalogue import ROWS
from .opening import open_driver
from .selftest import check_gpu


def diagnose(index: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """Return the state of each requirement, by name.

    "missing" lists what to install and how, "usable" says whether the GPU works, and "problem" why it does not.

    Args:
        index: the driver's number of the GPU to test.
        progress: called for each compiled kernel; see Compiler.
    """
    cache = Cache()
    driver, gpus = installed_driver()
    nvcc = find_nvcc()
    found: dict[str, Any] = {
        "driver": driver,
        "gpus": gpus,
        "pycuda": _version("pycuda"),
        "nvcc": {"path": str(nvcc), "version": nvcc_version(nvcc)} if nvcc else None,
        "cache": _cache(cache),
        "kernels": len(ROWS),
        "kernels_package": _version("wfacli-kernels"),
        "missing": [],
        "usable": False,
        "problem": "",
    }
    if driver is None:
        found["missing"].append("NVIDIA driver: install the one for this machine's GPU (libcuda.so.1)")
    if nvcc is None:
        found["missing"].append(f"nvcc, for kernels that are not compiled yet: {GET_NVCC}")
    try:
        found |= _try_gpu(index, Compiler(cache, nvcc, progress=progress))
    except DeviceError as problem:
        found["problem"] = str(problem)
    return found


def installed_driver() -> tuple[str | None, int]:
    """Return the CUDA version that libcuda supports (None without libcuda) and its number of GPUs, without PyCUDA."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, 0
    version, count = ctypes.c_int(), ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)):
        count.value = 0
    return f"{version.value // 1000}.{version.value % 1000 // 10}", count.value


def _try_gpu(index: int, compiler: Compiler) -> dict[str, Any]:
    driver = open_driver(index, compiler)
    try:
        gpu = driver.gpu
        prepare(compiler, ROWS.values(), gpu.arch, usable_cores())
        checks = {check.name: check.problem or "ok" for check in check_gpu(driver, ROWS.values())}
        broken = [f"{name}: {outcome}" for name, outcome in checks.items() if outcome != "ok"]
        return {
            "opened": {
                "index": index,
                "name": gpu.name,
                "architecture": gpu.arch,
                "through": gpu.through,
                "multiprocessors": gpu.multiprocessors,
                "memory_total_bytes": gpu.memory_total,
                "memory_free_bytes": driver.free_memory(),
            },
            "checks": checks,
            "usable": not broken,
            "problem": "; ".join(broken),
        }
    finally:
        driver.close()


def _cache(cache: Cache) -> dict[str, Any]:
    folder = cache.folder
    above = next((path for path in (folder, *folder.absolute().parents) if path.exists()), folder)
    files = cache.names("*.cubin")
    return {
        "folder": str(folder),
        "writable": above.is_dir() and os.access(above, os.W_OK),
        "kernels": len(files),
        "bytes": sum((folder / name).stat().st_size for name in files),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
