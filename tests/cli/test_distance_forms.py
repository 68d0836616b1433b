"""Output formats of `wfacli distance --path` and `--plot`: BAM, patches, tables and figures."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pysam
import pytest

from tests.distance.solvers import edit_distance

from .support import Result, assert_failure, assert_success, fasta, run

Distance = Callable[..., Result]
PICTURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "html": b"<!DOCTYPE html>"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two sequences, and two files of lines."""
    rng = random.Random(1)
    a = rng.choices("ACGT", k=600)
    b = [rng.choice("ACGT") if rng.random() < 0.1 else symbol for symbol in a[:300] + a[320:]]
    (tmp_path / "a.fa").write_bytes(fasta(["".join(a)], "a"))
    (tmp_path / "b.fa").write_bytes(fasta(["".join(b)], "b"))
    old = [f"{rng.randrange(30)} {rng.choice('xyz')}" for _ in range(400)]
    new = [*old[:50], "new", *old[50:150], *old[160:399], "changed", "more"]
    (tmp_path / "old").write_text("\n".join(old) + "\n")
    (tmp_path / "new").write_text("\n".join(new))
    return tmp_path


@pytest.fixture
def distance(folder: Path, inside: Callable[..., Result]) -> Distance:
    """A function that runs `wfacli distance` in that folder."""
    return lambda *arguments: inside("distance", *arguments, cwd=folder)


def test_bam_says_what_sam_says(distance: Distance, folder: Path) -> None:
    for name in ("x.bam", "x.sam", "y"):
        chosen = ("--format", "bam") if name == "y" else ()
        assert_success(distance("a.fa", "b.fa", "--path", "-o", name, *chosen))
    with pysam.AlignmentFile(str(folder / "x.sam")) as file:
        (wanted,) = [record.to_string() for record in file]
    for name in ("x.bam", "y"):
        with pysam.AlignmentFile(str(folder / name), "rb", check_sq=False) as file:
            assert file.references == ("b1",) and file.header["PG"][0]["ID"] == "wfacli"
            assert [record.to_string() for record in file] == [wanted]
    to_standard_output = run("distance", "a.fa", "b.fa", "--path", "--format", "bam", cwd=folder)
    assert to_standard_output.out[:4] == b"\x1f\x8b\x08\x04" and "standard output, BAM" in to_standard_output.err
    assert not list(folder.glob("*partial*"))


def test_bam_of_more_operations_than_its_field_holds(distance: Distance, folder: Path) -> None:
    """Long CIGARs are stored in the CG tag, from which pysam restores them."""
    a = "ACGT" * 45_000
    b = "".join(symbol if i % 4 else "T" for i, symbol in enumerate(a))
    (folder / "a.fa").write_bytes(fasta([a], "a"))
    (folder / "b.fa").write_bytes(fasta([b], "b"))
    values = json.loads(distance("a.fa", "b.fa", "--path", "-o", "x.bam", "--json").text)
    assert values["distance"] == 45_000
    with pysam.AlignmentFile(str(folder / "x.bam"), "rb") as file:
        (record,) = list(file)
    assert len(record.cigartuples) == 90_000 > 65_535
    assert sum(n for operation, n in record.cigartuples if operation == 8) == record.get_tag("NM") == 45_000


def test_bam_without_pysam(distance: Distance, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysam", None)
    assert_failure(distance("a.fa", "b.fa", "--path", "-o", "x.bam"), 1, "pip install '.[bam]'")
    assert not (folder / "x.bam").exists()


def patched(old: list[str], patch: str) -> str:
    """Apply a unified diff, asserting that it fits."""
    made: list[str] = []
    at, ended, last = 0, True, " "
    lines = patch.splitlines()
    if lines:
        assert [line[:4] for line in lines[:2]] == ["--- ", "+++ "]
    for line in lines[2:]:
        if hunk := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line):
            begin, count, to, _ = map(int, hunk.groups())
            made += old[at : begin - (count > 0)]
            at = begin - (count > 0)
            assert len(made) == to - (int(hunk[4]) > 0)
        elif line.startswith("\\"):
            ended = last == "-"
        else:
            last = line[0]
            if last in " -":
                assert old[at] == line[1:]
                at += 1
            made += [line[1:]] if last in " +" else []
    made += old[at:]
    return "\n".join(made) + "\n" * ended


def test_lines_as_a_patch(distance: Distance, folder: Path) -> None:
    result = distance("old", "new", "--lines", "--path")
    assert_success(result)
    old = (folder / "old").read_text().splitlines()
    assert patched(old, result.text) == (folder / "new").read_text()
    assert result.text.count("@@ -") == 3 and "standard output, DIFF: " in result.err
    assert distance("old", "old", "--lines", "--path").out == b""
    (folder / "nothing").touch()
    for pair in (("old", "nothing"), ("nothing", "old"), ("new", "old")):
        text = distance(*pair, "--lines", "--path", "-q").text
        assert (
            patched((folder / pair[0]).read_text().splitlines(), text).strip()
            == (folder / pair[1]).read_text().strip()
        )


def test_many_different_lines(distance: Distance, folder: Path) -> None:
    rng = random.Random(2)
    for _ in range(6):
        old = [str(rng.randrange(900)) for _ in range(rng.randrange(1500))]
        new = [line for line in old if rng.random() > 0.02]
        new = [line if rng.random() > 0.02 else rng.choice(["", "put in"]) for line in new]
        (folder / "old").write_text("".join(line + "\n" for line in old))
        (folder / "new").write_text("".join(line + "\n" for line in new))
        assert_success(distance("old", "new", "--lines", "--path", "-o", "x.patch", "--json"))
        assert patched(old, (folder / "x.patch").read_text()).splitlines() == new


def test_tables(distance: Distance, folder: Path) -> None:
    (folder / "a").write_bytes(b"Was sich liebt,\r\n das neckt sich.\x00\xff")
    (folder / "b").write_bytes(b"was sich neckt,\n das liebt sich.\x00\xfe\n")
    for a, b, unit in (("a", "b", "--text"), ("old", "new", "--lines")):
        values = json.loads(distance(a, b, unit, "--path", "-o", "x.tsv", "--json").text)
        one, other = [(folder / name).read_bytes() for name in (a, b)]
        x, y = (one, other) if unit == "--text" else (one.splitlines(), other.splitlines())
        assert values["distance"] == edit_distance(x, y)
        titles, *rows = [line.split("\t") for line in (folder / "x.tsv").read_text().splitlines()]
        assert titles == ["operation", "a_start", "a_end", "b_start", "b_end"]
        cost, at = 0, (0, 0)
        for operation, *places in rows:
            i, to_i, j, to_j = map(int, places)
            assert (i, j) == at and max(to_i - i, to_j - j) > 0
            assert (x[i:to_i] == y[j:to_j]) == (operation == "equal")
            lengths = {"equal": to_j - j, "replace": to_j - j, "delete": 0, "insert": to_i - i + to_j - j}
            assert to_j - j == lengths[operation]
            assert (operation == "delete") == (to_j == j and to_i > i)
            cost += max(to_i - i, to_j - j) if operation != "equal" else 0
            at = to_i, to_j
        assert at == (len(x), len(y)) and cost == values["distance"]
        alignment = values["alignment"]
        inserted = sum(int(row[4]) - int(row[3]) for row in rows if row[0] == "insert")
        assert (alignment["format"], alignment["inserted"]) == ("tsv", inserted)


def test_more_than_matters(distance: Distance, folder: Path) -> None:
    result = distance("old", "new", "--lines", "--path", "--max-distance", "2", "-o", "x.diff", "--plot", "x.html")
    assert_success(result)
    assert "more than 2" in result.text and (folder / "x.diff").read_bytes() == b""
    assert (folder / "x.html").exists()


@pytest.mark.parametrize("format_", PICTURES)
def test_pictures(distance: Distance, folder: Path, format_: str) -> None:
    name = f"x.{format_}"
    values = json.loads(distance("a.fa", "b.fa", "--plot", name, "--json").text)
    assert (values["alignment"]["format"], values["alignment"]["plot"]) == (None, name)
    assert (folder / name).read_bytes().startswith(PICTURES[format_])
    assert not list(folder.glob("*partial*"))


def test_a_picture_shows_the_path(distance: Distance, folder: Path) -> None:
    """The page equals that of `wfacli dotplot` with the same alignment."""
    words = distance("a.fa", "b.fa", "--path", "-o", "x.sam", "--plot", "x.html").text
    assert "alignment  x.sam, SAM, x.html: " in words
    assert_success(distance("a.fa", "b.fa", "--plot", "y.html"))
    assert (folder / "x.html").read_bytes() == (folder / "y.html").read_bytes()
    shown = (folder / "x.html").read_text()
    assert "identity" in shown
    for unit in ("--lines", "--text"):
        assert_success(distance("old", "new", unit, "--plot", "z.html"))
        assert "identity" in (folder / "z.html").read_text()


def test_nothing_is_left_of_a_picture_that_failed(
    distance: Distance, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("wfacli.solve.distance.deliver.picture_of", fail)
    assert distance("a.fa", "b.fa", "--plot", "x.html", "-o", "x").code == 1
    assert not list(folder.glob("x*"))
