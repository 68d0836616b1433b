"""Parts of split reads that are extended into what their neighbours have left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mapped.test_ends import JUNK, REFERENCE, mapping, records
from tests.mapped.test_split_parts import on_other
from tests.mapped.world import turned

OTHER = f">u\n{JUNK}\n"
Part = tuple[int, int, int]  # where the mapped part begins and ends on the read, and begins on the target


def mappings(length: int, strand: str, *parts: tuple[str, Part]) -> str:
    """Return mappings of a read to the targets t and u; all are on the strand that the read is."""
    paf = ""
    for target, (begin, end, at) in parts:
        query = (begin, end) if strand == "+" else (length - end, length - begin)
        place = (at, at + end - begin)
        line = mapping("r", length, query, place) if target == "t" else on_other("r", length, query, place, len(JUNK))
        paf += line.replace("\t+\t", f"\t{strand}\t")
    return paf


def found(folder: Path, read: str, strand: str, *parts: tuple[str, Part]) -> list[str]:
    """Return target, position and CIGAR of each record."""
    symbols = read if strand == "+" else turned(read)
    rows = records(folder, {"r": symbols}, mappings(len(read), strand, *parts), extra=OTHER)
    return [f"{row[2]} {row[3]} {row[5]}" for row in rows]


@pytest.mark.parametrize("strand", "+-")
def test_a_mapping_that_aligns_nothing_is_no_limit(strand: str, tmp_path: Path) -> None:
    """It has 1,190 bases, of which the part beside it may first have 500."""
    read = REFERENCE[2_000:5_000]
    part, wrong = ("t", (10, 200, 2_010)), ("u", (210, 1_400, 300))
    assert found(tmp_path, read, strand, part, wrong) == ["t 2001 3000="]


@pytest.mark.parametrize("strand", "+-")
def test_both_neighbours_meet_where_a_mapping_aligns_nothing(strand: str, tmp_path: Path) -> None:
    left, right = REFERENCE[2_000:3_500], REFERENCE[9_002:10_502]
    parts = ("t", (10, 300, 2_010)), ("u", (500, 2_500, 300)), ("t", (2_700, 2_990, 10_202))
    assert found(tmp_path, left + right, strand, *parts) == ["t 2001 1500=1500S", "t 9003 1500S1500="]


@pytest.mark.parametrize("strand", "+-")
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_mapping_that_aligns_a_part_limits_up_to_there(side: str, strand: str, tmp_path: Path) -> None:
    """1,000 of the 1,600 mapped bases are not where the mapping has them."""
    own, other = REFERENCE[2_000:4_000], JUNK[1_302:1_902]
    if side == "right":
        read, parts = own + other, (("t", (10, 500, 2_010)), ("u", (1_000, 2_600, 302)))
        expected = ["t 2001 2000=600S", "u 1303 2000S600="]
    else:
        read, parts = other + own, (("t", (2_100, 2_590, 3_500)), ("u", (0, 1_600, 1_302)))
        expected = ["t 2001 600S2000=", "u 1303 600=2000S"]
    assert found(tmp_path, read, strand, *parts) == expected


def test_records_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    """Reads without freed ends, before and behind one that has some."""
    read, plain = REFERENCE[2_000:5_000], REFERENCE[6_000:8_000] + JUNK[:1_000]
    split = mapping("{}", 3_000, (10, 1_990), (6_010, 7_990)) + on_other(
        "{}", 3_000, (2_010, 2_990), (10, 990), len(JUNK)
    )
    freed = mappings(3_000, "+", ("t", (10, 200, 2_010)), ("u", (210, 1_400, 300)))
    reads = {"a": plain, "r": read, "b": plain}
    paf = split.format("a", "a") + freed + split.format("b", "b")
    outputs = [
        records(tmp_path, reads, paf, *options, extra=OTHER)
        for options in ((), ("--batch-bases", "1000"), ("--batch-bases", "20000", "-t", "2"))
    ]
    assert [record[5] for record in outputs[0]] == [
        "2000=1000S", "2000S1000=", "3000=", "2000=1000S", "2000S1000=",
    ]  # fmt: skip
    assert outputs[1] == outputs[0] and outputs[2] == outputs[0]
