"""Names of outputs: formats and compression by suffix, contradictions, and inputs that can be read only once."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import BGZF_END, Result, assert_failure, assert_success, command, environment, random_pairs, run, seq

Align = Callable[..., Result]


def without_command_line(text: bytes) -> list[bytes]:
    return [line for line in text.splitlines() if not line.startswith(b"@PG")]


@pytest.mark.parametrize("name", ["x.sam.gz", "x.paf.gz", "x.tsv.bgz", "x.m8.gz"])
def test_text_in_gz_is_the_text_by_bgzip(align: Align, folder: Path, name: str) -> None:
    plain = Path(name).stem
    assert_success(align("q.fa", "t.fa", "-q", "-o", plain, "--batch-bases", "100"))
    assert_success(align("q.fa", "t.fa", "-q", "-o", name, "--batch-bases", "100", "--compression", "9"))
    data, wanted = (folder / name).read_bytes(), (folder / plain).read_bytes()
    assert data.endswith(BGZF_END) and data[:4] == b"\x1f\x8b\x08\x04"
    assert without_command_line(gzip.decompress(data)) == without_command_line(wanted)
    assert sorted(p.name for p in folder.glob("x.*")) == sorted((plain, name))


def test_sorted_sam_in_gz(align: Align, folder: Path) -> None:
    assert_success(align("q.fa", "t.fa", "-q", "--sort", "-o", "x.sam"))
    assert_success(align("q.fa", "t.fa", "-q", "--sort", "-o", "x.sam.gz"))
    data = (folder / "x.sam.gz").read_bytes()
    assert data.endswith(BGZF_END)
    assert gzip.decompress(data).replace(b"x.sam.gz", b"x.sam") == (folder / "x.sam").read_bytes()


def test_what_a_fault_leaves_in_gz_can_be_read(folder: Path) -> None:
    (folder / "bad.seq").write_bytes(seq(random_pairs(3)) + b">ACGT\n")
    result = run("align", "bad.seq", "-o", "x.paf.gz", cwd=folder)
    assert_failure(result, 1, "bad.seq")
    (left,) = folder.glob("x.paf.gz*")
    assert len(gzip.decompress(left.read_bytes()).splitlines()) == 3
    assert left.read_bytes().endswith(BGZF_END) and left.name in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("-o x.bam --format paf", ("x.bam is named as BAM", "--format is paf")),
        ("-o x.sam --format bam", ("x.sam is named as SAM", "--format is bam")),
        ("-o x.paf.gz --format sam", ("x.paf.gz is named as PAF",)),
        ("-o x.bam.gz", ("BAM is compressed already", "-o x.bam")),
        ("-o x.sam.zst", ("zstd is not written", "| zstd > x.sam.zst", "-o x.sam.gz")),
        ("-o x.sam --compression 3", ("--compression is for BAM, CRAM and names in .gz",)),
        ("-o x.bam --sort-memory 1G", ("--sort-memory is for --sort",)),
        ("-o x.bam --sort --sort-memory much", ("--sort-memory expects a size like 500M",)),
    ],
)
def test_contradictions_are_refused(align: Align, folder: Path, options: str, words: tuple[str, ...]) -> None:
    assert_failure(align("q.fa", "t.fa", *options.split()), 2, *words)
    assert not list(folder.glob("x.*"))


def test_tables_may_be_named_tsv(align: Align, folder: Path) -> None:
    assert_success(align("q.fa", "t.fa", "--format", "blast6", "-o", "x.tsv", "-q"))
    assert (folder / "x.tsv").exists()


@pytest.mark.parametrize("name", ["align", "extend"])
def test_pairs_from_a_pipe_become_paf(folder: Path, name: str) -> None:
    words = (name, "-", *(["--mode", "global"] if name == "extend" else []))
    made = run("simulate", "--pairs", "20", "-q", cwd=folder).out
    result = run(*words, cwd=folder, stdin=made)
    assert_success(result)
    assert len(result.rows) == 20 and all(row[4] == "+" and row[11] == "255" for row in result.rows)
    assert "wfacli: writing PAF: SAM begins with the names of all targets" in result.err
    assert run(*words, "-q", cwd=folder, stdin=made).err == ""
    assert run(*words, "--format", "paf", cwd=folder, stdin=made).err.count("\n") == 1
    assert_failure(run(*words, "-o", "x.sam", cwd=folder, stdin=made), 2, "read only once")
    assert_failure(run(*words, "--sort", cwd=folder, stdin=made), 2, "read only once")


def test_simulate_is_piped_to_align(folder: Path) -> None:
    wfacli = " ".join(command())
    line = f"{wfacli} simulate --pairs 100 -q | {wfacli} align - -q"
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 100)
