"""`wfacli extend --engine gpu` and `--engine cpu` write the same bytes, and the GPU computes the alignments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .inputs import Pair, write
from .scored import NUCLEOTIDES, RESIDUES, SEED, uneven
from .support import align, assert_no_failure, assert_same

pytestmark = pytest.mark.gpu
SCORES = {"nucleotides": ("--scores", "2,4,4,2", "--n-score", "-1"), "proteins": ("--matrix", "BLOSUM62")}


def pairs_for(what: str) -> list[Pair]:
    """Return pairs of 10 to 5000 symbols, mostly short, like those between seeds."""
    lengths = np.exp(np.random.default_rng(SEED).uniform(np.log(10), np.log(5000), 2000)).astype(np.int64)
    return uneven(SEED, lengths.tolist(), NUCLEOTIDES if what == "nucleotides" else RESIDUES)


def kernels_of_same(
    folder: Path, files: Sequence[Path], options: Sequence[str], kernels: str, suffix: str
) -> dict[str, float]:
    """Assert that both engines write the same; return the seconds of the kernels whose names start with `kernels`."""
    wanted, found = (
        align(folder, engine, *files, *options, suffix=suffix, command="extend") for engine in ("cpu", "gpu")
    )
    assert_same(found, wanted, " ".join(options))
    assert_no_failure(found)
    seconds = {k: s for k, s in found.report["stage_seconds"].items() if k.startswith(kernels)}
    assert seconds
    return seconds


@pytest.mark.parametrize("mode", ["local", "extension", "semiglobal", "global"])
@pytest.mark.parametrize("what", SCORES)
def test_same_bytes(gpu: dict[str, Any], tmp_path: Path, say: Callable[[str], None], what: str, mode: str) -> None:
    files = write(tmp_path, "pairs", pairs_for(what))
    for more in ((), ("--score-only",)):
        suffix = ".tsv" if more else ".paf"
        kernels = kernels_of_same(tmp_path, files, (*SCORES[what], "--mode", mode, *more), "gpu sw", suffix)
        say(f"extend {what}, {mode}{' scores' if more else ''}: {kernels}")


@pytest.mark.parametrize("cuts", [("--band", "200", "--zdrop", "100"), ("--band", "30"), ("--zdrop", "60")])
@pytest.mark.parametrize("what", SCORES)
def test_in_a_band_until_a_drop(
    gpu: dict[str, Any], tmp_path: Path, say: Callable[[str], None], what: str, cuts: tuple[str, ...]
) -> None:
    files = write(tmp_path, "pairs", pairs_for(what)[:600])
    more = ("--mode", "extension", "--score-only", *cuts)
    kernels = kernels_of_same(tmp_path, files, (*SCORES[what], *more), "gpu sw-guided", ".tsv")
    say(f"extend {what}, {' '.join(cuts)}: {kernels}")
