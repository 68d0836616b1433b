"""`--span extended`: records for inverted parts of reads, and good ends that cost more than they score."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

from tests import oracles, pairgen
from tests.cli.support import assert_success, run
from tests.mapped.test_ends import JUNK, REFERENCE, mapping, on_read, records, score, tag, wrong
from tests.mapped.validate_sam import faults, parsed
from tests.mapped.world import turned

HERE = shutil.which("minimap2")


def inverted(begin: int, length: int, flank: int = 2_000) -> str:
    """Return a read with an inversion of REFERENCE between two flanks."""
    end = begin + length
    return REFERENCE[begin - flank : begin] + turned(REFERENCE[begin:end]) + REFERENCE[end : end + flank]


def is_inversion(record: list[str]) -> bool:
    return "tp:A:I" in record[11:]


@pytest.mark.parametrize("strand", "+-")
@pytest.mark.parametrize(
    ("length", "preset"), [(200, "map-ont"), (300, "map-hifi"), (1_000, "map-ont"), (300, "asm5")]
)
def test_an_inversion_has_a_record(length: int, preset: str, strand: str, tmp_path: Path) -> None:
    """The read is split around it, and the inverted part is on the other strand."""
    forward = inverted(8_000, length)
    read = turned(forward) if strand == "-" else forward
    paf = mapping("r", len(read), (50, len(read) - 50), (6_050, 9_950 + length), strand)
    found = sorted(records(tmp_path, {"r": read}, paf, "--md", "--clip", "soft", preset=preset), key=on_read)
    assert len(found) == 3 and [is_inversion(record) for record in found] == [False, True, False]
    own, other = (16, 0) if strand == "-" else (0, 16)
    assert [int(record[1]) & 16 for record in found] == [own, other, own]
    assert int(found[1][1]) & 2048 and sum(int(record[1]) & 2048 == 0 for record in found) == 1
    places = [on_read(record) for record in found]
    assert places[0][0] == 0 and places[2][1] == len(read)
    assert places[0][1] <= places[1][0] and places[1][1] <= places[2][0]
    assert sum(end - begin for begin, end in places) >= len(read) - 12
    assert abs(int(found[1][3]) - 8_001) <= 6
    assert [record[4] for record in found] == ["60"] * 3
    for record in found:
        assert record[9] == (turned(read) if int(record[1]) & 16 else read)
        assert "X" not in record[5] or tag(record, "NM") <= 3


def test_short_reads_and_secondary_records_have_no_inversions(tmp_path: Path) -> None:
    read = inverted(8_000, 300)
    row = mapping("r", len(read), (50, len(read) - 50), (6_050, 10_250))
    assert not any(map(is_inversion, records(tmp_path, {"r": read}, row, preset="sr")))
    paf = mapping("r", len(read), (2_400, 4_250), (8_400, 10_250)) + row.replace("tp:A:P", "tp:A:S")
    found = [record for record in records(tmp_path, {"r": read}, paf) if is_inversion(record)]
    assert [int(record[1]) for record in found] == [2048 | 16]  # of the primary mapping, which extends across it


def test_a_short_inversion_is_aligned_through(tmp_path: Path) -> None:
    """As by minimap2: the score drops by less than its threshold for inversions."""
    read = inverted(8_000, 120)
    paf = mapping("r", len(read), (50, len(read) - 50), (6_050, 10_070))
    for preset in ("map-ont", "map-hifi"):
        (record,) = records(tmp_path, {"r": read}, paf, preset=preset)
        assert on_read(record) == (0, len(read))


def test_other_bases_are_no_inversion(tmp_path: Path) -> None:
    read = REFERENCE[6_000:8_000] + JUNK[:1_000] + REFERENCE[9_000:11_000]
    paf = mapping("r", len(read), (50, 4_950), (6_050, 10_950))
    found = records(tmp_path, {"r": read}, paf)
    assert len(found) == 2 and not any(map(is_inversion, found))


def test_an_end_behind_an_inversion_is_kept(tmp_path: Path) -> None:
    """The end scores less than the inversion before it costs."""
    read = inverted(8_000, 600)[:2_900]
    paf = mapping("r", len(read), (50, 2_890), (6_050, 8_890))
    found = sorted(records(tmp_path, {"r": read}, paf, preset="map-hifi"), key=on_read)
    assert [is_inversion(record) for record in found] == [False, True, False]
    assert on_read(found[2])[1] == 2_900 and abs(on_read(found[2])[0] - 2_600) <= 6


@pytest.mark.parametrize("strand", "+-")
def test_a_good_end_behind_a_costly_gap_is_a_record(strand: str, tmp_path: Path) -> None:
    """The deletion costs more than the 300 bases behind it score, so the primary record ends before it."""
    forward = REFERENCE[2_000:6_000] + REFERENCE[9_000:9_300]
    read = turned(forward) if strand == "-" else forward
    paf = mapping("r", 4_300, (20, 4_280), (2_020, 9_280), strand)
    one, other = records(tmp_path, {"r": read}, paf)
    assert (one[3], other[3]) == ("2001", "9001") and int(other[1]) & 2048 and not int(one[1]) & 2048
    assert (one[5], other[5]) == ("4000=300S", "4000S300=")
    assert tag(one, "AS") == 8_000 and tag(other, "AS") == 600


def test_mismatches_at_a_mapped_end_are_clipped_from_its_record(tmp_path: Path) -> None:
    read = wrong(REFERENCE[2_000:6_000] + REFERENCE[9_000:9_300], 4_298, 4_299)
    one, other = records(tmp_path, {"r": read}, mapping("r", 4_300, (20, 4_300), (2_020, 9_300)))
    assert (one[5], other[5], tag(other, "AS")) == ("4000=300S", "4000S298=2S", 596)


def test_a_long_end_stays_behind_its_gap(tmp_path: Path) -> None:
    """As with minimap2, this number of bases in long matches is at its place."""
    read = REFERENCE[2_000:6_000] + REFERENCE[9_000:9_700]
    (record,) = records(tmp_path, {"r": read}, mapping("r", 4_700, (20, 4_680), (2_020, 9_680)), preset="map-hifi")
    assert re.fullmatch(r"\d+=3000D\d+=", record[5])


def test_a_wrong_end_is_clipped(tmp_path: Path) -> None:
    """Bases behind a gap that score less than a record must are not kept."""
    read = REFERENCE[2_000:6_000] + REFERENCE[9_000:9_030] + JUNK[:100]
    (record,) = records(tmp_path, {"r": read}, mapping("r", 4_130, (20, 4_030), (2_020, 9_030)))
    assert on_read(record)[1] <= 4_010 and "D" not in record[5]


@pytest.mark.parametrize("strand", "+-")
def test_a_secondary_part_that_nothing_else_aligns_is_supplementary(strand: str, tmp_path: Path) -> None:
    """A part is secondary while the mapping that includes it is whole; that one is split around it."""
    part = turned(REFERENCE[8_000:14_000])
    forward = REFERENCE[6_000:8_000] + part + REFERENCE[14_000:16_000]
    read = turned(forward) if strand == "-" else forward
    other = "-" if strand == "+" else "+"
    paf = mapping("r", 10_000, (50, 9_950), (6_050, 15_950), strand)
    paf += mapping("r", 10_000, (2_100, 7_900), (8_100, 13_900), other).replace("tp:A:P", "tp:A:S")
    found = sorted(records(tmp_path, {"r": read}, paf), key=on_read)
    assert len(found) == 3 and not any(int(record[1]) & 256 for record in found)
    assert sum(int(record[1]) & 2048 != 0 for record in found) == 2
    for record in found:
        assert record[9] == (turned(read) if int(record[1]) & 16 else read)
    assert abs(on_read(found[1])[0] - 2_000) <= 6 and abs(on_read(found[1])[1] - 8_000) <= 6


def test_the_diagonal_of_the_outermost_seeds_may_be_wrong(tmp_path: Path) -> None:
    """The read's first base lies 40 bases before the reference's part that its mapping alone would need."""
    read = REFERENCE[5_000:7_000]
    (record,) = records(tmp_path, {"r": read}, mapping("r", 2_000, (5, 1_995), (5_045, 6_995)))
    assert (record[3], record[5]) == ("5001", "2000=")


def make_reads(folder: Path) -> tuple[dict[str, str], dict[tuple[str, int], tuple[str, str]]]:
    """Write a reference and reads with inversions of 120 to 3,000 bases, on both strands, some near an end."""
    rng, reads = random.Random(4), {}
    for number, length in enumerate((120, 300, 1_000, 3_000, 300, 600, 120, 1_000)):
        begin = rng.randrange(3_000, 14_000)
        symbols = inverted(begin, length)[1_400 if number > 4 else 0 :]
        noisy = pairgen.mutated(rng, symbols.encode(), b"ACGT", 0.03).decode()
        symbols = turned(noisy) if number % 2 else noisy
        reads[f"r{number}", 0] = symbols, "".join(chr(rng.randrange(33, 74)) for _ in symbols)
    (folder / "ref.fa").write_text(f">t\n{REFERENCE}\n")
    (folder / "reads.fq").write_text("".join(f"@{n}\n{s}\n+\n{q}\n" for (n, _), (s, q) in reads.items()))
    return {"t": REFERENCE}, reads


@pytest.mark.skipif(HERE is None, reason="minimap2 is not on PATH")
def test_records_of_inversions_are_valid(tmp_path: Path) -> None:
    """Any threads and batch sizes give the same bytes; BAM has the same records."""
    reference, reads = make_reads(tmp_path)
    command = ("map", "ref.fa", "reads.fq", "-x", "map-ont", "--md", "-q")
    for options in ((), ("--clip", "hard"), ("--metric", "edit")):
        result = run(*command, *options, cwd=tmp_path)
        assert_success(result)
        assert faults(result.text, reference, reads) == []
    text = run(*command, "--no-header", cwd=tmp_path).text
    for more in (("-t", "1"), ("-t", "3", "--batch-bases", "1"), ("-t", "2", "--batch-bases", "9000")):
        assert run(*command, "--no-header", *more, cwd=tmp_path).text == text
    found = parsed(text)[1]
    assert sum(record.tags["tp"] == "I" for record in found) >= 6
    assert all(oracles.runs_of(record.cigar) for record in found)
    pysam = pytest.importorskip("pysam")
    assert_success(run(*command, "-o", "out.bam", cwd=tmp_path))
    with pysam.AlignmentFile(str(tmp_path / "out.bam")) as bam:
        kept = [(r.query_name, r.flag, r.reference_start + 1, r.cigarstring, r.query_sequence) for r in bam]
    assert kept == [(r.name, r.flag, r.position, r.cigar, r.symbols) for r in found]


def test_scores_of_pieces(tmp_path: Path) -> None:
    read = inverted(8_000, 1_000)
    found = records(tmp_path, {"r": read}, mapping("r", 5_000, (50, 4_950), (6_050, 10_950)))
    assert [tag(record, "AS") for record in found] == [score(record[5]) for record in found]
