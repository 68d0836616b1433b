"""`wfacli map` with a fake mapper, and with the real library if it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import time
from pathlib import Path

import pysam
import pytest

from tests.cli.support import Result, assert_failure, assert_success, environment, run, zstd
from tests.mapped.fake_mapper import install
from tests.mapped.world import random_world

HAS_MAPPY = importlib.util.find_spec("mappy") is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Reads, a reference, and a fake minimap2 that records its arguments, prints map.paf, and may fail."""
    random_world(31).write(tmp_path)
    install(tmp_path)
    return tmp_path


def map_(folder: Path, *options: str, path: str = "bin") -> Result:
    others = ":/usr/bin:/bin" if path == "bin" else ""  # may contain a minimap2
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
    result = map_(folder, "--preset", "map-hifi", "-t", "2", "--md", "--no-header", "--drop-unmapped")
    assert_success(result)
    assert result.out == wanted.out
    assert (folder / "arguments").read_text() == "-x map-hifi --paf-no-hit -I 1000G -K 4M -t 2 -- ref.fa reads.fq"


@pytest.mark.parametrize(
    ("preset", "threads", "batch"),
    [("map-ont", 1, "4M"), ("map-ont", 16, "32M"), ("sr", 64, "50M"), ("asm5", 4, None)],
)
def test_the_mapper_maps_few_reads_at_a_time(folder: Path, preset: str, threads: int, batch: str | None) -> None:
    map_(folder, "--preset", preset, "-t", str(threads))
    arguments = (folder / "arguments").read_text().split()
    assert (arguments[arguments.index("-K") + 1] if "-K" in arguments else None) == batch


@pytest.mark.parametrize("more", [(), ("--batch-bases", "300"), ("--keep-unmapped", "-t", "1")])
def test_unmapped_reads_stand_where_they_were_read(folder: Path, more: tuple[str, ...]) -> None:
    reads = list(random_world(31).reads.items())
    mapped = map_(folder, "--no-header", "--drop-unmapped").rows
    result = map_(folder, "--no-header", *more)
    assert_success(result)
    assert list(dict.fromkeys(row[0] for row in result.rows)) == [name for name, _ in reads]
    lost = [row for row in result.rows if int(row[1]) & 4]
    assert [row for row in result.rows if row not in lost] == mapped
    missing = [(name, *told) for name, told in reads if name not in {row[0] for row in mapped}]
    assert len(missing) > 1
    assert lost == [[name, "4", "*", "0", "0", "*", "*", "0", "0", *map(str, told)] for name, *told in missing]


def test_paf_has_no_line_of_unmapped_reads_unless_asked(folder: Path) -> None:
    names = {row[0] for row in map_(folder, "--no-header", "--drop-unmapped").rows}
    for form in ("paf", "tsv"):
        rows = [row for row in map_(folder, "--format", form, "--no-header").rows if row[0] != "query"]
        assert {row[0] for row in rows} == names
    kept = map_(folder, "--format", "paf", "--keep-unmapped").rows
    assert {row[0] for row in kept if row[4] == "*"} == set(random_world(31).reads) - names


def test_the_summary_counts_reads_and_records(folder: Path) -> None:
    result = map_(folder, "--no-header", "--stats", "s.json")
    flags = [int(row[1]) for row in result.rows]
    clips = [sum(map(int, re.findall(r"(\d+)S", r[5]))) for r in result.rows if not int(r[1]) & (4 | 256 | 2048)]
    wanted = {
        "reads": 12,
        "mapped_reads": len(clips),
        "unmapped_reads": sum(bool(f & 4) for f in flags),
        "secondary": sum(bool(f & 256) for f in flags),
        "supplementary": sum(bool(f & 2048) for f in flags),
        "soft_clipped_bases": sum(clips),
    }
    assert all(wanted.values())
    report = json.loads((folder / "s.json").read_text())
    assert {name: report[name] for name in wanted} == wanted
    assert (
        "12 reads, {mapped_reads} mapped, {unmapped_reads} unmapped, {secondary} secondary, {supplementary} "
        "supplementary, {soft_clipped_bases} bases soft-clipped,".format(**wanted)
        in result.err
    )
    dropped = map_(folder, "--no-header", "--drop-unmapped", "--stats", "s.json")
    assert f"{wanted['unmapped_reads']} unmapped (left out)," in dropped.err
    report = json.loads((folder / "s.json").read_text())
    assert {name: report[name] for name in wanted} == wanted


def test_a_mapper_gets_what_it_cannot_read_through_pipes(folder: Path) -> None:
    """minimap2 reads plain files and gzip; with others it silently finds nothing."""
    wanted = run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--preset", "map-ont", "--no-header", cwd=folder
    )
    plain = [(folder / name).read_bytes() for name in ("ref.fa", "reads.fq")]
    for name in ("ref.fa", "reads.fq"):
        (folder / name).write_bytes(zstd((folder / name).read_bytes()))
    result = map_(folder, "--no-header", "--drop-unmapped")
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
    result = map_(folder, "--no-header", "--drop-unmapped")
    assert_success(result)
    assert result.out == wanted.out
    assert (folder / "seen-1").read_text() == plain.replace(" more", "")


def test_a_mapper_that_leaves_its_pipe_is_no_failure_of_ours(folder: Path) -> None:
    (folder / "reads.fq").write_bytes(zstd((folder / "reads.fq").read_bytes() + b"@more\n" + b"A" * (1 << 20)))
    program = folder / "bin" / "minimap2"
    program.write_text("#!/bin/sh\necho nonsense\n")
    assert_failure(map_(folder, "-o", "x.sam"), 1, "minimap2, line 1", "PAF has 12")


@pytest.mark.parametrize("said", ["", "[M::worker_pipeline] mapped 6 sequences", "x" * 100_000])
@pytest.mark.parametrize("lines", [0, 1, 3])
def test_a_mapper_that_ends_well_too_early(folder: Path, lines: int, said: str) -> None:
    """minimap2 has a last line on standard error when it has written everything; status 0 proves nothing."""
    (folder / "said").write_text(said)
    (folder / "bin" / "minimap2").write_text(f"#!/bin/sh\ncat said >&2\nhead -n {lines} map.paf\n")
    result = map_(folder, "-o", "x.sam")
    assert_failure(result, 1, 'minimap2: ended without an error, but not with "[M::main] Real time"', "may be missing")
    assert said[-4000:] in result.err and len(result.err) < 5000
    assert not (folder / "x.sam").exists()


@pytest.mark.parametrize("lines", [0, 1, 3])
@pytest.mark.parametrize("more", [(), ("--drop-unmapped",)])
def test_a_mapper_that_writes_no_line_about_some_reads(folder: Path, lines: int, more: tuple[str, ...]) -> None:
    """Its status and its last line say that all is well; it was asked for a line for each read."""
    (folder / "verbatim").touch()
    kept = (folder / "map.paf").read_text().splitlines(keepends=True)[:lines]
    (folder / "map.paf").write_text("".join(kept))
    missing = 12 - len({line.split("\t")[0] for line in kept})
    result = map_(folder, "-o", "x.sam", *more)
    assert_failure(result, 1, f"minimap2: wrote no line about {missing} reads of 12 in ", "it read only a part")
    assert not (folder / "x.sam").exists()


def test_a_mapper_that_fails_leaves_no_output(folder: Path) -> None:
    (folder / "fail").touch()
    assert_failure(map_(folder, "-o", "x.sam"), 1, "minimap2: [ERROR] out of luck")
    assert not (folder / "x.sam").exists()


@pytest.mark.parametrize("name", ["x.sam", "x.bam"])
def test_a_mapper_that_finds_nothing_and_fails_leaves_no_header_behind(folder: Path, name: str) -> None:
    """Regression test for a mapper that fails before its first mapping, as minimap2 does for an unknown preset."""
    (folder / "fail").touch()
    (folder / "map.paf").write_text("")
    result = map_(folder, "--preset", "no-such", "-o", name)
    assert_failure(result, 1, "minimap2: [ERROR] out of luck")
    assert "incomplete" not in result.err and not list(folder.glob(f"{name}*"))


def test_a_mapper_is_stopped_if_the_gpu_cannot_be_opened(folder: Path) -> None:
    (folder / "bin" / "minimap2").write_text(
        "#!/bin/sh\n[ $# -gt 1 ] || exit 0\necho $$ > process\ncat map.paf\nexec sleep 600\n"
    )
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin", CUDA_VISIBLE_DEVICES="")
    result = run("map", "ref.fa", "reads.fq", "--engine", "gpu", "-o", "x.sam", cwd=folder, env=env)
    assert result.code == 1
    mapper = int((folder / "process").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(mapper, signal.SIGKILL)
    assert not list(folder.glob("x.sam*"))


def test_reads_behind_a_mapper_that_fails_are_not_called_unmapped(folder: Path) -> None:
    lines = (folder / "map.paf").read_text().splitlines(True)
    (folder / "map.paf").write_text(lines[0])
    (folder / "fail").touch()
    result = map_(folder, "-o", "x.sam")
    assert_failure(result, 1, "minimap2: [ERROR] out of luck")
    (partial,) = folder.glob("x.sam.partial-*")
    names = [line.split("\t")[0] for line in partial.read_text().splitlines() if line[0] != "@"]
    assert names[-1] == lines[0].split("\t")[0]


@pytest.mark.parametrize("preset", ["splice", "splice:hq", "splice:sr", "cdna"])
def test_spliced_reads_are_refused_before_anything_runs(folder: Path, preset: str) -> None:
    for path in ("bin", "none"):
        result = map_(folder, "-x", preset, "-o", "x.sam", path=path)
        assert_failure(result, 2, f"--preset {preset}: spliced reads", f"minimap2 -ax {preset} REFERENCE READS")
    assert not (folder / "arguments").exists() and not list(folder.glob("x.sam*"))


def test_the_mapper_is_a_program_of_the_header_and_of_the_report(folder: Path) -> None:
    (folder / "version").write_text("2.99-r1")
    result = map_(folder, "-t", "2", "--stats", "s.json")
    assert_success(result)
    command = "minimap2 -x map-ont --paf-no-hit -I 1000G -K 4M -t 2 -- ref.fa reads.fq"
    programs = [line for line in result.text.splitlines() if line.startswith("@PG")]
    assert programs[0] == f"@PG\tID:minimap2\tPN:minimap2\tVN:2.99-r1\tCL:{command}"
    assert programs[1].startswith("@PG\tID:wfacli\tPP:minimap2\tPN:wfacli\tVN:") and len(programs) == 2
    mapper = {"name": "minimap2", "version": "2.99-r1", "command": command}
    assert json.loads((folder / "s.json").read_text())["mapper"] == mapper
    for name in ("ref.fa", "reads.fq"):  # minimap2 gets these through pipes
        (folder / name).write_bytes(zstd((folder / name).read_bytes()))
    again = map_(folder, "-t", "2", "-R", "@RG\\tID:r\\tSM:s")
    assert [line for line in again.text.splitlines() if line.startswith("@PG\tID:minimap2")] == programs[:1]
    assert {row[-2 if row[-1] == "cm:i:3" else -1] for row in again.rows} == {"RG:Z:r"}


def test_reads_of_one_name_are_told_as_such(folder: Path) -> None:
    """The error blames the reads, and not the order of the mappings, which come from the mapper."""
    (folder / "map.paf").write_text((folder / "map.paf").read_text() * 2)
    (folder / "reads.fq").write_text((folder / "reads.fq").read_text() * 2)
    first = (folder / "map.paf").read_text().split("\t")[0]
    assert_failure(map_(folder, "-o", "x.sam"), 1, f"reads.fq, record {first}: two reads have this name")


def test_a_mapper_that_is_killed(folder: Path) -> None:
    """As for lack of memory; earlier log lines are not reported as the reason."""
    program = folder / "bin" / "minimap2"
    program.write_text("#!/bin/sh\necho '[M::main] all is well' >&2\nkill -9 $$\n")
    result = map_(folder, "-o", "x.sam")
    assert_failure(result, 1, "minimap2: was ended by signal 9 (the machine may have run out of memory)")


def test_a_mapper_is_ended_with_the_run(folder: Path) -> None:
    # The mapper would run for a while, but its first line is already invalid.
    program = folder / "bin" / "minimap2"
    answer = 'case "$*" in *--version*) echo 2.31; exit ;; esac'
    program.write_text(f"#!/bin/sh\n{answer}\necho nonsense nonsense nonsense\nexec sleep 100\n")
    begun = time.monotonic()
    assert_failure(map_(folder, "-o", "x.sam"), 1, "minimap2, line 1", "PAF has 12")
    assert time.monotonic() - begun < 60


@pytest.mark.skipif(HAS_MAPPY, reason="mappy is installed")
def test_no_mapper(folder: Path) -> None:
    assert_failure(map_(folder, path="none"), 1, "neither minimap2 nor its library", "pip install '.[map]'")


@pytest.mark.skipif(not HAS_MAPPY, reason="mappy is not installed")
def test_mappy(folder: Path) -> None:
    rows = [f"read{i}" for i in range(8)]
    symbols = random_world(5, reads=1).reference["chr0"] * 20
    (folder / "ref.fa").write_text(f">t\n{symbols}\n")
    (folder / "reads.fq").write_text("".join(f">{r}\n{symbols[9 * i : 3000 + 9 * i]}\n" for i, r in enumerate(rows)))
    result = map_(folder, "--format", "paf", path="none")
    assert_success(result)
    assert list(dict.fromkeys(row[0] for row in result.rows)) == rows
