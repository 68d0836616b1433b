"""Every kernel alone, with pairs that cost one less than its reach, exactly its reach, and one more."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gpu_engine.support import opened_gpu
from wfacli.config import AlignSpec
from wfacli.core.cores import usable_cores
from wfacli.engines.gpu import GpuEngine
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver

from . import rungs
from .support import CACHE

ON_GPU = [(scheme, only) for scheme in rungs.SCHEMES for only in (False, True)]
# Few and small cases for the slow emulated GPU, to test the helpers.
EMULATED = [
    ("edit", False, "gpu-bits-32"),
    ("edit", False, "gpu-wfa-edit-32"),
    ("affine", False, "gpu-dp-16"),
    ("affine", True, "gpu-wfa-affine-30"),
    ("affine2p", False, "gpu-dp-16"),
    ("affine", False, "gpu-tiles-128"),
]


_MEMORY = 32 << 30  # bytes of GPU memory: three batches of 10.7 GiB each; two of the longest pairs take 4.4
_PATIENCE = 240  # seconds


def opened(spec: AlignSpec) -> GpuEngine:
    """Open a real GPU with the kernels of the other tests, and memory for the longest pair.

    Waits while other programs, including tests, leave too little memory: pairs without memory are not aligned, which
    is correct, but tests nothing.
    """
    compiler = Compiler(Cache(Path(os.environ.get("WFACLI_CACHE_DIR") or CACHE)))

    def driver() -> Driver:
        found, end = open_driver(compiler=compiler), time.monotonic() + _PATIENCE
        while found.free_memory() < _MEMORY and time.monotonic() < end:
            time.sleep(1)
        return found

    return GpuEngine(spec, driver, memory=_MEMORY)


@pytest.mark.gpu
@pytest.mark.parametrize(("scheme", "score_only"), ON_GPU)
def test_on_a_gpu(gpu: dict[str, Any], say: Callable[[str], None], scheme: str, score_only: bool) -> None:
    what = f"{scheme} {'scores' if score_only else 'CIGARs'}"
    for kernel, count in rungs.check_all(opened, scheme, score_only, usable_cores()):
        say(f"{kernel}, {what}: {count}")
        assert count.aligned


@pytest.mark.parametrize(("scheme", "score_only", "kernel"), EMULATED)
def test_emulated(scheme: str, score_only: bool, kernel: str) -> None:
    spec = rungs.spec_of(scheme, score_only)
    with opened_gpu(spec) as (engine, _):
        count = rungs.check_rung(engine, kernel, spec, rungs.others(80)[::4], 1, longest=2000)
    assert count.edges >= 4
    assert count.handed_on
