"""The JSON content of --stats."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .golden_cases import CASES, GOLDEN
from .support import Result, assert_success, run


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    """The report of the golden pairs, aligned in several batches."""
    arguments = (*CASES[0].arguments, "--batch-bases", "100", "-t", "2", "--check", "--penalties", "3,5,1")
    result = run("align", *arguments, "--stats", tmp_path / "s.json", cwd=GOLDEN)
    assert_success(result)
    return {**json.loads((tmp_path / "s.json").read_text()), "test_output": result.out}


def test_versions(report: dict[str, Any]) -> None:
    versions = report["versions"]
    assert versions["wfacli"] == run("--version", cwd=GOLDEN).text.strip()
    assert versions["python"] == platform.python_version()
    assert versions["numpy"] == np.__version__
    assert versions["machine"] == platform.machine()


def test_options(report: dict[str, Any]) -> None:
    assert report["complete"] is True
    assert report["command_line"].startswith("wfacli align reads.fq targets.fa --format sam ")
    options = report["options"]
    assert options["spec"]["metric"] == "affine"
    assert options["spec"]["penalties"] == {"mismatch": 3, "gaps": [[5, 1]], "match": 0, "ambiguous": None}
    assert options["output"]["format"] == "sam"
    assert (options["threads"], options["batch_bases"], options["check"]) == (2, 100, True)
    assert report["engine"]["engine"] == "cpu"
    assert report["engine"]["threads"] == 2


def test_options_that_say_what_to_compute(tmp_path: Path) -> None:
    scoring = "--metric affine2p --penalties 5,4,3,20,1 --match 2 --ambiguous wildcard --score-only"
    where = "--mode ends-free --free 1,2,3,all --band 50,10 --xdrop 99 --max-memory 100M"
    arguments = ("align", "reads.fq", "targets.fa", *scoring.split(), *where.split())
    assert_success(run(*arguments, "--stats", tmp_path / "s.json", cwd=GOLDEN))
    options = json.loads((tmp_path / "s.json").read_text())["options"]
    assert options["spec"] == {
        "metric": "affine2p",
        "penalties": {"mismatch": 5, "gaps": [[4, 3], [20, 1]], "match": 2, "ambiguous": None},
        "ambiguous": "wildcard",
        "mode": "ends-free",
        "free": {"query_begin": 1, "query_end": 2, "target_begin": 3, "target_end": 2**31 - 1},
        "score_only": True,
        "heuristics": {"band": 50, "band_step": 10, "xdrop": 99, "zdrop": 0},
        "max_cost": None,
    }
    assert options["output"]["format"] == "tsv"
    assert sum(options["limits"].values()) == 100 << 20
    assert_success(
        run("align", "reads.fq", "targets.fa", "--max-cost", "9", "--stats", tmp_path / "s.json", cwd=GOLDEN)
    )
    assert json.loads((tmp_path / "s.json").read_text())["options"]["spec"]["max_cost"] == 9


def test_counts(report: dict[str, Any]) -> None:
    symbols = [len(line) for line in (GOLDEN / "reads.fq").read_text().splitlines()[1::4]]
    assert report["pairs"] == report["aligned"] == len(symbols)
    assert report["unaligned"] == {}
    assert report["query_bases"] == sum(symbols)
    assert report["query_bases"] == report["matches"] + report["mismatches"] + report["inserted_bases"]
    assert report["target_bases"] == report["matches"] + report["mismatches"] + report["deleted_bases"]
    assert sum(report["pairs_by_kernel"].values()) == report["pairs"]
    assert report["batches"] > 1


def test_output_bytes_are_those_of_the_records(report: dict[str, Any]) -> None:
    records = [line for line in report["test_output"].splitlines(keepends=True) if not line.startswith(b"@")]
    assert report["output_bytes"] == sum(map(len, records))


def test_times_and_memory(report: dict[str, Any]) -> None:
    assert report["stage_seconds"].keys() >= {"header", "read", "align", "check", "format", "write"}
    assert all(seconds >= 0 for seconds in report["stage_seconds"].values())
    assert 0 < report["wall_seconds"] < 20
    assert report["pairs_per_second"] == pytest.approx(report["pairs"] / report["wall_seconds"], rel=0.01)
    assert 10_000_000 < report["peak_memory_bytes"] < 1_000_000_000
    assert 0 < report["identity"] < 1


def test_empty_input(align: Callable[..., Result], folder: Path) -> None:
    (folder / "empty").write_bytes(b"")
    assert_success(align("empty", "--stats", "s.json"))
    # Strict JSON, which has no NaN.
    report = json.loads((folder / "s.json").read_text(), parse_constant=pytest.fail)
    assert (report["pairs"], report["identity"], report["complete"]) == (0, None, True)


def test_statistics_on_standard_output(align: Callable[..., Result]) -> None:
    result = align("q.fa", "t.fa", "-o", "x.paf", "--stats", "-")
    assert_success(result)
    assert json.loads(result.out)["pairs"] == 5
