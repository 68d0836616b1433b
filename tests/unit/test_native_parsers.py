"""Regression tests for errors that `make fuzz-native` and its review found in the native parsers."""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from wfacli._native import MappedReader, MappingGroups, Next, PairReader, Reference, max_line_bytes, set_max_line_bytes


@pytest.fixture(autouse=True)
def same_limit() -> Iterator[None]:
    """Restore the limit, which the whole process shares."""
    before = max_line_bytes()
    yield
    set_max_line_bytes(before)


def bam(names: list[bytes], target: bytes = b"t") -> bytes:
    """Make BAM with one record per name."""
    text = b"BAM\1" + struct.pack("<III", 0, 1, len(target) + 1) + target + b"\0" + struct.pack("<I", 10)
    for name in names:
        fixed = struct.pack("<iiBBHHHIiii", 0, 0, len(name) + 1, 60, 0, 1, 0, 0, -1, -1, 0)
        record = fixed + name + b"\0" + struct.pack("<I", 10 << 4)
        text += struct.pack("<I", len(record)) + record
    return text


def grouped(text: bytes, block: int, places: bool = False) -> tuple[bool, bool]:
    """Return whether the mappings are grouped, and whether a line or a record is too long."""
    groups = MappingGroups(places)
    for at in range(0, len(text), block):
        part = np.frombuffer(text[at : at + block], np.uint8)
        groups.prepare(block)[: len(part)] = part
        groups.commit(len(part))
    groups.commit(0)
    return groups.grouped, groups.too_long


def fault(reference: Reference, reads: bytes, mappings: bytes, block: int = 1 << 20) -> str:
    """Return the fault of a reader that gets reads and mappings in blocks."""
    reader = MappedReader(
        reference,
        span="mapped",
        pad=0,
        whole_reads=True,
        keep_unmapped=False,
        copy_tags=False,
        copy_group=False,
        read_group=False,
        skip=False,
        mates=False,
        mates_in_order=False,
        in_order=False,
        folder=tempfile.gettempdir(),
        spill_threshold=1 << 20,
    )
    left = {Next.NEED_QUERY: (0, reads), Next.NEED_TARGET: (1, mappings)}
    while (wants := reader.fill(1 << 40)) in left:
        stream, text = left[wants]
        part = np.frombuffer(text[:block], np.uint8)
        reader.prepare(stream, block)[: len(part)] = part
        reader.commit(stream, len(part))
        left[wants] = stream, text[block:]
    return "" if wants == Next.END else str(reader.fault())


def reference_of(length: int) -> Reference:
    """Make a reference with one target that has no file."""
    reference = Reference()
    reference.add_indexed(b"t", length, 0, 60, 61)
    return reference


@pytest.mark.parametrize("block", [1, 2, 3, 5, 1000])
def test_bam_is_bam_in_any_blocks(block: int) -> None:
    assert grouped(bam([b"a", b"b", b"a"]), block) == (False, False)
    assert grouped(bam([b"a", b"a", b"b"]), block) == (True, False)
    assert grouped(b"a\n\nb", block) == (True, False)
    assert grouped(b"B\nA\nB", block) == (False, False)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_plus_lines_are_too_long_in_any_blocks(block: int) -> None:
    set_max_line_bytes(10)
    for plus, message in [
        (b"+123456789", ""),
        (b"+1234567890", "the '+' line of a FASTQ record is longer than 10 bytes"),
    ]:
        text = b"@r\nACGT\n" + plus + b"\nIIII\n"
        reader = PairReader("targets")
        while (wants := reader.fill(1 << 40)) == Next.NEED_QUERY:
            part = np.frombuffer(text[:block], np.uint8)
            reader.prepare(0, block)[: len(part)] = part
            reader.commit(0, len(part))
            text = text[block:]
        assert (wants == Next.END and not message) or message in str(reader.fault())


@pytest.mark.parametrize("block", [1, 2, 1000])
def test_only_the_first_bytes_say_that_a_file_is_bam(block: int) -> None:
    message = fault(reference_of(10), b"", b"\n" + bam([b"a"]) + b"\n", block)
    assert "has a NUL byte, so it is neither PAF nor SAM" in message


def test_a_part_of_a_record_stays_last(tmp_path: Path) -> None:
    text = bam([b"a", b"b", b"a", b"c"])[:-5]
    groups = MappingGroups(True)
    data = np.frombuffer(text, np.uint8)
    groups.prepare(len(data))[:] = data
    groups.commit(len(data))
    groups.commit(0)
    with (tmp_path / "out").open("wb") as file:
        groups.write(data, file.fileno())
    assert (tmp_path / "out").read_bytes() == bam([b"a", b"a", b"b", b"c"])[:-5]


@pytest.mark.parametrize("places", [False, True])
def test_no_header_follows_a_mapping_without_a_name(places: bool) -> None:
    assert grouped(b"#a\n#b\n#a\n", 1000, places) == (True, False)
    assert grouped(b"\t1\n#a\n#b\n#a\n", 1000, places) == (False, False)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_names_of_targets_are_too_long_in_any_blocks(block: int) -> None:
    set_max_line_bytes(100)
    text = bam([b"a"], b"t" * 101)
    assert grouped(text, block) == (True, True)
    assert "a target's name in BAM's header is longer than 100 bytes" in fault(reference_of(10), b"", text, block)
    assert grouped(bam([b"a"], b"t" * 99), block) == (True, False)


@pytest.mark.parametrize("block", [1, 1000])
def test_bam_records_without_their_numbers_are_too_short(block: int) -> None:
    set_max_line_bytes(8)
    text = bam([]) + struct.pack("<I", 9) + bytes(9 + 32)
    assert "a BAM record is too short" in fault(reference_of(10), b"", text, block)


@pytest.mark.parametrize("number", [(1 << 62), (1 << 63) - 1, 1 << 63, 1 << 80])
def test_positions_that_no_sum_can_hold(number: int) -> None:
    sam = b"r\t0\tt\t%d\t60\t10M\t*\t0\t0\t*\t*\n" % number
    assert f"the position is '{number}', which is no number" in fault(reference_of(1 << 61), b"", sam)


def test_places_that_no_file_has() -> None:
    reference = Reference()
    most = (1 << 62) - 1
    for place in [(most, 0, 1, 3), (most, most, 1, 2), (1, (1 << 63) - 2, 1, 2), ((1 << 63) - 1, 0, 1, 2)]:
        with pytest.raises(ValueError, match="no place"):
            reference.add_indexed(b"t", *place)
    reference.add_indexed(b"t", most, 0, 60, 61)


def test_windows_longer_than_a_sequence_may_be(tmp_path: Path) -> None:
    (tmp_path / "ref").write_bytes(b">t\n")
    reference = reference_of(1 << 33)
    descriptor = os.open(tmp_path / "ref", os.O_RDONLY)
    reference.use_file(descriptor)
    os.close(descriptor)
    paf = b"r\t4\t0\t4\t+\tt\t%d\t0\t%d\t4\t4\t60\n" % (1 << 33, (1 << 31) + (1 << 30))
    message = "the mapping spans 3221225472 bases of its target; the maximum is 2147483647"
    assert message in fault(reference, b">r\nACGT\n", paf)
