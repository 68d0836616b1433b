"""docs/papers.md has the papers' tables with the current results, and lists missing ones."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import pytest

from bench.pages import papers_page
from bench.papers import draw, ewfa, levenshtein
from bench.papers.found import MISSING, Results
from bench.papers.layout import Figure

from .pages import ROOT


def written(folder, name, commit, **more):
    report = {
        "name": name,
        "date": "2026-01-02",
        "commit": commit,
        "gpu": "NVIDIA X",
        "machine": {"cpu": "CPU"},
        **more,
    }
    (folder / f"2026-01-02-{commit}-{name}.json").write_text(json.dumps(report))


def batch(row, seconds, pairs, aligner="wfacli", task="edit CIGAR"):
    timing = {"aligner": aligner, "setting": "", "best_seconds": seconds, "equal_share": 1.0}
    cell = {
        "row": row,
        "task": task,
        "timings": [timing],
        "not_run": {},
        "counts": {"seconds": {"gpu copy": 0.5, "gpu bits-64": 0.25}},
    }
    return {"cells": [cell], "workload": {"rows": {row: {"pairs": pairs}}}}


def test_the_page_and_its_plots_are_what_the_results_say():
    shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("which of a day's results is newest is in the history, which is not here")
    assert papers_page.stale(papers_page.papers()) == [], "make docs, or python -m bench.pages.papers_page, and commit"


def test_all_tables_and_figures_are_there_and_say_what_is_missing(tmp_path):
    found = papers_page.papers(tmp_path)
    titles = [f"{paper.name} {part.title.split(':')[0]}" for paper in found for part in paper.parts]
    assert titles == [
        *(f"eWFA-GPU {part}" for part in ("Table 1", "Table 3", "Table 4", "Figure 5")),
        *(f"WFA-GPU {part}" for part in ("Table 1", "Figure 3")),
        *(f"Long strings {part}" for part in ("Table 2", "Table 3", "Table 4", "Figure 13")),
        *(f"SALoBa {part}" for part in ("Figure 6", "Figure 7", "Figure 8")),
        *(f"StripedScore {part}" for part in ("Figure 5", "Figure 6")),
    ]
    for paper in found:
        for part in paper.parts:
            assert MISSING in part.text(), part.title
            assert len({len(row) for row in part.rows}) == 1, part.title
            assert "no file has any of it yet" in part.text()


def test_a_cell_is_of_the_newest_file_that_has_it_and_at_the_papers_number_of_pairs(tmp_path):
    written(tmp_path, "gpu-table", "aaa", **batch("300 k × 1 kb 2%", 0.9, 1000))
    written(tmp_path, "gpu-table", "bbb", **batch("300 k × 1 kb 2%", 0.25, 500_000))
    written(tmp_path, "gpu-table", "ccc", **batch("300 k × 1 kb 2%", 0.5, 500_000, "ewfa-gpu"))
    part = ewfa.times(Results(tmp_path))
    ours, peer = part.rows[2], part.rows[3]
    assert ours[:2] == ["wfacli (here)", "alignment"] and ours[8] == "5,000"
    assert peer[0] == "eWFA-GPU (here)" and peer[8] == "10,000"
    assert [source.split("]")[0] for source in part.sources] == [
        "[2026-01-02-bbb-gpu-table.json",
        "[2026-01-02-ccc-gpu-table.json",
    ]
    assert ewfa.breakdown(Results(tmp_path)).rows[1] == ["20", "1,000", "500", "500", "3.00"]


def test_the_better_algorithm_on_a_gpu_is_taken(tmp_path):
    row = {"name": "random 1 Mb", "query_len": 1000, "target_len": 2000, "distance": 500,
           "measured": {"gpu-bits": {"best_seconds": 0.5}, "gpu-wavefront": {"best_seconds": 0.25},
                        "cpu-bits": {"best_seconds": 0.1}}}  # fmt: skip
    written(tmp_path, "distance-table", "aaa", rows=[row])
    run = levenshtein.run_of(Results(tmp_path), "random 1 Mb")
    assert (run.algorithm, run.gcups, run.identity) == ("gpu-wavefront", 0.008, 0.75)


@pytest.mark.parametrize("pair", [*levenshtein.TABLE_2, *levenshtein.TABLE_3], ids=lambda pair: pair.name)
def test_the_papers_numbers_agree_with_each_other(pair):
    low, high = (100.22, 191.11) if pair in levenshtein.TABLE_2 else (202.5, 161_216.91)
    assert 0.94 * low < pair.gcups < 1.06 * high
    assert 0 < pair.identity < 1


def test_a_plot_is_drawn_anew_when_its_numbers_change(tmp_path):
    pytest.importorskip("matplotlib")
    figure = Figure("some", "title", "x", "y", {"a": [(1, 2.0), (10, 3.0)]}, "xy")
    bars = Figure("bars", "title", "x", "y", {"a": [("one", 2.0)], "b": [("two", 3.0)]})
    path = draw.draw(figure, tmp_path)
    first = path.read_text()
    assert draw.digest_of(path) == figure.digest and draw.draw(figure, tmp_path).read_text() == first
    other = dataclasses.replace(figure, series={"a": [(1, 2.5), (10, 3.0)]})
    assert draw.draw(other, tmp_path).read_text() != first and draw.digest_of(path) == other.digest
    assert draw.digest_of(draw.draw(bars, tmp_path)) == bars.digest
