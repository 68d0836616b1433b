"""The best local alignment of one long pair on a GPU equals the CPU's, on generated and real pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.gpus import skip_without_gpu
from wfacli.gpu.kernels.local import BUILDS
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.scoring.scheme import Scheme
from wfacli.solve.gpu.local import GpuLocal
from wfacli.solve.local.found import Found
from wfacli.solve.local.searches import OnCpu
from wfacli.solve.local.task import Task

from .inputs import real_symbols
from .local_pairs import NO_RUNS, answer, generated, on_gpu
from .support import align, assert_same

pytestmark = pytest.mark.gpu
SCHEMES = {
    "nucleotides": Scheme.of_scores(1, 3, 3, 2),
    "high": Scheme.of_scores(5, 4, 8, 1),
    "proteins": Scheme.of_matrix("BLOSUM62", (11, 1)),
}
CORES = os.cpu_count() or 1


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    skip_without_gpu()
    opened = open_driver()
    yield opened
    opened.close()


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("length", [1, 63, 511, 512, 513, 5_000, 60_000])
def test_generated_pairs(driver: Driver, name: str, length: int) -> None:
    for difference in (0.0, 0.05, 0.3, 0.9):
        query, target = generated(SCHEMES[name], length, difference, length)
        task = Task(query, target, SCHEMES[name], threads=CORES)
        wanted = answer(OnCpu()(task, NO_RUNS))
        for build in BUILDS[name == "proteins" :]:
            for prune in (True, False):
                assert on_gpu(driver, task, build=build, prune=prune) == wanted, (build, difference, prune)


def test_a_path_that_leaves_the_best_cells(driver: Driver) -> None:
    """In most saved rows, the best cell belongs to another alignment."""
    rng, scheme = np.random.default_rng(3), SCHEMES["nucleotides"]
    first, second = (rng.integers(0, 4, 20_000).astype(np.uint8) for _ in range(2))
    worse = second.copy()
    worse[rng.integers(0, 20_000, 900)] = 0
    apart = rng.integers(0, 4, 15_000).astype(np.uint8)
    task = Task(np.concatenate([first, second]), np.concatenate([first, worse, apart, second]), scheme, threads=CORES)
    assert on_gpu(driver, task) == answer(OnCpu()(task, NO_RUNS))


@pytest.mark.parametrize("name", ["long_mt_human_orang", "long_mpxv", "long_ont_500k", "long_hpylori_puno120_sjm180"])
def test_real_pairs(driver: Driver, say: Callable[[str], None], name: str) -> None:
    """The last pair takes the CPU minutes: its alignment is rescored, and compared with a run without pruning."""
    scheme = SCHEMES["nucleotides"]
    symbols = real_symbols(name)
    if symbols is None:
        pytest.skip("no such pair: WFACLI_TEST_DATA names the folder")
    query, target = (scheme.codes[side] for side in symbols)
    task = Task(query, target, scheme, threads=CORES)
    score, span, cigar = on_gpu(driver, task)
    Found(score, span, np.array(cigar, np.uint32)).check(query, target, scheme)
    assert on_gpu(driver, task, prune=False)[0] == score
    if len(query) < 600_000:
        assert (score, span, cigar) == answer(OnCpu()(task, NO_RUNS))
    say(f"local {name}: score {score}, {span}")


def test_states(driver: Driver) -> None:
    """A search that is stopped after a launch continues in another solver."""
    scheme = SCHEMES["nucleotides"]
    query, target = generated(scheme, 40_000, 0.1, 5)
    task = Task(query, target, scheme, threads=CORES)
    wanted = answer(OnCpu()(task, NO_RUNS))
    search = GpuLocal(driver, query, target, scheme, NO_RUNS, CORES)
    search.compute_strips(30)
    state = search.save()
    search.close()
    for other in (OnCpu()(task, NO_RUNS), GpuLocal(driver, query, target, scheme, NO_RUNS, CORES)):
        other.restore(state)
        assert answer(other) == wanted


def test_the_command(gpu: dict[str, Any], tmp_path: Path) -> None:
    """Both engines write the same bytes, also with --top."""
    symbols = np.frombuffer(b"ACGT", np.uint8)
    query, target = (
        symbols[side % 4].tobytes().decode() for side in generated(SCHEMES["nucleotides"], 30_000, 0.1, 7)
    )
    files = []
    for name, side in (("a", query), ("b", target)):
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{side}\n")
        files.append(str(tmp_path / f"{name}.fa"))
    wanted, found = (
        align(tmp_path, engine, *files, "--top", "3", suffix=".paf", command="local") for engine in ("cpu", "gpu")
    )
    assert_same(found, wanted, "local")
    assert found.report["engines"] == ["gpu"] * 3 and found.report["gpu_failed"] is None
