"""bench/harness: the loop over rows that all tables share, and how their results are written."""

import json
import math
from argparse import Namespace
from pathlib import Path

import pytest
from rich.console import Console

from bench.harness import saving, table
from wfacli.errors import DeviceError

RESULTS = Path(saving.__file__).parents[1] / "results"


@pytest.fixture(autouse=True)
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    monkeypatch.setattr(saving, "_own", {})
    return tmp_path


def runner(part=False, **options):
    return table.Runner("x-table", {"seconds": "all"}, Namespace(minutes=None, **options), Console(), part)


def measured(one, names="abc", row_of=lambda name: {"name": name}, **more):
    one.measure(names, row_of, **more)
    return json.loads(one.path.read_text()) if one.path else None


def test_rows_are_saved_one_by_one_and_all_of_them_are_the_table(results):
    one, seen = runner(), []

    def row_of(name):
        seen.append([path.name.partition("-x-")[2] for path in results.iterdir()])
        return {"name": name}

    report = measured(one, row_of=row_of, result_of=lambda: {"gpu": "none"})
    assert seen == [[], ["table-part.json"], ["table-part.json"]]
    assert [path.name for path in results.iterdir()] == [one.path.name] and one.path.name.endswith("-x-table.json")
    assert report["rows"] == [{"name": name} for name in "abc"] and report["gpu"] == "none"


@pytest.mark.parametrize("options", [{"share": 0.1}, {"rows": ["a"]}, {"part": True}])
def test_a_table_of_fewer_pairs_does_not_pass_for_the_whole(options):
    one = runner(**options)
    measured(one)
    assert one.path.name.endswith("-x-table-part.json")


def test_nothing_begins_after_the_time(capsys, results):
    one = runner()

    def row_of(name):
        one.end = -math.inf
        return {"name": name}

    report = measured(one, row_of=row_of)
    assert [row["name"] for row in report["rows"]] == ["a"] and one.left_out == dict.fromkeys("bc", table.NO_TIME)
    assert one.path.name.endswith("-part.json") and "no time left for 2 rows" in capsys.readouterr().err


def test_a_row_without_its_files_is_left_out_and_named(capsys):
    one = runner()

    def row_of(name):
        if name == "b":
            raise FileNotFoundError("no such set")
        if name == "c":
            raise table.LeftOut("only on a GPU")
        return {"name": name}

    more = {"result_of": lambda: {"left_out": one.left_out}, "shown": lambda *_: "a line", "optional": True}
    report = measured(one, row_of=row_of, **more)
    assert report["left_out"] == {"b": "no such set", "c": "only on a GPU"}
    assert "b is not in the table: no such set" in capsys.readouterr().out
    assert one.path.name.endswith("-x-table.json")


@pytest.mark.parametrize("error", [FileNotFoundError, DeviceError])
def test_a_row_that_cannot_be_measured_ends_a_table_that_does_not_name_it(error):
    one = runner()

    def row_of(name):
        if name == "b":
            raise error("why")
        return {"name": name}

    with pytest.raises(SystemExit, match=r"^b: why$"):
        measured(one, row_of=row_of)
    assert one.path.name.endswith("-x-table-part.json")


def test_a_script_with_save_writes_only_when_asked(results):
    assert measured(runner(save=False)) is None and not list(results.iterdir())
    assert measured(runner(save=True))


def test_options_have_their_own_defaults():
    parser = table.options("What it does.", "rows", "save", repeats=5, minutes=9.0)
    assert vars(parser.parse_args([])) == {"rows": None, "save": False, "repeats": 5, "minutes": 9.0}
    a = parser.parse_args(["--rows", "kb", "hifi"])
    assert table.chosen(["1 kb", "hifi", "ont"], a) == ["1 kb", "hifi"]


def test_a_result_has_a_row_a_line():
    row = {"name": "a", "seconds": [0.1, 0.25], "peers": {"edlib": {"n": 1}}}
    report = {
        "name": "x",
        "rules": {"text": 40 * "long "},
        "workload": {"rows": {"a": row, "b": row}},
        "cells": [row] * 3,
    }
    text = saving.text_of(report)
    assert json.loads(text) == report and list(json.loads(text)) == list(report)
    assert sum(json.dumps(row) in line for line in text.splitlines()) == 5


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_results_are_laid_out_alike(path):
    text = path.read_text()
    assert saving.text_of(json.loads(text)) == text
