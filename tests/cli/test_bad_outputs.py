"""Output that cannot be written, or that must not be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PAIRS
from .support import Result, assert_failure, random_pairs, run, seq

Align = Callable[..., Result]
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@pytest.mark.parametrize(
    "path",
    ["no folder/x.sam", "t.fa/x.sam", "/proc/x.sam", "."],
    ids=["no folder", "below a file", "not writable", "directory"],
)
@pytest.mark.parametrize("option", ["-o", "--stats"])
def test_place_that_cannot_be_written(align: Align, folder: Path, option: str, path: str) -> None:
    if path == "/proc/x.sam" and not Path("/proc").is_dir():
        pytest.skip("this system has no /proc")
    before = (folder / "t.fa").read_bytes()
    result = align("q.fa", "t.fa", option, path)
    assert_failure(result, 1, path)
    assert not result.out  # before any alignment
    assert (folder / "t.fa").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop the superuser")
def test_folder_without_permission(align: Align, folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o500)
    assert_failure(align("q.fa", "t.fa", "-o", "closed/x.sam"), 1, "closed/x.sam", "ermission")


@pytest.mark.parametrize(
    ("option", "way"),
    [
        ("-o", "query"),
        ("-o", "target"),
        ("-o", "hard link"),
        ("-o", "symbolic link"),
        ("-o", "another spelling"),
        ("--stats", "query"),
        ("--stats", "symbolic link"),
    ],
)
def test_output_is_an_input(align: Align, folder: Path, option: str, way: str) -> None:
    (folder / "hard.fa").hardlink_to(folder / "t.fa")
    (folder / "soft.fa").symlink_to("t.fa")
    path = {
        "query": "q.fa",
        "target": "t.fa",
        "hard link": "hard.fa",
        "symbolic link": "soft.fa",
        "another spelling": f"../{folder.name}/t.fa",
    }[way]
    before = (folder / path).read_bytes()
    result = align("q.fa", "t.fa", option, path)
    assert (folder / path).read_bytes() == before
    assert_failure(result, 2, path, "input")


def test_statistics_over_the_output(align: Align, folder: Path) -> None:
    assert_failure(align("q.fa", "t.fa", "-o", "x.sam", "--stats", "x.sam"), 2, "x.sam")


def test_statistics_into_the_output(align: Align) -> None:
    # JSON after the last record would corrupt both.
    result = align("q.fa", "t.fa", "--stats", "-")
    assert_failure(result, 2, "--stats")


@pytest.mark.parametrize(
    ("line", "report"),
    [
        ("align q.fa t.fa --stats", "/dev/stdout"),
        ("align q.fa t.fa --stats", "out"),
        ("align q.fa t.fa -o /dev/stdout --stats", "out"),
        ("distance one.fa one.fa --stats", "out"),
        ("simulate -n 1 --truth", "out"),
    ],
)
def test_two_results_do_not_go_to_where_the_shell_sends_standard_output(folder: Path, line: str, report: str) -> None:
    """The second output would overwrite the first."""
    (folder / "one.fa").write_text(">a\nACGT\n")
    with (folder / "out").open("wb") as out:
        result = run(*line.split(), report, cwd=folder, stdout=out)
    assert_failure(result, 2, "both")
    assert (folder / "out").read_bytes() == b""
    if line.startswith("align") and "-o" not in line:
        with (folder / "out").open("wb") as out:
            assert run(*line.split(), "s.json", cwd=folder, stdout=out).code == 0
        assert (folder / "out").read_bytes().startswith(b"@HD")


@full_disk
def test_full_disk_named(align: Align) -> None:
    assert_failure(align("q.fa", "t.fa", "-o", "/dev/full"), 1, "/dev/full", "No space left")


@full_disk
@pytest.mark.parametrize("count", [0, 5, 20_000])
def test_full_disk_on_standard_output(align: Align, folder: Path, count: int) -> None:
    (folder / "pairs.seq").write_bytes(seq(random_pairs(count)))
    with Path("/dev/full").open("wb") as full:
        assert_failure(align("pairs.seq", stdout=full), 1, "standard output", "No space left")


@full_disk
def test_full_disk_for_statistics(align: Align) -> None:
    result = align("q.fa", "t.fa", "--stats", "/dev/full")
    assert_failure(result, 1, "/dev/full", "No space left")
    assert len(result.rows) == len(PAIRS)


@full_disk
def test_full_disk_for_help(align: Align) -> None:
    with Path("/dev/full").open("wb") as full:
        assert_failure(align("--help", stdout=full), 1, "No space left")


def test_statistics_of_a_run_that_failed(align: Align, folder: Path) -> None:
    (folder / "q.fa").write_bytes((folder / "q.fa").read_bytes() + b">one more\nACGT\n")
    assert_failure(align("q.fa", "t.fa", "--stats", "s.json"), 1, "QUERY holds 6 ")
    report = json.loads((folder / "s.json").read_text())
    assert report["complete"] is False
    assert report["pairs"] == len(PAIRS)


def test_a_name_of_a_picture_is_refused_unless_the_format_is_given(align: Align, folder: Path) -> None:
    said = "out.svg is the name of a picture, and -o gets alignments: wfacli dotplot --alignments FILE draws them"
    assert_failure(align("q.fa", "t.fa", "-o", "out.svg"), 2, said)
    assert not (folder / "out.svg").exists()
    assert align("q.fa", "t.fa", "-o", "out.svg", "--format", "paf").code == 0
