"""A reference whose windows are read where its index says that they are: the same records, and an index that lies."""

from __future__ import annotations

import os
from pathlib import Path

import pysam
import pytest

from tests.cli.support import assert_failure, assert_success, run
from tests.mapped.world import random_world
from wfacli.io.mapped import read_reference
from wfacli.io.sources import Source

SEQUENCES = {"one": "ACGTTGCAAC" * 9 + "ACG", "two": "GATTACA", "three": "TTGACC" * 20}


def write(folder: Path, width: int = 20, end: str = "\n", last: str = "\n") -> Path:
    path = folder / "ref.fa"
    records = []
    for name, letters in SEQUENCES.items():
        lines = [letters[i : i + width] for i in range(0, len(letters), width)]
        records.append(end.join([f">{name} described >so", *lines]))
    path.write_bytes((end.join(records) + last).encode())
    pysam.faidx(str(path))
    return path


def is_left_in_the_file(path: Path) -> bool:
    """Whether letters are looked up there: a change of the file is seen."""
    reference = read_reference(Source(str(path)))
    before = reference.letters(1, 0, 7).tobytes()
    at = path.read_bytes().index(b"GATTACA")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"C")
    after = reference.letters(1, 0, 7).tobytes()
    assert (before, after[1:]) == (b"GATTACA", b"ATTACA")
    return after != before


@pytest.mark.parametrize("width", [7, 10, 13, 1000])
@pytest.mark.parametrize(("end", "last"), [("\n", "\n"), ("\n", ""), ("\r\n", "\r\n"), ("\n", "\n\n")])
def test_every_window_is_what_the_file_has(tmp_path: Path, width: int, end: str, last: str) -> None:
    path = write(tmp_path, width, end, last)
    reference = read_reference(Source(str(path)))
    for number, (name, letters) in enumerate(SEQUENCES.items()):
        assert (reference.name(number).decode(), reference.length(number)) == (name, len(letters))
        for begin in range(len(letters) + 1):
            for end_ in {begin, begin + 1, begin + width, begin + 3 * width, len(letters)}:
                assert reference.letters(number, begin, end_).tobytes().decode() == letters[begin:end_]
    assert reference.fits
    assert is_left_in_the_file(path)


def test_windows_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    letters = "".join("ACGT"[(i * i) % 4] for i in range(50_000))
    path = tmp_path / "long.fa"
    path.write_text(">x\n" + "".join(letters[i : i + 61] + "\n" for i in range(0, len(letters), 61)))
    pysam.faidx(str(path))
    assert read_reference(Source(str(path))).letters(0, 5, 49_000).tobytes().decode() == letters[5:49_000]


def _older(path: Path) -> None:
    os.utime(f"{path}.fai", (1, 1))


def _edit(old: str, new: str):
    def edited(path: Path) -> None:
        index = Path(f"{path}.fai")
        assert old in index.read_text()
        index.write_text(index.read_text().replace(old, new, 1))

    return edited


def _more(path: Path) -> None:
    path.write_text(path.read_text() + ">four\nACGT\n")
    later = path.stat().st_mtime + 5
    os.utime(f"{path}.fai", (later, later))


LIES = {
    "older": _older,
    "another name": _edit("two", "tow"),
    "a name twice": _edit("two", "one"),
    "no number": _edit("7", "seven"),
    "a line less": _edit("two\t7", "two\t2"),
    "wider lines": _edit("20\t21", "21\t22"),
    "a record more": _more,
    "empty": lambda path: Path(f"{path}.fai").write_text(""),
    "none": lambda path: Path(f"{path}.fai").unlink(),
}


@pytest.mark.parametrize("lie", LIES)
def test_with_an_index_that_does_not_fit_the_file_is_read_whole(tmp_path: Path, lie: str) -> None:
    path = write(tmp_path)
    LIES[lie](path)
    reference = read_reference(Source(str(path)))
    assert [reference.name(i).decode() for i in range(3)] == list(SEQUENCES)
    assert reference.letters(0, 0, 1000).tobytes().decode() == SEQUENCES["one"]
    assert not is_left_in_the_file(path)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("options", [("--span", "read", "--pad", "9"), ("--md", "--checksums")], ids=" ".join)
def test_the_same_records_with_an_index(tmp_path: Path, threads: str, options: tuple[str, ...]) -> None:
    random_world(22, reads=20).write(tmp_path)
    command = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--format", "sam", "-t", threads, *options)
    whole = run(*command, cwd=tmp_path)
    pysam.faidx(str(tmp_path / "ref.fa"))
    left = run(*command, cwd=tmp_path)
    assert_success(left)
    assert left.out == whole.out


def test_an_index_that_fits_headers_but_not_lines_is_told(tmp_path: Path) -> None:
    world = random_world(23, reads=20)
    world.write(tmp_path)
    path = tmp_path / "ref.fa"
    pysam.faidx(str(path))
    lines = path.read_text().split("\n")
    lines[2:4] = [lines[2][:-1], lines[2][-1] + lines[3]]  # as many bytes; the first line is looked at
    path.write_text("\n".join(lines))
    later = path.stat().st_mtime + 5
    os.utime(f"{path}.fai", (later, later))
    result = run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--span", "read", "--format", "sam", cwd=tmp_path
    )
    assert_failure(result, 1, "ref.fa: is not as its index says: make ref.fa.fai anew, or remove it")
    assert not [row for row in result.rows if row[2] == "chr0"], "no record of what may be wrong"
