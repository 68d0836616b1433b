"""`wfacli map`, with a mapper that is made up, and with the real library where it is installed."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import pysam
import pytest

from tests.cli.support import Result, assert_failure, assert_success, environment, run, zstd
from tests.mapped.world import random_world

HAS_MAPPY = importlib.util.find_spec("mappy") is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Reads, a reference, and a minimap2 that writes down its arguments, prints what is in map.paf, and may fail."""
    random_world(31).write(tmp_path)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "minimap2"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        "pathlib.Path('arguments').write_text(' '.join(sys.argv[1:]))\n"
        "for n in (-2, -1): pathlib.Path(f'seen{n}').write_bytes(open(sys.argv[n], 'rb').read())\n"
        "sys.stdout.write(pathlib.Path('map.paf').read_text())\n"
        "if pathlib.Path('fail').exists(): sys.exit('[ERROR] out of luck')\n"
    )
    program.chmod(0o755)
    return tmp_path


def map_(folder: Path, *options: str, path: str = "bin") -> Result:
    others = ":/usr/bin:/bin" if path == "bin" else ""  # where a minimap2 may be
    env = environment(PATH=f"{folder / path}{others}")
    return run("map", "ref.fa", "reads.fq", *options, cwd=folder, env=env)


def test_map_aligns_what_the_mapper_finds(folder: Path) -> None:
    wanted = run(
        "align",
        "reads.fq",
        "ref.fa",
        "--mappings",
        "map.paf",
        "--preset",
        "map-hifi",
        "--md",
        "--no-header",
        cwd=folder,
    )
    result = map_(folder, "--preset", "map-hifi", "-t", "2", "--md", "--no-header")
    assert_success(result)
    assert result.out == wanted.out
    assert (folder / "arguments").read_text() == "-x map-hifi -I 1000G -t 2 -- ref.fa reads.fq"


def test_a_mapper_gets_what_it_cannot_read_through_pipes(folder: Path) -> None:
    """It takes plain files and gzip; of others it would find nothing, and say nothing."""
    wanted = run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--preset", "map-ont", "--no-header", cwd=folder
    )
    plain = [(folder / name).read_bytes() for name in ("ref.fa", "reads.fq")]
    for name in ("ref.fa", "reads.fq"):
        (folder / name).write_bytes(zstd((folder / name).read_bytes()))
    result = map_(folder, "--no-header")
    assert_success(result)
    assert result.out == wanted.out
    assert [(folder / f"seen{n}").read_bytes() for n in (-2, -1)] == plain


def test_reads_in_bam(folder: Path) -> None:
    wanted = run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--preset", "map-ont", "--no-header", cwd=folder
    )
    plain = (folder / "reads.fq").read_text()
    with pysam.AlignmentFile(str(folder / "reads.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        for read in pysam.FastxFile(str(folder / "reads.fq")):
            fields = [read.name, "4", "*", "0", "0", "*", "*", "0", "0", read.sequence, read.quality]
            file.write(pysam.AlignedSegment.fromstring("\t".join(map(str, fields)), file.header))
    (folder / "reads.bam").rename(folder / "reads.fq")
    result = map_(folder, "--no-header")
    assert_success(result)
    assert result.out == wanted.out
    assert (folder / "seen-1").read_text() == plain.replace(" more", "")


def test_a_mapper_that_leaves_its_pipe_is_no_failure_of_ours(folder: Path) -> None:
    (folder / "reads.fq").write_bytes(zstd((folder / "reads.fq").read_bytes() + b"@more\n" + b"A" * (1 << 20)))
    program = folder / "bin" / "minimap2"
    program.write_text("#!/bin/sh\necho nonsense\n")
    assert_failure(map_(folder, "-o", "x.sam"), 1, "minimap2, line 1", "PAF has 12")


def test_a_mapper_that_fails_leaves_no_output(folder: Path) -> None:
    (folder / "fail").touch()
    assert_failure(map_(folder, "-o", "x.sam"), 1, "minimap2: [ERROR] out of luck")
    assert not (folder / "x.sam").exists()


@pytest.mark.parametrize("name", ["x.sam", "x.bam"])
def test_a_mapper_that_finds_nothing_and_fails_leaves_no_header_behind(folder: Path, name: str) -> None:
    """As minimap2 does where there is no such preset."""
    (folder / "fail").touch()
    (folder / "map.paf").write_text("")
    result = map_(folder, "--preset", "no-such", "-o", name)
    assert_failure(result, 1, "minimap2: [ERROR] out of luck")
    assert "incomplete" not in result.err and not list(folder.glob(f"{name}*"))


def test_reads_of_one_name_are_told_as_such(folder: Path) -> None:
    """Mappings that a mapper writes are not out of order."""
    (folder / "map.paf").write_text((folder / "map.paf").read_text() * 2)
    (folder / "reads.fq").write_text((folder / "reads.fq").read_text() * 2)
    first = (folder / "map.paf").read_text().split("\t")[0]
    assert_failure(map_(folder, "-o", "x.sam"), 1, f"reads.fq, record {first}: two reads have this name")


def test_a_mapper_that_is_killed(folder: Path) -> None:
    """As for want of memory; what it logged before is no reason."""
    program = folder / "bin" / "minimap2"
    program.write_text("#!/bin/sh\necho '[M::main] all is well' >&2\nkill -9 $$\n")
    result = map_(folder, "-o", "x.sam")
    assert_failure(result, 1, "minimap2: was ended by signal 9 (the machine may have run out of memory)")


def test_a_mapper_is_ended_with_the_run(folder: Path) -> None:
    # It would go on for a while, and the first line is at fault.
    program = folder / "bin" / "minimap2"
    program.write_text("#!/bin/sh\necho nonsense nonsense nonsense\nexec sleep 50\n")
    begun = time.monotonic()
    assert_failure(map_(folder, "-o", "x.sam"), 1, "minimap2, line 1", "PAF has 12")
    assert time.monotonic() - begun < 40


@pytest.mark.skipif(HAS_MAPPY, reason="mappy is installed")
def test_no_mapper(folder: Path) -> None:
    assert_failure(map_(folder, path="none"), 1, "neither minimap2 nor its library", "pip install 'wfacli[map]'")


@pytest.mark.skipif(not HAS_MAPPY, reason="mappy is not installed")
def test_mappy(folder: Path) -> None:
    rows = [f"read{i}" for i in range(8)]
    letters = random_world(5, reads=1).reference["chr0"] * 20
    (folder / "ref.fa").write_text(f">t\n{letters}\n")
    (folder / "reads.fq").write_text("".join(f">{r}\n{letters[9 * i : 3000 + 9 * i]}\n" for i, r in enumerate(rows)))
    result = map_(folder, "--format", "paf", path="none")
    assert_success(result)
    assert list(dict.fromkeys(row[0] for row in result.rows)) == rows
