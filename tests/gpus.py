"""Whether this machine has an NVIDIA GPU. Where it has one, no test that needs it may be skipped for want of it."""

from __future__ import annotations

import functools
import shutil
import subprocess

import pytest

from wfacli.gpu.runtime.diagnosis import installed_driver


def smi(*arguments: str) -> list[str]:
    """Lines that nvidia-smi prints; none where it is missing or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


@functools.cache
def listed() -> bool:
    """Whether `nvidia-smi -L` or the driver's library knows of a GPU."""
    return any(line.startswith("GPU ") for line in smi("-L")) or installed_driver()[1] > 0


def skip_without_gpu() -> None:
    """Skips the test on a machine without a GPU; whatever else is missing is its failure."""
    if not listed():
        pytest.skip("no NVIDIA GPU")
