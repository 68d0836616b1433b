"""Every kernel by itself, with pairs that cost one less than it reaches, exactly that, and one more."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gpu_engine.support import on_card
from wfacli.config import AlignSpec
from wfacli.cores import usable_cores
from wfacli.engines.gpu import GpuEngine
from wfacli.gpu.cache import Cache
from wfacli.gpu.compiler import Compiler
from wfacli.gpu.cuda_driver import CudaDriver

from . import rungs
from .support import CACHE

ON_CARD = [(scheme, only) for scheme in rungs.SCHEMES for only in (False, True)]
# Few and small, since an emulated card takes its time; the helpers are tried out with them.
EMULATED = [
    ("edit", False, "gpu-bits-32"),
    ("edit", False, "gpu-wfa-edit-32"),
    ("affine", False, "gpu-dp-16"),
    ("affine", True, "gpu-wfa-affine-30"),
    ("affine2p", False, "gpu-dp-16"),
    ("affine", False, "gpu-tiles-128"),
]


def opened(spec: AlignSpec) -> GpuEngine:
    """On a real card, with the kernels that the other tests have."""
    compiler = Compiler(Cache(Path(os.environ.get("WFACLI_CACHE_DIR") or CACHE)))
    return GpuEngine(spec, lambda: CudaDriver(compiler=compiler))


@pytest.mark.gpu
@pytest.mark.parametrize(("scheme", "score_only"), ON_CARD)
def test_on_a_card(card: dict[str, Any], say: Callable[[str], None], scheme: str, score_only: bool) -> None:
    what = f"{scheme} {'scores' if score_only else 'CIGARs'}"
    for kernel, count in rungs.check_all(opened, scheme, score_only, usable_cores()):
        say(f"{kernel}, {what}: {count}")
        assert count.aligned


@pytest.mark.parametrize(("scheme", "score_only", "kernel"), EMULATED)
def test_emulated(scheme: str, score_only: bool, kernel: str) -> None:
    spec = rungs.spec_of(scheme, score_only)
    with on_card(spec) as (engine, _):
        count = rungs.check_rung(engine, kernel, spec, rungs.others(80)[::4], 1, longest=2000)
    assert count.edges >= 4
    assert count.handed_on
