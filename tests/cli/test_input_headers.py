"""Headers of reads and mappings: malformed lines are errors, and long headers take linear time and little memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import pysam
import pytest

from .support import assert_failure, assert_success, header_of, random_symbols, run
from .test_long_lines import measured, zipped

MIB = 1 << 20
SQ = "@SQ\tSN:c\tLN:200\n"
BASES = random_symbols(200, 5)
MAPPED = f"r\t0\tc\t51\t60\t100M\t*\t0\t0\t{BASES[50:150]}\t*\n"
# Lines, and a part of the message about the last one.
MALFORMED = {
    "@PG\tID:a\tgarbage\n": "garbage is not a field TAG:VALUE",
    "@PG\tID:a\t\n": "a field is empty",
    "@PG\tID:a\t\tPN:x\n": "a field is empty",
    "@PG\tID:a\tX:b\n": "X:b is not a field",
    "@PG\tID:a\tPN:\n": "PN: is not a field",
    "@PG\tID:a\tPN:x\x1by\n": "PN:x\\x1by is not a field",
    "@PG\tPN:a\n": "@PG: ID is missing",
    "@PG\tID:a\tPN:x\tPN:y\n": "PN occurs twice",
    "@PG\tID:a\n@PG\tID:b\n@PG\tID:a\tPN:x\n": "another line has this ID",
    "@RG\tSM:x\n": "@RG: ID is missing",
    "@RG\tID:a\tgarb\n": "garb is not a field",
    "@RG\tID:a\n@RG\tID:a\tSM:x\n": "another line has this ID",
    "@HD\tVN:1.6\tunsorted\n": "unsorted is not a field",
    "@CO\tany \t text:\t\n@a1\tID:x\n": "@a1",
}
OUTPUTS = ["o.sam", "o.bam", "o.cram"]


def as_bam(text: str, header: str) -> bytes:
    """Return a BAM file of SAM records, with a header that htslib would not write."""
    file = Path("valid.bam")
    with pysam.AlignmentFile(str(file), "wb", header=pysam.AlignmentHeader.from_text(SQ)) as out:
        for line in text.splitlines():
            out.write(pysam.AlignedSegment.fromstring(line, out.header))
    stored = gzip.decompress(file.read_bytes())
    old = int.from_bytes(stored[4:8], "little")
    return stored[:4] + len(header).to_bytes(4, "little") + header.encode() + stored[8 + old :]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.fa").write_text(f">c\n{BASES}\n")
    (tmp_path / "reads.fa").write_text(f">r\n{BASES[50:150]}\n")
    (tmp_path / "map.paf").write_text("r\t100\t0\t100\t+\tc\t200\t50\t150\t100\t100\t60\n")
    return tmp_path


@pytest.mark.parametrize("lines", MALFORMED)
def test_a_malformed_line_of_mappings(folder: Path, lines: str) -> None:
    (folder / "m.sam").write_text(lines + SQ + MAPPED)
    (folder / "m.bam").write_bytes(as_bam(MAPPED, SQ + lines))
    for mappings, before in (("m.sam", 0), ("m.bam", 1)):
        for output in OUTPUTS[: None if lines.startswith("@RG\tSM") else 1]:
            result = run("align", "reads.fa", "ref.fa", "--mappings", mappings, "-o", output, "-q", cwd=folder)
            place = f"{mappings}, line {before + lines.count(chr(10))}: "
            assert_failure(result, 1, place, MALFORMED[lines], "SAM specification")
            assert not list(folder.glob("o.*"))
        paf = run("align", "reads.fa", "ref.fa", "--mappings", mappings, "--format", "paf", "-q", cwd=folder)
        assert_success(paf)
        assert len(paf.rows) == 1


@pytest.mark.parametrize("form", ["sam", "bam"])
def test_a_malformed_line_of_reads(folder: Path, form: str) -> None:
    """samtools refuses the whole file in the meantime, but the line is named."""
    header = SQ + "@RG\tID:a\n@RG\tID:a\tSM:x\n"
    path = folder / f"reads.{form}"
    path.write_bytes((header + MAPPED).encode() if form == "sam" else as_bam(MAPPED, header))
    for output in OUTPUTS:
        result = run("align", path.name, "ref.fa", "--mappings", "map.paf", "-o", output, "-q", cwd=folder)
        assert_failure(result, 1, f"reads.{form}, line 3: header line @RG: another line has this ID")
        assert not list(folder.glob("o.*"))


def test_lines_that_are_allowed_are_kept(folder: Path) -> None:
    group = "@RG\tID:a\tDS:\u00fc: "
    header = f"@HD\tVN:1.6\r\n{group}\r\n{group}\n@PG\tID:x\n@CO\t\n@CO\tany\t\tthing\n@zz\txx:1\n"
    (folder / "m.sam").write_bytes((header + MAPPED).encode())
    for output in OUTPUTS:
        assert_success(run("align", "reads.fa", "ref.fa", "--mappings", "m.sam", "-o", output, "-q", cwd=folder))
        assert pysam.view("-H", "-T", "ref.fa", output)
    lines = header_of((folder / "o.sam").read_bytes())
    assert [line for line in lines if line[:3] in ("@RG", "@PG")][:-1] == [group, "@PG\tID:x"]


@pytest.mark.parametrize("line", [b"@CO\tx\n", b"@SQ\tSN:contig%08d\tLN:1234\n" % 5], ids=["CO", "SQ"])
@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
def test_a_long_header_takes_little_memory(folder: Path, line: bytes, packed: bool) -> None:
    size = 48 * MIB
    arguments = ["align", "reads.fa", "ref.fa", "-o", "out.bam", "-q", "-t", "1", "--mappings"]
    (folder / "short.sam").write_text(MAPPED)
    _, little = measured(*arguments, "short.sam", cwd=folder)
    parts = (line, size // len(line)), (MAPPED.encode(), 1)
    if packed:
        zipped(folder / "long.sam", *parts)
    else:
        (folder / "long.sam").write_bytes(b"".join(part * times for part, times in parts))
    result, peak = measured(*arguments, "long.sam", cwd=folder)
    assert_success(result)
    assert peak - little < 2.75 * size, f"{(peak - little) / size:.2f} times"


def test_the_size_of_a_header_has_a_bound(folder: Path) -> None:
    line = "@CO\t" + "x" * 96 + "\n"
    (folder / "m.sam").write_text(line * 700 + MAPPED)
    arguments = ["align", "reads.fa", "ref.fa", "--mappings", "m.sam", "--format", "paf", "-q"]
    result = run(*arguments, "--max-line", "1K", cwd=folder)
    assert_failure(result, 1, "m.sam: has a header of more than 65,536 bytes: raise --max-line")
    assert_success(run(*arguments, "--max-line", "2K", cwd=folder))
