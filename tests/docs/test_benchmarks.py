"""docs/benchmarks.md shows the newest results of each kind, including rows where peers are faster."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from bench.pages import batches, page
from bench.pages import text as words

from .pages import DOCS, ROOT


def result(folder, date, name, rows, cores=2):
    report = {"name": name, "date": date, "commit": "abc", "machine": {"cpu": "CPU", "cores": cores},
              "what_is_timed": {"ours": "all of it"}, "rows": rows}  # fmt: skip
    path = folder / f"{date}-{cores}core-abc-{name}.json"
    path.write_text(json.dumps(report))
    return path


def extend_row(ratio, of="proteins"):
    return {
        "set": of,
        "pairs": 7,
        "mode": "local",
        "cigars": False,
        "ours": {"gcups": 5.0},
        "best": "sw",
        "ratio": ratio,
    }


def test_the_page_is_what_the_results_say():
    shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("which of a day's results is newest is in the history, which is not here")
    assert (DOCS / "benchmarks.md").read_text() == page.page(), "make docs, or python -m bench.pages.page, and commit"


def test_rows_that_a_peer_wins_are_named(tmp_path):
    result(tmp_path, "2026-01-02", "extend-table", [extend_row(0.5, "short"), extend_row(2.0, "long")])
    text = page.page(tmp_path)
    assert "**A peer is faster in 1 of 2 rows with an exact peer:**" in text
    assert "- short, local, score: the time of parasail (sw) is 0.500 of wfacli's." in text
    assert "- long" not in text
    result(tmp_path, "2026-01-03", "extend-table", [extend_row(1.5)])
    assert "No peer is faster in any row (1 row with an exact peer)." in page.page(tmp_path)


def test_those_that_were_not_run_are_named_once_by_reason():
    reasons = {"wfa-gpu 5 batches": "no time left", "wfa-gpu 20 batches": "no time left", "ewfa-gpu": "over 63 edits"}
    own = {"aligner": "wfacli", "setting": "", "threads": 1, "best_seconds": 0.5, "wrong_pairs": 0}
    cell = {"row": "few", "task": "edit CIGAR", "timings": [own], "not_run": reasons}
    _, row = batches.cells({"cells": [cell]})
    assert row[3] == "none (WFA-GPU: no time left; eWFA-GPU: over 63 edits)"


def test_the_newest_whole_result_is_taken(tmp_path):
    old = result(tmp_path, "2026-01-02", "extend-table", [extend_row(2.0)])
    new = result(tmp_path, "2026-01-03", "extend-table", [extend_row(3.0)])
    part = result(tmp_path, "2026-01-03", "extend-table-part", [extend_row(4.0)])
    assert page.newest(tmp_path) == {"extend-table": [new, part, old]}
    text = page.page(tmp_path)
    assert "| 3.00 |" in text and "| 4.00 |" not in text
    assert "CPU, 2 cores, 2026-01-03, commit `abc`" in text
    assert f"Older: [{part.name}]" in text


def test_another_machines_newest_table_stays(tmp_path):
    result(tmp_path, "2026-01-01", "extend-table", [extend_row(6.0)], cores=16)
    result(tmp_path, "2026-01-02", "extend-table", [extend_row(3.0)], cores=16)
    result(tmp_path, "2026-01-03", "extend-table-part", [extend_row(4.0)], cores=32)
    result(tmp_path, "2026-01-04", "extend-table", [extend_row(2.0)])
    newest, other = page.page(tmp_path).split("### On another machine")
    assert "CPU, 2 cores" in newest and "| 2.00 |" in newest and "16 cores" not in newest
    assert "CPU, 16 cores, 2026-01-02" in other and "| 3.00 |" in other and "| 6.00 |" not in other
    assert "| 4.00 |" not in other and "Older:" in other


def test_parts_measured_since_stand_below_the_whole_table(tmp_path):
    result(tmp_path, "2026-01-02", "extend-table", [extend_row(2.0)])
    part = result(tmp_path, "2026-01-03", "extend-table-part", [extend_row(0.25, "since")])
    whole, since = page.page(tmp_path).split("### Later partial runs")
    assert "| 2.00 |" in whole and "| 0.250 |" not in whole
    assert "| 0.250 |" in since and part.name in since and "- since, local, score: the time of parasail (sw)" in since


def test_parts_of_another_machine_are_told_apart_from_what_was_measured_again(tmp_path):
    result(tmp_path, "2026-01-02", "extend-table", [extend_row(2.0)], cores=16)
    result(tmp_path, "2026-01-03", "extend-table-part", [extend_row(3.0)], cores=16)
    result(tmp_path, "2026-01-04", "extend-table-part", [extend_row(4.0)])
    again, other = page.page(tmp_path).split("### Partial runs on other machines")
    assert "### Later partial runs" in again and "| 3.00 |" in again and "| 4.00 |" not in again
    assert "| 4.00 |" in other and "| 3.00 |" not in other


def test_kinds_without_a_table_are_named(tmp_path):
    path = result(tmp_path, "2026-01-02", "something-new", [])
    assert f"- something-new: no table yet, [{path.name}](../bench/results/{path.name})" in page.page(tmp_path)


def test_definitions_are_given_once_and_in_the_present_words(tmp_path):
    old, new = next(iter(words._rewritten().items()))
    for day, what in (("01", old), ("02", old), ("03", "another one")):
        path = result(tmp_path, f"2026-01-{day}", "extend-table" + "-part" * (day != "01"), [extend_row(2.0)])
        report = json.loads(path.read_text())
        path.write_text(json.dumps(report | {"what_is_timed": {"seconds": what, "ours": "same"}}))
    section = page.page(tmp_path)
    assert section.count(f"- *seconds* (2026-01-01, 2026-01-02): {words.text(new)}\n") == 1
    assert section.count("- *seconds* (2026-01-03): another one\n") == 1
    assert section.count("- *ours*: same\n") == 1


def test_rewritten_notes_are_those_of_results():
    notes = "".join(path.read_text() for path in page.RESULTS.glob("*.json"))
    assert [old for old in words._rewritten() if json.dumps(old)[1:-1] not in notes and old not in notes] == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.000995, "0.000995"),
        (0.0219, "0.0219"),
        (1.0, "1.00"),
        (9.999, "10.00"),
        (15.73, "15.7"),
        (2488613.4, "2,488,613"),
    ],
)
def test_numbers_have_three_digits(value, shown):
    assert page.number(value) == shown


def test_what_scores_alone_take_is_what_the_newest_whole_table_says():
    (said,) = re.findall(
        r"`--score-only` .*? takes between ([\d.]+) of the time", (DOCS / "performance.md").read_text()
    )
    path = next(path for path in page.newest()["cpu-table"] if not path.stem.endswith("-part"))
    took = {}
    for cell in json.loads(path.read_text())["cells"]:
        ours = [t for t in cell["timings"] if t["aligner"] == "wfacli" and t["threads"] == 1]
        took[cell["row"], cell["task"]] = ours[0]["best_seconds"]
    shares = [took[row, f"{task.split()[0]} score"] / took[row, task] for row, task in took if task.endswith("CIGAR")]
    assert float(said) == round(min(shares), 2) and 0.9 < max(shares) < 1.1
