"""bench/harness/compare.py: results that are made up, and what it says of them."""

import copy
import json
from pathlib import Path

import pytest

from bench.harness import compare
from bench.harness.compare import Change


def bench(**seconds):
    """Return a result of `wfacli bench` with a row for each engine."""
    rows = [
        {"row": "150 bp 2%", "error": 0.02, "task": "edit CIGAR", "engine": engine, "threads": 2, "pairs": 1000,
         "best_seconds": min(all_seconds), "all_seconds": all_seconds, "pairs_by_kernel": {"bits-64": 1000}}
        for engine, all_seconds in seconds.items()
    ]  # fmt: skip
    return {"name": "bench", "what_is_timed": {"seconds": "all"}, "machine": {"cpu": "X", "cores": 2}, "rows": rows}


def compared(tmp_path, capsys, old, new, *options):
    """Return the exit status and the output."""
    for name, result in (("old", old), ("new", new)):
        (tmp_path / name).write_text(result if isinstance(result, str) else json.dumps(result))
    code = compare.main([str(tmp_path / "old"), str(tmp_path / "new"), *options])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


@pytest.mark.parametrize(
    ("old", "new", "verdict", "code"),
    [
        ([1.0, 1.0, 1.0], [1.1, 1.1, 1.1], "REGRESSION", 1),
        ([1.0, 1.0, 1.0], [1.03, 1.03, 1.03], "slower", 0),  # above noise, below the threshold
        ([1.0, 1.1, 1.2], [1.1, 1.1, 1.2], "within noise", 0),  # 10% noise by the old repeats
        ([1.0, 1.0, 1.2], [1.1, 1.2, 1.3], "REGRESSION", 1),  # 9% noise by the new repeats
        ([1.0, 1.0, 9.0], [0.9, 0.9, 7.0], "faster", 0),  # one outlier does not count as noise
        ([1.0], [1.15], "within noise", 0),  # one repeat each: 10% noise each
        ([1.0], [1.25], "REGRESSION", 1),
        ([1.0, 1.0], [1.005, 1.005], "within noise", 0),  # at least 1% noise
    ],
)  # fmt: skip
def test_verdicts(tmp_path, capsys, old, new, verdict, code):
    found, text = compared(tmp_path, capsys, bench(cpu=old), bench(cpu=new), "--all")
    assert found == code
    (line,) = [line for line in text.splitlines() if "150 bp 2%" in line]
    assert f"  {verdict}  " in line


def test_threshold_and_noise_are_options(tmp_path, capsys):
    old, new = bench(cpu=[1.0, 1.0]), bench(cpu=[1.15, 1.15])
    assert compared(tmp_path, capsys, old, new, "--threshold", "0.2")[0] == 0
    once = bench(cpu=[1.0]), bench(cpu=[1.15])
    assert compared(tmp_path, capsys, *once, "--noise", "0.05")[0] == 1


def test_rows_are_found_again_by_their_names_not_their_places(tmp_path, capsys):
    old = bench(cpu=[1.0, 1.0], gpu=[5.0, 5.0])
    new = bench(gpu=[5.0, 5.0], cpu=[2.0, 2.0], other=[1.0])
    code, text = compared(tmp_path, capsys, old, new)
    assert code == 1 and "2.000" in text and "2 rows: 0 faster, 1 slower, 1 within noise; 1 regressions" in text
    assert "not compared, only in NEW: 150 bp 2% · edit CIGAR" in text


def test_other_work_is_not_compared(tmp_path, capsys):
    old, new = bench(cpu=[1.0], gpu=[1.0]), bench(cpu=[3.0], gpu=[1.0])
    new["rows"][0]["pairs"] = 3000
    code, text = compared(tmp_path, capsys, old, new)
    assert code == 0 and "other work: 1,000 pairs, then 3,000 pairs" in text


def test_another_machine_is_said(tmp_path, capsys):
    new = bench(cpu=[1.0])
    new["machine"] = {"cpu": "Y", "cores": 2}
    assert "note: another processor: X, then Y" in compared(tmp_path, capsys, bench(cpu=[1.0]), new)[1]


CELLS = {
    "name": "cpu-table",
    "what_is_timed": {"seconds": "all"},
    "workload": {"rows": {"200k × 150 bp 2%": {"pairs": 200_000}}},
    "cells": [
        {
            "row": "200k × 150 bp 2%",
            "task": "affine CIGAR",
            "timings": [
                {"aligner": "wfacli", "setting": "", "threads": 1, "all_seconds": [1.0, 1.0]},
                {"aligner": "wfacli", "setting": "", "threads": 2, "all_seconds": [0.6, 0.6]},
                {"aligner": "wfa2", "setting": "high", "threads": 1, "all_seconds": [2.0, 2.0]},
            ],
            "counts": {"seconds": {"submit": 1.0}},
        }
    ],
}


def test_a_peer_that_is_slower_is_no_regression(tmp_path, capsys):
    new = copy.deepcopy(CELLS)
    new["cells"][0]["timings"][2]["all_seconds"] = [3.0, 3.0]
    code, text = compared(tmp_path, capsys, CELLS, new)
    assert code == 0 and "2 rows:" in text and "peers' rows, 1: ×1.500" in text and "wfa2" not in text
    assert "wfa2 · high · threads 1" in compared(tmp_path, capsys, CELLS, new, "--peers")[1]


def test_sizes_that_stand_apart_from_their_rows_count(tmp_path, capsys):
    new = copy.deepcopy(CELLS)
    new["workload"]["rows"]["200k × 150 bp 2%"]["pairs"] = 20_000
    assert compared(tmp_path, capsys, CELLS, new)[0] == 2


@pytest.mark.parametrize(("text", "said"), [("{", "is no JSON"), ("[1]", "is no result"), ("{}", "have no row")])
def test_what_cannot_be_compared(tmp_path, capsys, text, said):
    code, shown = compared(tmp_path, capsys, text, bench(cpu=[1.0]))
    assert code == 2 and said in shown
    assert compare.main([str(tmp_path / "missing"), str(tmp_path / "new")]) == 2


KINDS = ("whole-command", "cpu-table", "gpu-table", "distance-table", "band-table", "api-rate", "extend-table",
         "local-table", "distance-scale")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_result_is_read(kind):
    newest = sorted((Path(compare.__file__).parents[1] / "results").glob(f"*-{kind}.json"))[-1]
    found = compare.measured(compare.read(newest))
    assert any(not compare.is_peer(row) for row in found) and all(found)
    assert not any("#" in row for row in found), "two rows of the same name"
    assert any(compare.is_peer(row) for row in found) == (
        kind not in ("whole-command", "band-table", "distance-scale")
    )


def test_the_worst_stands_first():
    lines = compare.table([Change("a", 1.0, 1.2, 0.01), Change("b", 1.0, 2.0, 0.01)], 0.05)
    assert [line.split()[-1] for line in lines[1:]] == ["b", "a"]
