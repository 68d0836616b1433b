"""A header with many targets is written in large blocks."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pysam
import pytest

from tests.cli.conftest import inside as inside
from tests.cli.support import Result, assert_failure, assert_success, header_of, rows_of, run, start
from wfacli.io.read import faidx
from wfacli.io.read.sources import Source
from wfacli.io.write import output

TARGETS = 30_000
SYMBOLS = "ACGTTGCAAC"
PAF = "r\t10\t0\t10\t+\tt_20000\t10\t0\t10\t10\t10\t60\n"
LINES = {"mapped": "align q.fa many.fa --mappings map.paf", "pairs": "align queries.fa many.fa"}
MOST = 12  # blocks of about 4,000 lines and pieces of records, instead of a write per target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.fa").write_text(f">r\n{SYMBOLS}\n")
    (tmp_path / "many.fa").write_text("".join(f">t_{i}\n{SYMBOLS}\n" for i in range(TARGETS)))
    (tmp_path / "queries.fa").write_text("".join(f">q_{i}\n{SYMBOLS}\n" for i in range(TARGETS)))
    (tmp_path / "map.paf").write_text(PAF)
    return tmp_path


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("name", ["x.sam", "x.bam"])
def test_a_header_takes_few_writes(
    inside: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    sizes: list[int] = []
    write = os.writev

    def counting(descriptor: int, pieces: list[memoryview]) -> int:
        if descriptor > 2:
            sizes.append(sum(map(len, pieces)))
        return write(descriptor, pieces)

    monkeypatch.setattr(output.os, "writev", counting)
    result = inside(*LINES[kind].split(), "-o", name, "-t", "1", cwd=folder)
    assert_success(result)
    assert len(sizes) <= MOST, len(sizes)
    if name == "x.sam":
        text = (folder / name).read_bytes()
        assert sum(sizes) == len(text)
        assert [line for line in header_of(text) if line.startswith("@SQ")] == [
            f"@SQ\tSN:t_{i}\tLN:10" for i in range(TARGETS)
        ]
        assert {row[2] for row in rows_of(text)} == ({"t_20000"} if kind == "mapped" else set(t_names()))
    else:
        with pysam.AlignmentFile(str(folder / name)) as file:
            assert list(file.references) == t_names()


def t_names() -> list[str]:
    return [f"t_{i}" for i in range(TARGETS)]


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="needs /proc")  # noqa: PTH110
def test_the_kernel_is_asked_few_times(folder: Path) -> None:
    """Test the whole command, by the kernel's count of its system calls."""
    process = start(*LINES["mapped"].split(), "-o", "x.sam", "-t", "1", "-q", cwd=folder)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    calls = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
    assert process.wait() == 0
    assert int(calls["syscw"]) < 200


def test_a_target_that_sam_cannot_name_behind_many(folder: Path) -> None:
    text = (folder / "many.fa").read_text()
    (folder / "many.fa").write_text(text.replace(">t_29000\n", ">=t_29000\n"))
    result = run(*LINES["mapped"].split(), "-o", "x.sam", cwd=folder)
    assert_failure(result, 1, "many.fa", "=t_29000")
    assert not (folder / "x.sam").exists()


def test_a_name_that_occurs_twice_among_many(folder: Path) -> None:
    with (folder / "many.fa").open("a") as file:
        file.write(f">t_17\n{SYMBOLS}\n")
    assert_failure(run(*LINES["mapped"].split(), "-o", "x.sam", cwd=folder), 1, "many.fa", "two sequences", "t_17")


@pytest.mark.parametrize("shorter", [True, False])
def test_an_index_of_many_short_sequences_is_not_checked(tmp_path: Path, shorter: bool) -> None:
    """Reading them is faster than comparing each header with the index."""
    with (tmp_path / "many.fa").open("w") as fasta, (tmp_path / "many.fa.fai").open("w") as index:
        bases = "A" * (50 if shorter else 4100)
        for i in range(faidx._MANY + 1 if shorter else 3):
            fasta.write(f">{i}\n")
            index.write(f"{i}\t{len(bases)}\t{fasta.tell()}\t{len(bases)}\t{len(bases) + 1}\n")
            fasta.write(f"{bases}\n")
    with closing(Source(str(tmp_path / "many.fa"))) as source:
        assert (faidx.indexed(source) is None) == shorter
