"""File names that begin with a dash, look like a URL or are not UTF-8 are passed on as files to every program."""

from __future__ import annotations

import os
from pathlib import Path

import pysam
import pytest

from .support import assert_failure, assert_success, bgzf, environment, fasta, run

NOT_UTF8 = os.fsdecode(b"\xff\xfe")
SYMBOLS = "ACGTTGCATTGACCATGACA"
MAPPER = (
    '#!/bin/sh\n[ $# -gt 1 ] || exit 1\nfor name; do echo "$name" >> seen; done\n'
    "for n; do last=$n; done\ncat < \"$last\" > reads\ncat map.paf\necho '[M::main] Real time: 0 sec' >&2\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A read on a reference, as FASTA and as BAM, and files that must stay unchanged."""
    (tmp_path / "q.fa").write_bytes(fasta([SYMBOLS]))
    (tmp_path / "t.fa").write_bytes(fasta([SYMBOLS], "t"))
    (tmp_path / "map.paf").write_text("r1\t20\t0\t20\t+\tt1\t20\t0\t20\t20\t20\t60\n")
    with pysam.AlignmentFile(str(tmp_path / "reads.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        fields = ["r1", "4", "*", "0", "0", "*", "*", "0", "0", SYMBOLS, "I" * 20]
        file.write(pysam.AlignedSegment.fromstring("\t".join(fields), file.header))
    (tmp_path / "victim.bam").write_text("precious")
    return tmp_path


@pytest.mark.parametrize("name", ["-0victim.bam", "-n", "--help", "--reference=x", "data:,x", "a:b", NOT_UTF8])
def test_reads_in_bam(folder: Path, name: str) -> None:
    (folder / "reads.bam").rename(folder / name)
    result = run("align", "--mappings", "map.paf", "--format", "paf", "--", name, "t.fa", cwd=folder)
    assert_success(result)
    assert [row[0] for row in result.rows] == ["r1"]
    assert (folder / "victim.bam").read_text() == "precious"


@pytest.mark.parametrize("name", ["-t.fa", "--help", "file:t.fa", "data:,ACGT", NOT_UTF8])
@pytest.mark.parametrize("blocks", [False, True])
def test_the_reference_of_cram(folder: Path, name: str, blocks: bool) -> None:
    text = (folder / "t.fa").read_bytes()
    (folder / name).write_bytes(bgzf(text) if blocks else text)
    for sort in ([], ["--sort", "--write-index"]):
        assert_success(run("align", "-o", "x.cram", *sort, "--", "q.fa", name, cwd=folder))
        assert pysam.view("-T", str(folder / "t.fa"), str(folder / "x.cram")).split("\t")[9] == SYMBOLS


@pytest.mark.parametrize(
    "name", ["-0victim.bam", "-b.bam", "--csi.bam", "data:x.bam", "-o.cram", NOT_UTF8 + ".bam", NOT_UTF8 + ".cram"]
)
def test_outputs(folder: Path, name: str) -> None:
    (folder / "temporary").mkdir()
    options = ("--sort", "--write-index", f"--output={name}")
    assert_success(run("align", "q.fa", "t.fa", *options, cwd=folder, env=environment(TMPDIR=f"{folder}/temporary")))
    assert not list((folder / "temporary").iterdir())
    suffix = ".crai" if name.endswith(".cram") else ".bai"
    assert (folder / name).stat().st_size and Path(f"{folder}/{name}{suffix}").stat().st_size
    assert (folder / "victim.bam").read_text() == "precious"


def test_a_mapper_gets_them_as_files(folder: Path) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "minimap2").write_text(MAPPER)
    (folder / "bin" / "minimap2").chmod(0o755)
    (folder / "q.fa").rename(folder / "-d.idx")
    (folder / "t.fa").rename(folder / "--version")
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    result = run("map", "--format", "paf", "--", "--version", "-d.idx", cwd=folder, env=env)
    assert_success(result)
    seen = (folder / "seen").read_text().split()
    assert seen[seen.index("--") + 1 :] == ["--version", "-d.idx"]
    assert (folder / "reads").read_bytes() == (folder / "-d.idx").read_bytes()


@pytest.mark.parametrize(
    "line",
    [
        "align {}.bam t.fa --mappings map.paf",
        "align q.fa {}.fa -o x.cram",
        "align q.fa t.fa -o {}.cram --sort --write-index",
    ],
)
def test_a_name_that_htslib_takes_apart_is_refused(folder: Path, line: str) -> None:
    name = "a##idx##b"
    (folder / f"{name}.fa").write_bytes((folder / "t.fa").read_bytes())
    if "-o {}" not in line:
        (folder / f"{name}.bam").write_bytes((folder / "reads.bam").read_bytes())
    before = sorted(folder.iterdir())
    result = run(*line.format(name).split(), cwd=folder)
    assert_failure(result, 1, "htslib treats ##idx## as the end of a name; rename the file")
    assert sorted(folder.iterdir()) == before
