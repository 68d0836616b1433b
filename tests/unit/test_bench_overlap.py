"""bench/tables/overlap_table.py: which pairs it makes, what it compares, and what it writes."""

import json
from types import SimpleNamespace

import pytest

import wfacli
from bench.harness import saving
from bench.pages import batches
from bench.tables import overlap_table

ROWS = ["--rows", "150 by 50%, 5%", "--bases", "1500", "--repeats", "2"]


@pytest.fixture(autouse=True)
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    return tmp_path


def peer(monkeypatch, more=0):
    """Replace parasail by a peer that returns wfacli's scores, plus `more`."""

    def align(query, target, opening, extension, matrix):
        assert (opening, extension, matrix) == (8, 2, ("ACGT", 2, -4))
        return SimpleNamespace(score=more + wfacli.align(query, target, mode="overlap", match=2).score)

    names = {name for task in overlap_table.PEERS.values() for name in task}
    own = {"matrix_create": lambda *words: words}
    monkeypatch.setattr(overlap_table, "parasail", SimpleNamespace(**own, **dict.fromkeys(names, align)))


def test_a_query_ends_with_what_its_target_begins_with():
    queries, targets = overlap_table.pairs_of_row(100, 0.3, 0.0, 700)
    assert len(queries) == len(targets) == 7
    assert all(len(t) == 100 and q[-30:] == t[:30] for q, t in zip(queries, targets, strict=True))
    found = wfacli.align_pairs(*overlap_table.pairs_of_row(1000, 0.5, 0.05, 4000), mode="overlap", match=2)
    assert all(a.span[0] > 450 and a.span[3] < 550 and a.edits <= 25 for a in found)


def test_a_table_beside_parasail(monkeypatch, results, capsys):
    peer(monkeypatch)
    overlap_table.main([*ROWS, "--save"])
    (path,) = results.glob("*-overlap-table-part.json")
    report = json.loads(path.read_text())
    assert [(r["task"], r["pairs"], r["equal"]) for r in report["rows"]] == [("CIGAR", 10, True), ("score", 10, True)]
    head, *rows = batches.overlaps(report)
    assert len(rows) == 2 and all(len(row) == len(head) for row in rows)
    assert rows[0][:4] == ["150", "50%", "5%", "CIGAR"]
    (what, aligner, _), _ = batches.overlap_wins(report)
    assert what == "150, 50%, 5%, CIGAR" and aligner in (
        "parasail (sg_trace_striped_16)",
        "parasail (sg_trace_scan_16)",
    )
    assert "us a pair" in capsys.readouterr().out


def test_scores_that_differ_end_it(monkeypatch):
    peer(monkeypatch, 1)
    with pytest.raises(SystemExit, match=r"differ from parasail's"):
        overlap_table.main(ROWS)


def test_without_parasail_ours_stand_alone(monkeypatch, results):
    monkeypatch.setattr(overlap_table, "parasail", None)
    overlap_table.main([*ROWS, "--save"])
    report = json.loads(next(results.glob("*-overlap-table-part.json")).read_text())
    assert [row[-2] for row in batches.overlaps(report)[1:]] == ["–", "–"] and not list(batches.overlap_wins(report))
