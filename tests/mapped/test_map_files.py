"""`wfacli map` with several files of single reads, and with options that minimap2 users are used to."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from tests.cli.support import Result, assert_failure, assert_success, environment, run, zstd
from tests.mapped.fake_mapper import install
from tests.mapped.world import World, random_world


@pytest.fixture
def world() -> World:
    return random_world(31, reads=14)


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    """The reads in three files and in a single one, and a fake minimap2 that records its arguments and input."""
    world.write(tmp_path)
    records = ["@" + record for record in (tmp_path / "reads.fq").read_text()[1:].split("\n@")]
    assert len(records) == 14
    parts = {"a.fq": records[:4], "b.fq": records[4:9], "c.fq": records[9:]}
    for name, some in parts.items():
        (tmp_path / name).write_text(
            "\n".join(some).rstrip("\n") + "\n" * (name != "b.fq")
        )  # b lacks its final newline
    install(tmp_path)
    (tmp_path / "version").write_text("2.99")
    return tmp_path


def map_(folder: Path, *options: str, stdin: bytes = b"") -> Result:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    return run("map", *options, cwd=folder, env=env, stdin=stdin)


FILES = ("a.fq", "b.fq", "c.fq")


@pytest.mark.parametrize("form", ["plain", "packed", "pipe", "two"])
def test_several_files_are_mapped_one_behind_the_other(folder: Path, form: str) -> None:
    wanted = map_(folder, "ref.fa", "reads.fq", "--no-header")
    files, stdin = list(FILES), b""
    plain = b"".join((folder / name).read_bytes() for name in FILES)
    if form == "packed":
        (folder / "a.fq").write_bytes(zstd((folder / "a.fq").read_bytes()))
        (folder / "b.fq.gz").write_bytes(gzip.compress((folder / "b.fq").read_bytes()))
        files[1] = "b.fq.gz"
    elif form == "pipe":
        files[1], stdin = "-", (folder / "b.fq").read_bytes()
    elif form == "two":
        (folder / "b.fq").write_bytes((folder / "b.fq").read_bytes() + b"\n" + (folder / "c.fq").read_bytes())
        files = ["a.fq", "b.fq", "--preset", "map-ont"]
    (folder / "seen").unlink()
    result = map_(folder, "ref.fa", *files, "--no-header", "--batch-bases", "700", stdin=stdin)
    assert_success(result)
    assert result.out == wanted.out and len(result.rows) > 14
    assert (folder / "arguments").read_text().startswith("-x map-ont --paf-no-hit -I 1000G")
    if form != "packed":
        assert (folder / "seen").read_bytes().replace(b"\n", b"") == plain.replace(b"\n", b"")
    header = map_(folder, "ref.fa", *files, stdin=stdin).text
    assert f"-- ref.fa {' '.join(files[: 2 if form == 'two' else 3])}\n" in header


def test_faults_name_the_file_and_its_line(folder: Path) -> None:
    lines = (folder / "c.fq").read_text().splitlines(True)
    (folder / "c.fq").write_text("".join(lines[:3]) + lines[3][:-3] + "\n" + "".join(lines[4:]))
    assert_failure(map_(folder, "ref.fa", *FILES, "-o", "x.sam"), 1, "c.fq, line 4")
    shutil.copy(folder / "a.fq", folder / "c.fq")
    assert_failure(map_(folder, "ref.fa", *FILES, "-o", "x.sam"), 1, "two reads have this name")
    (folder / "c.fq").write_text(">x\nACGT\n")
    words = "c.fq: is FASTA, and a.fq is FASTQ: several files are of one kind"
    assert_failure(map_(folder, "ref.fa", *FILES, "-o", "x.sam"), 1, words)
    assert_failure(map_(folder, "ref.fa", "a.fq", "b.fq", "nothere.fq", "-o", "x.sam"), 1, "nothere.fq: No such file")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--preset", "sr", *FILES), "--preset sr pairs the reads of two files, and there are 3"),
        ((*FILES, "--mates", "reads.fq"), "--mates requires one file of reads"),
        (("a.fq", "b.fq", "--mates", "c.fq"), "given twice"),
        (("-", "b.fq", "-"), "only one of READS can be standard input"),
        ((*FILES, "-o", "b.fq"), "is an input"),
        (("-a", "a.fq", "--format", "paf"), "-a asks for SAM"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_does_not_go_together(folder: Path, options: tuple[str, ...], words: str) -> None:
    assert_failure(map_(folder, "ref.fa", *options), 2, words)
    assert not (folder / "arguments").exists()


def test_options_as_minimap2_takes_them(folder: Path) -> None:
    wanted = map_(folder, "ref.fa", "reads.fq", "--preset", "map-hifi", "--read-group", "@RG\\tID:r\\tSM:s", "-t", "2")
    habit = map_(folder, "-t2", "-ax", "map-hifi", "-R", "@RG\\tID:r\\tSM:s", "ref.fa", "reads.fq")
    assert_success(habit)
    assert habit.rows == wanted.rows and "@RG\tID:r\tSM:s\n" in habit.text


@pytest.mark.skipif(not shutil.which("minimap2"), reason="minimap2 is not installed")
def test_minimap2_maps_several_files(world: World, folder: Path) -> None:
    symbols = "".join(world.reference.values()) * 3
    (folder / "ref.fa").write_text(f">t\n{symbols}\n")
    for number, name in enumerate(FILES):
        reads = (f"@{name}{i}\n{symbols[200 * i : 200 * i + 900]}\n+\n{'I' * 900}\n" for i in range(number + 1))
        (folder / name).write_text("".join(reads))
    result = run("map", "ref.fa", *FILES, "-x", "map-ont", cwd=folder)
    assert_success(result)
    assert list(dict.fromkeys(row[0] for row in result.rows)) == ["a.fq0", "b.fq0", "b.fq1", "c.fq0", "c.fq1", "c.fq2"]
