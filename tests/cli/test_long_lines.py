"""Overlong lines in small files soon give an error, in little memory; long sequences take memory by their length."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from tests.mapped.world import random_world

from .support import Result, assert_failure, assert_success, command, run

MIB = 1 << 20
LONG = 64 * MIB
# A small process whose only child is measured: the peak memory of a fork includes that of its parent.
_MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(code)
"""


def measured(*arguments: str, cwd: Path) -> tuple[Result, int]:
    """Run the command for at most a minute; return its result, and its peak memory in bytes."""
    program = [sys.executable, "-c", _MEASURED, "peak", *command()]
    result = run(*arguments, cwd=cwd, program=program, timeout=60)
    return result, int((cwd / "peak").read_text()) * 1024


def zipped(path: Path, *parts: tuple[bytes, int]) -> None:
    """Write a gzip file of parts, each repeated."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part, times in parts:
            whole, rest = divmod(times * len(part), MIB) if len(part) == 1 else (0, 0)
            if whole:
                block = part * MIB
                for _ in range(whole):
                    file.write(block)
                file.write(part * rest)
            else:
                file.write(part * times)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random_world(7).write(tmp_path)
    (tmp_path / "one.fa").write_bytes(b">t\nACGT\n")
    return tmp_path


PAF = b"r\t9\t0\t9\t+\tt\t9\t0\t9\t9\t9\t60\tcg:Z:"
BOMBS = {
    "FASTA header": ((b">", 1), (b"n", LONG)),
    "FASTQ header": ((b"@r\nA\n+\nI\n@", 1), (b"n", LONG)),
    "no header": ((b"\n ", 1), (b" ", LONG)),
    "PAF name": ((b"r", LONG),),
    "PAF tag": ((PAF, 1), (b"1", LONG)),
    "SAM header": ((b"@CO\t", 1), (b"1", LONG)),
    "BAM record": ((b"BAM\1\0\0\0\0\0\0\0\0" + LONG.to_bytes(4, "little"), 1), (b"\0", LONG)),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_long_line_is_an_error_in_little_memory(folder: Path, kind: str) -> None:
    zipped(folder / "bomb.gz", *BOMBS[kind])
    assert (folder / "bomb.gz").stat().st_size < MIB
    if kind[:5] in ("FASTA", "FASTQ", "no he"):
        arguments = ["align", "bomb.gz", "one.fa", "--format", "paf", "-o", "out.paf"]
    else:
        arguments = ["align", "reads.fq", "ref.fa", "--mappings", "bomb.gz", "-o", "out.sam"]
    result, peak = measured(*arguments, cwd=folder)
    line = {"FASTQ header": 5, "no header": 2}.get(kind, 1)
    assert_failure(result, 1, f"bomb.gz, line {line}", "is longer than 16777216 bytes", "--max-line")
    assert peak < 256 * MIB, f"{peak / MIB:.0f} MiB"
    assert not (folder / "out.paf").exists() and not (folder / "out.sam").exists()


@pytest.mark.parametrize("command", ["distance", "local", "dotplot", "extend"])
def test_every_command_has_the_bound(folder: Path, command: str) -> None:
    (folder / "long.fa").write_bytes(b">" + b"n" * 3000 + b"\nACGTACGTACGT\n")
    more = {"dotplot": ["-o", "x.html"], "extend": ["--format", "paf"]}.get(command, [])
    said = run(command, "long.fa", "one.fa", "--max-line", "2K", *more, cwd=folder)
    assert_failure(said, 1, "long.fa, line 1", "is longer than", "--max-line")
    assert_success(run(command, "long.fa", "one.fa", "--max-line", "3001", *more, cwd=folder))


LISTS = {
    "extend one.fa two.fa --pair-list list --format paf -o out": b"t\tu\n",
    "dotplot one.fa two.fa --alignments list -o out --format html": b"t\t4\t0\t4\t+\tu\t4\t0\t4\t4\t4\t60\tcg:Z:4=\n",
}


@pytest.mark.parametrize("line", LISTS)
def test_lists_have_the_bound(folder: Path, line: str) -> None:
    """Pairs of names, and alignments to draw."""
    (folder / "two.fa").write_bytes(b">u\nACGT\n")
    zipped(folder / "list", (LISTS[line], 2), (b"n", LONG))
    result, peak = measured(*line.split(), cwd=folder)
    assert_failure(result, 1, "list, line 3: a line is longer than 16777216 bytes", "--max-line")
    assert peak < 256 * MIB, f"{peak / MIB:.0f} MiB"
    assert not (folder / "out").exists()
    (folder / "list").write_bytes(LISTS[line] + b"#" * 3000 + b"\n" + LISTS[line])
    assert_failure(run(*line.split(), "--max-line", "2K", cwd=folder), 1, "list, line 2", "is longer than 2048")
    if line.startswith("extend"):  # which allows comments
        assert_success(run(*line.split(), "--max-line", "3000", cwd=folder))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("line", LISTS)
def test_a_line_that_is_as_long_as_allowed(folder: Path, line: str, end: bytes) -> None:
    (folder / "two.fa").write_bytes(b">u\nACGT\n")
    text = LISTS[line].rstrip(b"\n")
    (folder / "list").write_bytes(text + b"\r\n" + text + end)
    size = len(text) + 1
    assert_success(run(*line.split(), "--max-line", str(size), cwd=folder))
    assert_failure(run(*line.split(), "--max-line", str(size - 2), cwd=folder), 1, "list, line 1")


def test_a_matrix_has_a_bound(folder: Path) -> None:
    result = run("extend", "one.fa", "one.fa", "--matrix", "/dev/zero", cwd=folder)
    assert_failure(result, 1, "/dev/zero: is not a matrix: it is larger than 1,048,576 bytes")


def test_the_option_allows_longer_ones(folder: Path) -> None:
    assert_success(run("align", "one.fa", "one.fa", "--max-line", "2", "--format", "paf", cwd=folder))
    paf = (folder / "map.paf").read_bytes()
    (folder / "map.paf").write_bytes(paf.rstrip(b"\n") + b"\txx:Z:" + b"x" * 3000 + b"\n")
    arguments = ["align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--on-error", "skip"]
    lines = paf.count(b"\n")
    assert_failure(run(*arguments, "--max-line", "2K", cwd=folder), 1, f"map.paf, line {lines}", "longer than")
    assert_success(run(*arguments, "--max-line", "4K", cwd=folder))


@pytest.mark.parametrize("size", ["0", "-1", "x", "1e99", ""])
def test_sizes_that_are_none(folder: Path, size: str) -> None:
    assert_failure(run("align", "one.fa", "one.fa", "--max-line", size, cwd=folder), 2, "--max-line")


@pytest.mark.parametrize("form", ["fasta", "fastq", "seq"])
def test_long_sequences_take_about_twice_their_length(folder: Path, form: str) -> None:
    """Beside the memory for short sequences. The sequences are equal, so that aligning them takes no memory."""
    symbols, quality = (b"A", LONG), (b"I", LONG)
    if form == "seq":
        zipped(folder / "q.gz", (b">", 1), symbols, (b"\n<", 1), symbols, (b"\n", 1))
        inputs = ["q.gz"]
    else:
        zipped(folder / "t.gz", (b">t\n", 1), symbols, (b"\n", 1))
        start = ((b"@q\n", 1), symbols, (b"\n+\n", 1), quality) if form == "fastq" else ((b">q\n", 1), symbols)
        zipped(folder / "q.gz", *start, (b"\n", 1))
        inputs = ["q.gz", "t.gz"]
    options = ["--score-only", "--metric", "edit", "-t", "1", "-o", "o.tsv", "--engine", "cpu"]
    _, little = measured("align", "one.fa", "one.fa", *options, cwd=folder)
    result, peak = measured("align", *inputs, *options, cwd=folder)
    assert_success(result)
    assert (folder / "o.tsv").read_text().splitlines()[1].endswith("\t0")
    held = LONG * (3 if form == "fastq" else 2)
    # Usually 2.249, 2.230 and 1.500 times; what the allocator and the interpreter hold varies by some MiB.
    assert peak - little < 2.4 * held, f"{(peak - little) / held:.2f} times"
