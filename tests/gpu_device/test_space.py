"""Compare random specifications of the whole option space on a GPU with the oracle: chosen and forced kernels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.space import run
from tests.space.check import failures
from tests.space.oracle import optima
from tests.space.pairs import Size, block
from tests.space.specs import spec, written
from tests.space.ways import GPU, Way
from wfacli.config import Metric, Mode
from wfacli.core.route import on_gpu
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.plan.kernels import candidates

from .support import CACHE

SIZES = (Size(1, 0, 60, (1500, 2500)), Size(1, 100, 400, (300, 600)), Size(1, 500, 3000, (20, 40)))
SEED, FORCED = 26, 3  # FORCED: forced kernels for each block
BLOCKS = 30 * int(os.environ.get("WFACLI_FUZZ") or 1)  # blocks per metric


def real_driver() -> Driver:
    """Open the GPU with the kernels that the other tests have compiled."""
    return open_driver(compiler=Compiler(Cache(Path(os.environ.get("WFACLI_CACHE_DIR") or CACHE))))


@pytest.mark.gpu
@pytest.mark.parametrize("metric", list(Metric), ids=str)
def test_every_specification_is_exact_on_a_gpu(
    gpu: dict[str, Any], say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, metric: Metric
) -> None:
    monkeypatch.setattr(run, "open_driver", real_driver)
    answered: Counter[str] = Counter()
    for index in range(BLOCKS):
        rng = Random(f"{SEED}:{metric}:{index}")
        size = SIZES[index % len(SIZES)]
        asked = spec(rng, Mode.GLOBAL, metric, size.longest)
        pairs = block(rng, size, asked, 0.0)
        best = optima(pairs, asked)
        kernels = [name for name in candidates(asked, gpu=True) if on_gpu(name)]
        for kernel in (None, *rng.sample(kernels, min(FORCED, len(kernels)))):
            problems, found = failures(pairs, asked, Way(GPU, kernel), best, 240)
            assert not problems, f"{kernel} {written(asked)} {pairs[problems[0].row]}: {len(problems)}, {problems[0]}"
            assert found is not None and found.origin is not None
            answered.update(found.kernels[origin] for origin in found.origin.tolist())
    say(f"{metric}: " + ", ".join(f"{name} {count:,}" for name, count in answered.most_common()))
    assert sum(on_gpu(name) for name in answered) >= 3
