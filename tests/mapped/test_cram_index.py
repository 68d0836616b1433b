"""CRAM output can be decoded with its reference, whatever index lies beside the reference."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pysam
import pytest

from tests.cli.support import Result, assert_failure, assert_success, bgzf, fasta, run

READS = 6


def sequences(seed: int) -> list[str]:
    symbols = random.Random(seed)
    return ["".join(symbols.choices("ACGT", k=symbols.randint(700, 900))) for _ in range(3)]


@pytest.fixture(params=["align", "mapped"])
def cram(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Result]:
    """A function that writes x.cram of reads on ref.fa (or another file), as pairs or by mappings."""
    reference = sequences(1)
    (tmp_path / "ref.fa").write_bytes(fasta(reference, "t", 60))
    if request.param == "align":
        (tmp_path / "q.fa").write_bytes(fasta([s[1:] for s in reference]))
        return lambda name="ref.fa": run("align", "q.fa", name, "-o", "x.cram", cwd=tmp_path)
    parts = [(n % 3, 30 * n, 30 * n + 300) for n in range(READS)]
    (tmp_path / "q.fa").write_bytes(fasta([reference[t][a:b] for t, a, b in parts]))
    (tmp_path / "map.paf").write_text(
        "".join(
            f"r{n}\t300\t0\t300\t+\tt{t + 1}\t{len(reference[t])}\t{a}\t{b}\t300\t300\t60\n"
            for n, (t, a, b) in enumerate(parts, 1)
        )
    )
    return lambda name="ref.fa": run("align", "q.fa", name, "--mappings", "map.paf", "-o", "x.cram", cwd=tmp_path)


def assert_decoded(folder: Path, plain: str = "ref.fa") -> None:
    """Assert that all bases and M5 sums are correct, by a copy of the reference with a new index."""
    fresh = folder / "fresh.fa"
    fresh.write_bytes((folder / plain).read_bytes())
    Path(f"{fresh}.fai").unlink(missing_ok=True)
    symbols = [r.sequence for r in pysam.FastxFile(str(folder / "q.fa"))]
    with pysam.AlignmentFile(str(folder / "x.cram"), reference_filename=str(fresh)) as file:
        assert [r.query_sequence for r in file.fetch(until_eof=True)] == symbols


def damaged(folder: Path, way: str, name: str = "ref.fa") -> None:
    """Write an index that does not match the reference, and is newer."""
    index = folder / f"{name}.fai"
    pysam.faidx(str(folder / name))
    lines = [line.split("\t") for line in index.read_text().splitlines()]
    if way == "offset":
        lines[1][2] = str(int(lines[1][2]) + 7)
    elif way == "length":
        lines[1][1] = str(int(lines[1][1]) - 5)
    elif way == "names":
        lines[0][0], lines[1][0] = lines[1][0], lines[0][0]
    elif way == "lines":
        lines[2][3] = "59"
    elif way == "fewer":
        del lines[1]
    index.write_text("".join("\t".join(fields) + "\n" for fields in lines))
    if way == "empty":
        index.write_text("")
    if way == "binary":
        index.write_bytes(b"\xff\0" * 30)
    if way == "older":
        (folder / "other.fa").write_bytes(fasta(sequences(2), "t", 50))
        pysam.faidx(str(folder / "other.fa"))
        index.write_bytes((folder / "other.fa.fai").read_bytes())
        os.utime(index, (1, 1))


WAYS = ["offset", "length", "names", "lines", "fewer", "empty", "binary", "older"]


@pytest.mark.parametrize("way", WAYS)
def test_an_index_that_is_not_of_the_reference(cram: Callable[..., Result], tmp_path: Path, way: str) -> None:
    damaged(tmp_path, way)
    before = (tmp_path / "ref.fa.fai").read_bytes()
    assert_success(cram())
    assert_decoded(tmp_path)
    assert (tmp_path / "ref.fa.fai").read_bytes() == before  # belongs to the user


@pytest.mark.parametrize("way", ["offset", "older"])
def test_a_reference_in_blocks(cram: Callable[..., Result], tmp_path: Path, way: str) -> None:
    (tmp_path / "ref.fa.gz").write_bytes(bgzf((tmp_path / "ref.fa").read_bytes(), 500))
    damaged(tmp_path, way, "ref.fa.gz")
    assert_success(cram("ref.fa.gz"))
    assert_decoded(tmp_path)


def test_an_index_of_blocks_that_is_not_of_the_reference(cram: Callable[..., Result], tmp_path: Path) -> None:
    text = (tmp_path / "ref.fa").read_bytes()
    (tmp_path / "ref.fa.gz").write_bytes(bgzf(text, 400))
    pysam.faidx(str(tmp_path / "ref.fa.gz"))
    (tmp_path / "ref.fa.gz").write_bytes(bgzf(text, 500))
    os.utime(tmp_path / "ref.fa.gz", (1, 1))
    assert_failure(cram("ref.fa.gz"), 1, "ref.fa.gz.gzi", "ref.fa.gz")
    assert not (tmp_path / "x.cram").exists()
    (tmp_path / "ref.fa.gz.gzi").unlink()
    assert_success(cram("ref.fa.gz"))
    assert_decoded(tmp_path)


def test_an_index_that_is_missing_is_made_and_then_used(cram: Callable[..., Result], tmp_path: Path) -> None:
    before = sorted(p.name for p in tmp_path.iterdir())
    assert_success(cram())
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*before, "ref.fa.fai", "x.cram"])
    assert_decoded(tmp_path)
    header = pysam.view("-H", "--no-PG", str(tmp_path / "x.cram"))
    assert f"UR:{tmp_path}/ref.fa\n" in header and header.count("M5:") == 3
    made = (tmp_path / "ref.fa.fai").read_bytes()
    pysam.faidx(str(tmp_path / "ref.fa"))
    assert (tmp_path / "ref.fa.fai").read_bytes() == made
    assert_success(cram())
    assert pysam.view("-H", "--no-PG", str(tmp_path / "x.cram")) == header


@pytest.mark.parametrize("name", ["a\nb.fa", "t\tab.fa", "a\n@CO\tadded.fa", "escape\x1b[2J.fa", "folder\n/ref.fa"])
def test_a_name_of_the_reference_that_a_header_cannot_hold(
    cram: Callable[..., Result], tmp_path: Path, name: str
) -> None:
    """The full name of the reference is in the header (UR); a file with such a header cannot be opened."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes((tmp_path / "ref.fa").read_bytes())
    before = sorted(tmp_path.rglob("*"))
    result = cram(name)
    assert_failure(result, 1, "which cannot contain control characters", "rename it, or give a link to it")
    assert "\x1b" not in result.err and sorted(tmp_path.rglob("*")) == before
    (tmp_path / "linked.fa").symlink_to(name)
    assert_success(cram("linked.fa"))
    assert_decoded(tmp_path)
