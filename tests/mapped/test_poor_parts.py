"""Records of reads whose mappings are poor: what is kept of them, and what is not written twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import assert_success, run
from tests.mapped.test_ends import JUNK, REFERENCE, mapping, records
from tests.mapped.test_split_parts import on_other
from tests.mapped.world import turned

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))


def secondary(line: str) -> str:
    return line.replace("tp:A:P", "tp:A:S")


def test_a_secondary_record_at_the_place_of_another_is_left_out(tmp_path: Path) -> None:
    """Mappers have several chains for one place in a tandem repeat."""
    read = REFERENCE[5_000:6_000]
    paf = mapping("r", 1_000, (10, 990), (5_010, 5_990)) + secondary(mapping("r", 1_000, (20, 900), (5_020, 5_900)))
    (record,) = records(tmp_path, {"r": read}, paf)
    assert (record[1], record[5]) == ("0", "1000=")


@pytest.mark.parametrize("strand", "+-")
def test_a_secondary_record_that_becomes_primary_has_the_read(strand: str, tmp_path: Path) -> None:
    """The primary mapping aligns no base."""
    read, length = "A" * 500 + REFERENCE[2_000:3_000], 1_500
    paf = on_other("r", length, (200, 213), (130, 146), 500)
    query = (510, 1_490)
    if strand == "-":
        read = "A" * 500 + turned(REFERENCE[2_000:3_000])
    paf += secondary(mapping("r", length, query, (2_010, 2_990), strand))
    (record,) = records(tmp_path, {"r": read}, paf, preset="asm5", extra=f">u\n{'C' * 500}\n")
    clip = "500S1000=" if strand == "+" else "1000=500S"
    assert (record[1], record[2], record[5]) == ("0" if strand == "+" else "16", "t", clip)
    assert record[9] == (read if strand == "+" else turned(read))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_reads_whose_records_were_wrong(path: Path, tmp_path: Path) -> None:
    """Each file says what was wrong, and has the records (flag, target, position, CIGAR) as they should be."""
    found = json.loads(path.read_text())
    files = {
        "ref.fa": "".join(f">{name}\n{bases}\n" for name, bases in found["reference"].items()),
        "reads.fa": f">r\n{found['read']}\n",
        "map.paf": "".join(f"r\t{line}\n" for line in found["mappings"]),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    options = ("--mappings", "map.paf", "--preset", found["preset"], "--clip", "soft", "--no-header", "--check", "-q")
    options += tuple(found.get("options", ()))
    result = run("align", "reads.fa", "ref.fa", *options, cwd=tmp_path)
    assert_success(result)
    assert [[row[k] for k in (1, 2, 3, 5)] for row in result.rows] == found["records"]


def test_a_part_that_was_not_mapped_is_not_where_another_was(tmp_path: Path) -> None:
    """The extension of a short mapped part jumps to a copy of bases that are mapped elsewhere."""
    unit, rest = REFERENCE[3_000:3_089], REFERENCE[8_000:8_036]
    other = JUNK[:1_000] + unit + JUNK[1_000:1_125] + rest + JUNK[1_125:2_000]
    paf = mapping("r", 125, (4, 89), (3_004, 3_089)) + on_other("r", 125, (89, 122), (1_214, 1_247), len(other))
    found = records(tmp_path, {"r": unit + rest}, paf, preset="sr", extra=f">u\n{other}\n")
    assert [(record[2], record[5]) for record in found] == [("t", "89=36S"), ("u", "89S36=")]


def test_a_long_gap_between_good_parts_stays(tmp_path: Path) -> None:
    """The gap costs more than the parts score; the mapper found both."""
    read = REFERENCE[1_000:4_000] + REFERENCE[14_000:17_000]
    (record,) = records(tmp_path, {"r": read}, mapping("r", 6_000, (10, 5_990), (1_010, 16_990)), preset="map-hifi")
    assert record[5] == "2999=10000D3001=" and int(record[1]) == 0
