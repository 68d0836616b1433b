"""Whether a run over mapped reads opens a GPU at once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from wfacli.config import Config, EngineName
from wfacli.core import tuning
from wfacli.io.mapper.mapped import MappedFiles
from wfacli.run.gpu_worth import opens_later_for_reads

COUNT = 300


def reads(length: int, fastq: bool = True) -> bytes:
    one = f"@r\n{'A' * length}\n+\n{'I' * length}\n" if fastq else f">r\n{'A' * length}\n"
    return one.encode() * (COUNT * 150 // length)


def later(folder: Path, content: bytes, threads: int = 4, **options: object) -> bool:
    (folder / "reads").write_bytes(content)
    config = Config(engine=EngineName.AUTO, threads=threads, **options)
    return opens_later_for_reads(config, MappedFiles(str(folder / "reads"), "ref.fa", "map.paf"))


@pytest.fixture(autouse=True)
def _price(monkeypatch):
    # The alignment of this many bases, on two threads that have a core each, takes what it takes to open a GPU.
    seconds = 2 * 150 * COUNT * tuning.CPU_MAPPED_BASE / 2
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", seconds)


def test_long_reads_open_a_gpu_where_many_bases_are_to_be_aligned(tmp_path):
    assert not later(tmp_path, reads(3000))
    assert later(tmp_path, reads(3000), threads=16)


def test_short_reads_take_little_time(tmp_path):
    assert later(tmp_path, reads(150))
    assert later(tmp_path, gzip.compress(reads(150)))
    assert not later(tmp_path, 20 * reads(150))
    assert not later(tmp_path, reads(3000) + reads(150))


def test_what_cannot_be_looked_at_is_assumed_to_be_long(tmp_path):
    assert not later(tmp_path, reads(150, fastq=False) * 2)
    assert not later(tmp_path, b"BAM\1" + bytes(150 * COUNT))
    missing = MappedFiles(str(tmp_path / "none"), "ref.fa", "map.paf")
    assert not opens_later_for_reads(Config(engine=EngineName.AUTO, threads=4), missing)


def test_users_who_ask_for_a_gpu_get_it_at_once(tmp_path):
    assert not later(tmp_path, reads(150), devices=(0, 1))
    assert not later(tmp_path, reads(150), kernel="gpu-dp-128")
