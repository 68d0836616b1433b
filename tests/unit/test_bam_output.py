"""BAM of single records: its header and index, and what is left of it if it cannot be completed."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pysam
import pytest

from tests.htslib import converted, parts_of
from tests.unit.test_format import aligned
from wfacli._native import TargetIds
from wfacli.config import Config, Container, OutputSpec
from wfacli.core.batch import AlignmentBatch, Mapped, PairBatch
from wfacli.core.interruption import raise_or_defer
from wfacli.errors import OutputError
from wfacli.io.read.memory import pairs_of
from wfacli.io.write import bam
from wfacli.io.write.bam import BamOutput, SortedOutput
from wfacli.io.write.format import Formatter

HEADER = "@HD\tVN:1.6\tSO:unsorted\tGO:query\n@SQ\tSN:chr0\tLN:9\n@SQ\tSN:chr1\tLN:{}\tM5:x\n@CO\tSO:unsorted\n"
LONGEST = (1 << 31) - 1
RECORD = "r\t0\tchr1\t{}\t60\t4M\t*\t0\t0\tACGT\t*\n"


def encoded(folder: Path, length: int, position: int) -> bytes:
    """Return the record as BAM."""
    sam = folder / "one.sam"
    sam.write_text(HEADER.format(length) + RECORD.format(position))
    _, record = converted(sam)
    for made in folder.glob("one*"):
        made.unlink()
    return record


def written(path: Path, length: int, position: int) -> SortedOutput:
    """Write a sorted BAM file with one record, without its end."""
    record = encoded(path.parent, length, position)
    out = SortedOutput(str(path), OutputSpec(container=Container.BAM, sort=True, index=True), 1)
    out.write(HEADER.format(length).encode())
    out.begin_records()
    key = 1 << 33 | position << 1
    out.add(np.frombuffer(struct.pack("<IQ", len(record), key) + record, np.uint8))
    return out


@pytest.mark.parametrize(("length", "suffix"), [(1 << 29, ".bai"), ((1 << 29) + 1, ".csi"), ((1 << 31) - 1, ".csi")])
def test_the_index_of_long_targets(length: int, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "x.bam"
    for left in (".bai", ".csi"):  # left by an earlier run
        Path(f"{path}{left}").write_bytes(b"old")
    written(path, length, length - 3).finish()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.bam", f"x.bam{suffix}"]
    with pysam.AlignmentFile(str(path)) as file:
        assert [r.query_name for r in file.fetch("chr1", length - 10, length)] == ["r"]
        assert [s.total for s in file.get_index_statistics()] == [0, 1]


def test_the_header_is_that_of_samtools_sort(tmp_path: Path) -> None:
    written(tmp_path / "x.bam", 100, 1).finish()
    (tmp_path / "y.sam").write_text(HEADER.format(100) + RECORD.format(1))
    pysam.sort("--no-PG", "-o", str(tmp_path / "y.bam"), str(tmp_path / "y.sam"))
    assert parts_of(tmp_path / "x.bam") == parts_of(tmp_path / "y.bam")


def test_a_signal_at_the_end_leaves_no_file_without_its_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_file = Path.replace

    def interrupt() -> None:
        raise KeyboardInterrupt

    def interrupted(self: Path, target: Path) -> Path:
        renamed = replace_file(self, target)
        raise_or_defer(interrupt)
        return renamed

    out = written(tmp_path / "x.bam", 100, 1)
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        out.finish()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.bam", "x.bam.bai"]


def test_an_index_that_cannot_be_written_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.bam"
    out = written(path, 100, 1)
    Path(f"{path}.bai").mkdir()
    with pytest.raises(OutputError, match=r"x\.bam is complete, but has no index: "):
        out.finish()
    assert out.abandon() is None
    pysam.quickcheck(str(path))


def test_what_is_abandoned_is_a_complete_file(tmp_path: Path) -> None:
    partial = written(tmp_path / "x.bam", 100, 1).abandon()
    assert partial and [p.name for p in tmp_path.iterdir()] == [partial.name]
    pysam.quickcheck(str(partial))
    assert pysam.view("-c", str(partial)) == "1\n"
    assert written(tmp_path / "y.bam", 100, 1).abandon(worth=False) is None


def test_nothing_is_left_of_what_could_not_be_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = written(tmp_path / "x.bam", 100, 1)

    def interrupted(piece: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(out._sorter, "merged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        out.finish()
    assert out.abandon() is None and out.broken
    assert not list(tmp_path.iterdir())


def unsorted(path: Path, records: int) -> BamOutput:
    """Write a BAM file with a batch of equal records, without its end."""
    record = encoded(path.parent, 100, 1)
    out = BamOutput(str(path), OutputSpec(container=Container.BAM), 2)
    out.write(HEADER.format(100).encode())
    out.begin_records()
    out.add(out.packed(np.frombuffer(record * records, np.uint8)))
    return out


def test_what_is_abandoned_in_the_order_of_the_records_is_complete_too(tmp_path: Path) -> None:
    partial = unsorted(tmp_path / "x.bam", 3).abandon()
    assert partial and [p.name for p in tmp_path.iterdir()] == [partial.name]
    pysam.quickcheck(str(partial))
    assert pysam.view("-c", str(partial)) == "3\n"


def test_what_cannot_be_written_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = unsorted(tmp_path / "x.bam", 3)

    def full(descriptor: int, pieces: list[memoryview]) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OutputError, match="No space left on device"):
        patched.setattr("os.writev", full)
        out.add(b"more")
    partial = out.abandon()
    assert partial and out.broken and not partial.read_bytes().endswith(bam.END)


def test_large_batches_are_compressed_by_several_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unsorted(tmp_path / "x.bam", 30_000).finish()
    monkeypatch.setattr(bam, "_LARGE", 1000)
    monkeypatch.setattr(bam, "_PIECE", 2 * bam.BLOCK_BYTES)
    unsorted(tmp_path / "y.bam", 30_000).finish()
    assert (tmp_path / "x.bam").read_bytes() == (tmp_path / "y.bam").read_bytes()


FAR = f"@SQ\tSN:pair1\tLN:{LONGEST}\n".encode()


def far(t_offset: int, clip: int = 0) -> tuple[PairBatch, AlignmentBatch]:
    """Return a read of 8 bases at a position of a long target, with clipped bases that the record leaves out."""
    batch = pairs_of(["ACGTACGT"], ["ACGTACGT"])
    one, zero = np.ones(1, np.int32), np.zeros(1, np.int32)
    mapped = Mapped(
        t_offset=np.array([t_offset]),
        t_total=np.array([LONGEST]),
        read_start=-np.ones(1, np.int64),
        clip_begin=clip * one,
        clip_end=zero,
        first=zero,
        sam_flags=zero,
        mapq=np.zeros(1, np.uint8),
        inner=np.array([[0, 8, 0, 8]], np.int32),
        room=np.array([[0, 8, 0, 8]], np.int32),
        tags=np.zeros(1, np.int64),
        tags_len=zero,
    )
    return replace(batch, mapped=mapped), aligned(batch)


def formatted(container: Container, t_offset: int, clip: int = 0) -> bytes:
    formatter = Formatter.of(Config(output=OutputSpec(container=container)), mapped=True)
    batch, found = far(t_offset, clip)
    targets = TargetIds([np.frombuffer(FAR, np.uint8)])
    targets.number()
    return bytes(formatter.format(batch, found, targets)[0])


@pytest.mark.parametrize("t_offset", [0, (1 << 14) - 4, (1 << 29) - 8, (1 << 29) - 4, 1 << 29, 1 << 30, LONGEST - 8])
def test_records_far_along_a_target(tmp_path: Path, t_offset: int) -> None:
    sam = tmp_path / "x.sam"
    sam.write_bytes(FAR + formatted(Container.SAM, t_offset))
    assert formatted(Container.BAM, t_offset) == converted(sam)[1]


@pytest.mark.parametrize(
    ("t_offset", "clip", "words"), [(1 << 31, 0, "position is beyond 2.31"), (0, 1 << 28, "a clip of more than 2.28")]
)
def test_what_bam_cannot_hold_is_an_error(t_offset: int, clip: int, words: str) -> None:
    formatted(Container.SAM, t_offset, clip)
    with pytest.raises(OutputError, match=f"pair1: it.* {words}.*, which BAM cannot hold; SAM can"):
        formatted(Container.BAM, t_offset, clip)
