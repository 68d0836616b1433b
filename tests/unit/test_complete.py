"""Detection of incomplete files written by htslib."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pysam
import pytest

from wfacli.config import Container, OutputSpec
from wfacli.errors import OutputError
from wfacli.io.write import cram_reference, hts
from wfacli.io.write.complete import LineCount, fault_of

HEADER = "@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:1000\n"


def written(folder: Path, records: int) -> str:
    (folder / "ref.fa").write_text(f">chr1\n{'A' * 1000}\n")
    path = str(folder / "x.cram")
    header = pysam.AlignmentHeader.from_text(HEADER)
    with pysam.AlignmentFile(path, "wc", header=header, reference_filename=str(folder / "ref.fa")) as file:
        for number in range(records):
            line = f"r{number}\t0\tchr1\t{1 + number % 900}\t60\t4M\t*\t0\t0\tACGT\t*"
            file.write(pysam.AlignedSegment.fromstring(line, header))
    return path


@pytest.mark.parametrize("records", [0, 1, 40_000])
def test_records_are_counted(tmp_path: Path, records: int) -> None:
    path = written(tmp_path, records)
    assert fault_of(path, records) == fault_of(path, None) == ""
    assert fault_of(path, records + 1) == f"it contains {records:,} of {records + 1:,} records"


def test_what_is_cut_short_or_no_such_file(tmp_path: Path) -> None:
    path = Path(written(tmp_path, 30_000))
    whole = path.read_bytes()
    for size in (0, 1, 27, 1000, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert fault_of(str(path), 30_000)
        assert fault_of(str(path), None)
    end = whole[-38:]
    for damaged in (whole[: len(whole) // 2] + end, whole[:26] + end, np.random.default_rng(1).bytes(5000) + end):
        path.write_bytes(damaged)
        assert fault_of(str(path), 30_000)


def test_records_are_the_lines_behind_a_header() -> None:
    text = (HEADER + "r1\t@\n" + "@CO no header\n" + "r2\n").encode()
    for step in range(1, len(text)):
        count = LineCount()
        for at in range(0, len(text), step):
            count.add(memoryview(text[at : at + step]))
        assert count.records == 3


@pytest.mark.parametrize("sort", [False, True])
def test_a_record_that_htslib_leaves_out_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: bool
) -> None:
    (tmp_path / "ref.fa").write_text(f">chr1\n{'A' * 1000}\n")
    lossy = "import os, subprocess\nkept = sys.stdin.buffer.read().splitlines(True)[:-1]\nreader, writer = os.pipe()\n"
    lossy += "os.write(writer, b''.join(kept))\nos.close(writer)\nos.dup2(reader, 0)\n"
    for code, fault in ((hts._CHILD, ""), (lossy + hts._CHILD, "it contains 1 of 2 records")):
        monkeypatch.setattr(hts, "_CHILD", code)
        path = tmp_path / "x.cram"
        spec = OutputSpec(container=Container.CRAM, sort=sort)
        out = hts.HtsOutput(str(path), spec, 1, str(tmp_path / "ref.fa"))
        out.write(HEADER.encode())
        for name in "ab":
            out.write(f"{name}\t0\tchr1\t7\t60\t4M\t*\t0\t0\tACGT\t*\n".encode())
        if not fault:
            out.finish()
            path.unlink()
            continue
        with pytest.raises(OutputError, match=fault):
            out.finish()
        out.abandon()
        assert not path.exists()


@pytest.mark.parametrize("name", ["a\nb.fa", "a\tb.fa"])
def test_a_header_that_htslib_cannot_parse_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    """Exit status 0, the end and the number of records do not prove that a file can be opened."""
    monkeypatch.setattr(cram_reference, "_CONTROL", re.compile(r"(?!)"))
    (tmp_path / name).write_text(f">chr1\n{'A' * 1000}\n")
    out = hts.HtsOutput(str(tmp_path / "x.cram"), OutputSpec(container=Container.CRAM), 1, str(tmp_path / name))
    out.write(HEADER.encode())
    with pytest.raises(OutputError, match=r"x\.cram: htslib ended without an error, but it cannot be read back"):
        out.finish()
    out.abandon()
    assert not (tmp_path / "x.cram").exists()
    assert capfd.readouterr().err == ""
