"""Errors of htslib, which writes CRAM, name the reason that it does not give."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from wfacli.config import Container, OutputSpec
from wfacli.errors import OutputError
from wfacli.io.write.hts import HtsOutput


@pytest.mark.parametrize("free", [0, 1 << 30])
def test_a_disk_that_is_full_is_named_where_htslib_gives_another_reason(
    tmp_path: Path, monkeypatch, free: int
) -> None:
    (tmp_path / "ref.fa").write_text(">chr1\nACGT\n")
    spec = OutputSpec(container=Container.CRAM, sort=True)
    out = HtsOutput(str(tmp_path / "x.cram"), spec, 1, str(tmp_path / "ref.fa"))
    out.write(b"@SQ\tSN:chr1\tLN:4\nno record\n")
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))
    with pytest.raises(OutputError, match="samtools sort: ") as failure:
        out.finish()
    assert (f"(no space left in {tmp_path})" in str(failure.value)) == (not free)
    out.abandon()
