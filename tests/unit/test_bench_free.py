"""bench/tables/free_table.py: which pairs it makes, what it compares, and what it writes."""

import json
from types import SimpleNamespace

import pytest

import wfacli
from bench.harness import saving
from bench.pages import batches
from bench.tables import free_table

ROWS = ["--rows", "150 in 300, 5%", "--bases", "3000", "--repeats", "2"]


@pytest.fixture(autouse=True)
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    return tmp_path


def peer(monkeypatch, more=0):
    """Replace edlib by a peer that returns wfacli's distances, plus `more` edits."""

    def align(query, target, mode, task):
        assert mode == "HW" and task in ("path", "distance")
        return {"editDistance": more - wfacli.align(query, target, mode="semiglobal", metric="edit").score}

    monkeypatch.setattr(free_table, "edlib", SimpleNamespace(align=align))


def test_queries_are_parts_of_their_targets():
    queries, targets = free_table.pairs_of_row(100, 700, 0.0, 7000)
    assert len(queries) == len(targets) == 10
    assert all(len(target) == 700 and query in target for query, target in zip(queries, targets, strict=True))
    queries, targets = free_table.pairs_of_row(100, 700, 0.1, 7000)
    costs = [-found.score for found in wfacli.align_pairs(queries, targets, mode="semiglobal", metric="edit")]
    assert max(costs) <= 10 and sum(costs) > 50


def test_a_table_beside_edlib(monkeypatch, results, capsys):
    peer(monkeypatch)
    free_table.main([*ROWS, "--save"])
    (path,) = results.glob("*-free-table-part.json")
    report = json.loads(path.read_text())
    assert [(row["task"], row["pairs"], row["equal"]) for row in report["rows"]] == [
        ("CIGAR", 10, True),
        ("score", 10, True),
    ]
    head, *rows = batches.free(report)
    assert (
        len(rows) == 2 and all(len(row) == len(head) for row in rows) and rows[0][:3] == ["150 in 300", "5%", "CIGAR"]
    )
    assert [(what, aligner) for what, aligner, _ in batches.free_wins(report)] == [
        ("150 in 300, 5%, CIGAR", "edlib"), ("150 in 300, 5%, score", "edlib")
    ]  # fmt: skip
    assert "us a pair" in capsys.readouterr().out


def test_distances_that_differ_end_it(monkeypatch):
    peer(monkeypatch, 1)
    with pytest.raises(SystemExit, match=r"differ from edlib's"):
        free_table.main(ROWS)


def test_without_edlib_ours_stand_alone(monkeypatch, results):
    monkeypatch.setattr(free_table, "edlib", None)
    free_table.main([*ROWS, "--save"])
    report = json.loads(next(results.glob("*-free-table-part.json")).read_text())
    assert [row[-2] for row in batches.free(report)[1:]] == ["–", "–"] and not list(batches.free_wins(report))
