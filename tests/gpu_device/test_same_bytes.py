"""`wfacli align --engine gpu` and `--engine cpu` write the same bytes, for real sets and generated pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .inputs import LENGTHS, REAL, generated, write
from .support import CASES, Case, Run, compared, line_of

pytestmark = pytest.mark.gpu
SEED = 71
# Real sets, and the minimum share of pairs that the GPU must align in some case; CPU threads may align the rest.
SETS = {
    "hifi_human_wfagpu": 0.9,
    "illumina100_chrM": 0.9,
    "illumina150": 0.9,
    "illumina250": 0.9,
    "long_mpxv": 0.0,
    "ont_ecoli_ul": 0.5,
    "ont_ecoli_ul_60kplus": 0.0,
    "ont_sarscov2_amplicon": 0.9,
    "pacbio_clr_ecoli": 0.5,
    "special_illumina72_N": 0.5,
    "special_sarscov2_N_iupac": 0.0,
    "special_softmask_chimp": 0.5,
}
AT_HAND = [name for name in SETS if (REAL / f"{name}.query.fa.gz").exists()] or [""]
RULES = tuple(
    Case(metric, more=("--ambiguous", rule)) for metric in ("edit", "affine") for rule in ("wildcard", "literal")
)
OPTIONS = (
    Case("affine", more=("--penalties", "5,1,7", "--match", "2")),
    Case("affine", more=("--max-cost", "60")),
    Case("edit", more=("--max-cost", "12", "--cigar", "m")),
    Case("affine2p", more=("--penalties", "4,4,2,8,1", "--check")),
    Case("edit", more=("--band", "9")),
    Case("affine", more=("--band", "40,10")),
    Case("affine2p", more=("--band", "20,10", "--score-only")),
)
Say = Callable[[str], None]


def assert_on_gpu(done: dict[str, Run], share: float) -> None:
    """Assert that the GPU aligned this share of pairs in its best case."""
    most = max(run.on_gpu / max(run.report["pairs"], 1) for run in done.values())
    assert most >= share, {case: run.by_kernel for case, run in done.items()}


@pytest.mark.parametrize("name", AT_HAND)
def test_real_sets(gpu: dict[str, Any], tmp_path: Path, say: Say, name: str) -> None:
    if not name:
        say(f"no real sets in {REAL}; WFACLI_TEST_DATA names the folder of real pairs")
        return
    files = [REAL / f"{name}.{side}.fa.gz" for side in ("query", "target")]
    cases = (*CASES, *(RULES if name.startswith("special") else ()))
    done = compared(tmp_path, files, cases)
    for case, run in done.items():
        say(line_of(name, case, run))
    assert_on_gpu(done, SETS[name])


@pytest.mark.parametrize("name", LENGTHS)
def test_generated_pairs(gpu: dict[str, Any], tmp_path: Path, say: Say, name: str) -> None:
    files = write(tmp_path, "pairs", generated(name, SEED))
    cases = (*CASES, *(OPTIONS if name == "0 to 1 kb" else ()))
    done = compared(tmp_path, files, cases)
    for case, run in done.items():
        say(line_of(f"generated, {name}", case, run))
    assert_on_gpu(done, 0.0 if name == "20 to 200 kb" else 0.3)


@pytest.mark.parametrize("bases", [1000, 100_000])
def test_batches_of_any_size(gpu: dict[str, Any], tmp_path: Path, bases: int) -> None:
    files = write(tmp_path, "pairs", generated("0 to 1 kb", SEED)[: bases // 100])
    compared(tmp_path, files, (Case(metric, more=("--batch-bases", str(bases))) for metric in ("edit", "affine")))
