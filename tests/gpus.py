"""Detect NVIDIA GPUs. On a machine with a GPU, no GPU test may be skipped for lack of one."""

from __future__ import annotations

import functools
import shutil
import subprocess

import pytest

from wfacli.gpu.runtime.diagnosis import installed_driver


def smi(*arguments: str) -> list[str]:
    """Return the lines printed by nvidia-smi, or an empty list if it is missing or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


@functools.cache
def listed() -> bool:
    """Return whether `nvidia-smi -L` or the driver library lists a GPU."""
    return any(line.startswith("GPU ") for line in smi("-L")) or installed_driver()[1] > 0


def skip_without_gpu() -> None:
    """Skip the test on a machine without a GPU. Any other missing requirement is a failure."""
    if not listed():
        pytest.skip("no NVIDIA GPU")
