"""Several real GPUs write the same bytes as one GPU, whichever are used, and if one of them fails.

    WFACLI_EMULATED_GPUS=2 python -m pytest -m gpu tests/gpu_device/test_several.py
    WFACLI_TWIN_GPUS=2 python -m pytest -m gpu tests/gpu_device/test_several.py

run the same tests without a GPU, on small inputs, and with two contexts of one GPU.
"""

from __future__ import annotations

import gzip
import re
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.emulation import command as emulated
from tests.gpus import smi

from . import twins
from .inputs import REAL, mixed, write
from .stopping import held, stopped
from .support import (
    EMULATED,
    TWINS,
    Case,
    Occupied,
    Run,
    align,
    assert_clear_error,
    assert_no_failure,
    assert_same,
    wait_until_free,
)

pytestmark = pytest.mark.gpu
SEED = 79
SETS = ("illumina150", "special_sarscov2_N_iupac", "hifi_human_wfagpu", "pacbio_clr_ecoli", "ont_ecoli_ul")
AT_HAND = [name for name in SETS if (REAL / f"{name}.query.fa.gz").exists()] or [""]
CASES = (Case("edit"), Case("affine"), Case("affine2p", score_only=True))
READS = mixed(SEED, [60] * 200 if EMULATED else [150] * 20_000, (0.0, 0.02, 0.05, 0.1))
NOISY = mixed(SEED, [300] * 12 if EMULATED else [4000] * 200, (0.1, 0.15))
BATCHES = 12
SHARED = ("--gpu-memory", 0.2)  # share of a GPU for each of the runs in parallel
SMALL = ("--batch-bases", 2000 if EMULATED else 400_000, *SHARED)
Say = Callable[[str], None]


@pytest.fixture(scope="module")
def two(gpu: dict[str, Any]) -> None:
    """Skip with fewer than two GPUs."""
    count = emulated.wanted() or twins.wanted() or sum(line.startswith("GPU ") for line in smi("-L"))
    if count < 2:
        pytest.skip(f"{count} GPU, and several are to be tried")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files of short reads and noisy long reads."""
    return write(tmp_path_factory.mktemp("pairs"), "pairs", [*READS, *NOISY])


@pytest.fixture(scope="module")
def one(two: None, tmp_path_factory: pytest.TempPathFactory, files: tuple[Path, Path]) -> Run:
    """The run of the same pairs on one GPU."""
    return align(tmp_path_factory.mktemp("one"), "gpu", *files, *SMALL, "--devices", "0")


@pytest.fixture
def left_free(two: None) -> Iterator[None]:
    """Check that all GPUs are as free afterwards as before."""
    before = Occupied.now()
    yield
    wait_until_free(before)


def gpus_of(run: Run) -> list[dict[str, Any]]:
    """Return the report of each GPU."""
    engine = run.report["engine"]
    return engine.get("gpus", [engine])


def failing(how: str, which: str | int, launches: int) -> tuple[str, ...]:
    """Return the command with a failing GPU; see dying.py."""
    return (sys.executable, "-m", "tests.gpu_device.dying", how, str(which), str(launches))


def assert_all_worked(run: Run, count: int = 2) -> None:
    """Assert that `count` GPUs aligned pairs, each at least a third of its fair share of the batches."""
    gpus = gpus_of(run)
    assert len(gpus) == count, gpus
    routes = [gpu["routes"] for gpu in gpus]
    assert min(routes) * 3 * count >= sum(routes), routes
    assert min(gpu["pairs"] for gpu in gpus) > 0


@pytest.mark.parametrize("name", AT_HAND)
def test_real_sets(two: None, tmp_path: Path, say: Say, name: str) -> None:
    if not name:
        say(f"no real sets in {REAL}; WFACLI_TEST_DATA names the folder of real pairs")
        return
    files = [REAL / f"{name}.{side}.fa.gz" for side in ("query", "target")]

    symbols = sum(map(len, (gzip.decompress(file.read_bytes()) for file in files)))
    batches = ("--batch-bases", symbols // BATCHES, *SHARED)

    def compared(case: Case) -> None:
        arguments = (*files, *case.arguments, *batches)
        one = align(tmp_path, "gpu", *arguments, "--devices", "0", suffix=case.suffix)
        for devices in ("0,1", "1,0", "all"):
            several = align(tmp_path, "gpu", *arguments, "--devices", devices, suffix=case.suffix)
            assert_same(several, one, f"{name}, {case}, --devices {devices}")
            assert_no_failure(several)
            if one.on_gpu > one.report["pairs"] / 3:
                assert_all_worked(several, len(gpus_of(several)))
            assert several.by_kernel == one.by_kernel
        shares = ", ".join(f"{gpu['pairs']:,}" for gpu in gpus_of(several))
        say(f"{name}, {case}: {one.on_gpu:,} of {one.report['pairs']:,} pairs on GPUs, of them of each {shares}")

    with ThreadPoolExecutor(len(CASES)) as pool:
        list(pool.map(compared, CASES))


@pytest.mark.skipif(TWINS, reason="both are one GPU for the environment")
def test_gpus_that_the_environment_hides(two: None, tmp_path: Path, files: tuple[Path, Path]) -> None:
    def buses(devices: str, **env: str) -> list[str]:
        run = align(tmp_path, "gpu", *files, *SMALL, "--devices", devices, env=env)
        assert_no_failure(run)
        return [gpu["bus"] for gpu in gpus_of(run)]

    first, second = buses("0,1")
    assert first != second
    assert buses("0") == [first]
    assert buses("1") == [second]
    assert buses("all", CUDA_VISIBLE_DEVICES="1") == [second]
    assert buses("all", CUDA_VISIBLE_DEVICES="1,0") == [second, first]
    for visible, devices, words in (("1", "0,1", "no GPU 1: this machine has 1"), ("", "all", "GPU")):
        run = align(tmp_path, "gpu", *files, "--devices", devices, env={"CUDA_VISIBLE_DEVICES": visible})
        assert_clear_error(run)
        assert words in run.err


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("launches", [1, 30])
def test_one_fails(
    left_free: None, tmp_path: Path, say: Say, files: tuple[Path, Path], one: Run, which: int, launches: int
) -> None:
    found = align(tmp_path, "gpu", *files, *SMALL, "--devices", "0,1", by=failing("fails", which, launches))
    assert_same(found, one, f"GPU {which} fails at launch {launches}")
    told = [line for line in found.err.splitlines() if "warning" in line]
    assert len(told) == 1, found.err
    assert re.match(rf"wfacli: warning: GPU {which} \(.*\) failed, the others go on: ", told[0])
    assert [gpu["failure"] is None for gpu in gpus_of(found)] == [which != 0, which != 1]
    assert found.report["engine"]["failure"] is None
    assert found.by_kernel == one.by_kernel, "nothing was left to the CPU for it"
    say(f"{told[0][17:140]} ({found.seconds:.1f} s instead of {one.seconds:.1f})")


@pytest.mark.parametrize(("how", "which", "launches"), [("fails", "all", 12), ("killed", "0", 1), ("killed", "1", 30)])
def test_all_fail(
    left_free: None, tmp_path: Path, say: Say, files: tuple[Path, Path], how: str, which: str, launches: int
) -> None:
    """All GPUs fail, or CUDA fails for the whole process after one context was killed: the CPU aligns the rest."""
    wanted = align(tmp_path, "cpu", *files)
    found = align(tmp_path, "gpu", *files, *SMALL, "--devices", "all", by=failing(how, which, launches))
    assert_same(found, wanted)
    assert [line for line in found.err.splitlines() if not line.startswith("wfacli: ")] == []
    left = "the others go on" if EMULATED and how == "killed" else "the GPU failed, and the CPU aligned the rest"
    assert f" {left}: " in found.err
    failed = sum(gpu["failure"] is not None for gpu in gpus_of(found))
    say(f"{how}, GPU {which}: {failed} failed, {found.on_gpu:,} of {found.report['pairs']:,} pairs were done before")


@pytest.mark.parametrize(("which", "free_mib"), [(0, 0), (1, 0), (0, 900)])
@pytest.mark.skipif(EMULATED or TWINS, reason="no other program can have one stand-in's memory and not the other's")
def test_another_program_has_the_memory_of_one(
    left_free: None, tmp_path: Path, say: Say, files: tuple[Path, Path], one: Run, which: int, free_mib: int
) -> None:
    with held(free_mib, which) as left:
        found = align(tmp_path, "gpu", *files, "--devices", "all", "--batch-bases", 400_000)
    assert_same(found, one, f"{left} MiB free on GPU {which}")
    told = [line[8:150] for line in found.err.splitlines() if "warning" in line]
    say(f"{left} MiB free on GPU {which} of {len(gpus_of(found))}: {told}")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_mid_run(left_free: None, tmp_path: Path, say: Say, sent: signal.Signals) -> None:
    least = 40_000 if EMULATED else 20_000_000
    code = 128 + sent
    seconds, written = stopped(tmp_path, READS, sent, code, "--metric", "affine", "--devices", "0,1", least=least)
    say(f"{sent.name}: two GPUs were left after {seconds:.2f} s, {written:,} pairs were written")
