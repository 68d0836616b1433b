"""`wfacli bench`: its table, files and rejected options; on the CPU, and on an emulated GPU."""

import json
import sys

import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from wfacli import cli
from wfacli.cli import bench_table
from wfacli.engines import choice
from wfacli.measure import limits

from .support import Result, run

TITLES = "pairs task engine pairs/s GCUPS best median max of limit"
SMALL = "bench -l 60,90 -e 0.05 -n 200 --repeats 1 --engine cpu"


def ran(folder, options: str) -> Result:
    return run(*options.split(), cwd=folder)


def test_a_table_and_files(tmp_path):
    result = ran(tmp_path, f"{SMALL} -t 1,2 --stats b.json --plot b.html")
    assert result.code == 0 and result.err == ""
    title, head, *lines = result.text.splitlines()
    assert "wfacli" in title and head.split() == TITLES.split()
    assert len([line for line in lines if "cpu × " in line]) == 2 * 4 * 2
    assert "\x1b" not in result.text
    found = json.loads((tmp_path / "b.json").read_text())
    assert len(found["rows"]) == 16 and found["machine"]["cores"] >= 1
    assert (tmp_path / "b.html").read_text().startswith("<!DOCTYPE html>")


def test_lists_that_are_given_again_add_up(tmp_path):
    options = "-l 60 -l 90,60 -e 0.02 -e 0.05 -t 1 -t 2,1 -n 20 --repeats 1 --engine cpu --metric edit --task score"
    result = ran(tmp_path, f"bench {options} --stats -")
    assert result.code == 0
    found = [(row["length"], row["error"], row["threads"]) for row in json.loads(result.text)["rows"]]
    assert sorted(found) == [(n, e, t) for n in (60, 90) for e in (0.02, 0.05) for t in (1, 2)]


def test_a_time_that_ends_before_anything_is_measured_is_an_error(tmp_path):
    result = ran(tmp_path, f"{SMALL} -t 1 --minutes 0 --stats b.json")
    assert result.code == 2 and "--minutes ended before anything was measured" in result.err
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("width", [60, 80, 100, 130])
def test_a_terminal_shows_whole_columns(monkeypatch, capsys, width):
    row = {"row": "10 kb 10%", "pairs": 1000, "task": "affine CIGAR", "engine": "cpu", "threads": 2, "heuristic": ""}
    times = {"best_seconds": 0.123, "median_seconds": 0.234, "worst_seconds": 0.345, "pairs_per_second": 5_000_000.0}
    rest = {"gcups": 1234.5, "limit_share": 0.123, "limit": "memory", "joules": None, "recall": None}
    found = {"rows": [row | times | rest], "machine": {"cpu": "CPU", "cores": 2, "instruction_set": "x"},
             "versions": {"wfacli": "1"}, "commit": "unknown", "date": "today", "left_out": {}, "engines": {},
             "limits": {"memory_bytes_per_second": {"1": 1e9}, "bus_bytes_per_second": None}}  # fmt: skip
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    bench_table.print_report(found)
    said = capsys.readouterr().out
    assert "…" not in said and "5,000,000" in said and "1 k × 10 kb 10%" in said
    missing = [name for name in ("max", "GCUPS", "median", "of limit", "best") if name not in said.split("no room")[0]]
    assert (bool(missing) == (width < 130) and f"no space for {', '.join(missing)}:" in said) or not missing


def test_pictures_by_matplotlib(tmp_path):
    pytest.importorskip("matplotlib")
    assert ran(tmp_path, f"{SMALL} --task score --metric edit --plot b.svg").code == 0
    assert "edit score" in (tmp_path / "b.svg").read_text()


def test_a_heuristic_has_its_recall_beside_it(tmp_path):
    result = ran(tmp_path, f"{SMALL} --metric affine --task cigar --band 2 --stats -")
    assert result.code == 0
    rows = json.loads(result.text)["rows"]
    assert [row["heuristic"] for row in rows[:2]] == ["", "band 2"]
    assert rows[0]["recall"] is None and 0 <= rows[1]["recall"] <= 1


def test_an_emulated_gpu(tmp_path, monkeypatch, capsys):
    drivers = []

    def opened(index, compiler):
        drivers.append(EmulatedDriver())
        return drivers[-1]

    monkeypatch.setattr(choice, "open_driver", opened)
    monkeypatch.setattr(limits, "open_driver", opened)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.chdir(tmp_path)
    words = "bench -l 60 -e 0.05 -n 30 --repeats 1 --engine auto -t 1 --metric edit --task cigar"
    monkeypatch.setattr("wfacli.cli.bench.may_have_gpu", lambda: True)
    monkeypatch.setattr(sys, "argv", ["wfacli", *words.split(), "--stats", "g.json"])
    with pytest.raises(SystemExit) as end:
        cli.entry()
    assert not end.value.code
    found = json.loads((tmp_path / "g.json").read_text())
    assert [(row["engine"], row["heuristic"]) for row in found["rows"]] == [
        ("cpu", ""),
        ("gpu", ""),
    ]
    assert found["rows"][1]["limit"] == "bus" and found["limits"]["bus_bytes_per_second"] > 0
    assert all(kernel.startswith("gpu-") for kernel in found["rows"][1]["pairs_by_kernel"])
    assert "nvidia-ml-py" in found["left_out"]["joules"]
    assert "nvidia-ml-py" in capsys.readouterr().out
    assert all(driver._closed for driver in drivers) and [leaks(driver) for driver in drivers] == [{}] * len(drivers)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-l 0", "--length is 1 to"),
        ("-l many", "--length expects a number"),
        ("-e 2", "--error is edits per base, 0 to 0.9"),
        ("-e x", "--error is edits per base, 0 to 0.9"),
        ("-n 0", "--pairs is 0"),
        ("-t 0", "--threads expects numbers like 1,8"),
        ("--penalties 4,6,2", "--penalties require one --metric"),
        ("--xdrop 5", "requires a match score"),
        ("--plot b.jpg", "a picture ends in"),
        ("--engine gpu", ""),
    ],
)
def test_what_makes_no_sense(tmp_path, options, said):
    result = ran(tmp_path, f"bench {options} -q")
    assert result.code in (1, 2) and said in result.err and result.out == b""
    assert len(result.err.splitlines()) == 1 and not list(tmp_path.iterdir())
