"""Indexes beside sorted files; htslib's own program decides where positions exceed the default index format."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pysam
import pytest

from wfacli.config import Container, OutputSpec
from wfacli.errors import OutputError
from wfacli.io.write.hts import HtsOutput

RECORD = "r\t0\tchr1\t{}\t60\t4M\t*\t0\t0\tACGT\t*\n"


def written(path: Path, length: int, position: int) -> HtsOutput:
    """Write a BAM file with one record, without its end."""
    spec = OutputSpec(container=Container.BAM, sort=True, index=True)
    out = HtsOutput(str(path), spec, 1, "")
    out.write(f"@SQ\tSN:chr1\tLN:{length}\n{RECORD.format(position)}".encode())
    return out


@pytest.mark.parametrize(("length", "suffix"), [(1 << 29, ".bai"), ((1 << 29) + 1, ".csi"), (600_000_000, ".csi")])
def test_the_index_of_long_targets(length: int, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "x.bam"
    for left in (".bai", ".csi"):  # left by an earlier run
        Path(f"{path}{left}").write_bytes(b"old")
    written(path, length, length - 3).finish()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.bam", f"x.bam{suffix}"]
    with pysam.AlignmentFile(str(path)) as file:
        assert [r.query_name for r in file.fetch("chr1", length - 10, length)] == ["r"]


def test_an_index_that_cannot_be_written_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.bam"
    out = written(path, 100, 1)
    Path(f"{path}.bai").mkdir()
    with pytest.raises(OutputError, match=r"x\.bam is complete, but has no index"):
        out.finish()
    assert out.abandon() is None
    pysam.quickcheck(str(path))


@pytest.mark.parametrize("free", [0, 1 << 30])
def test_a_disk_that_is_full_is_named_where_htslib_gives_another_reason(
    tmp_path: Path, monkeypatch, free: int
) -> None:
    out = written(tmp_path / "x.bam", 100, 1)
    out.write(b"no record\n")
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))
    with pytest.raises(OutputError, match="samtools sort: ") as failure:
        out.finish()
    assert (f"(no space left in {tmp_path})" in str(failure.value)) == (not free)
    out.abandon()
