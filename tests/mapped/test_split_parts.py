"""Parts of split reads: which ones another record makes superfluous, and how far they reach into others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mapped.test_ends import JUNK, REFERENCE, mapping, records, tag, wrong
from tests.mapped.world import turned


def on_other(read: str, length: int, query: tuple[int, int], target: tuple[int, int], total: int) -> str:
    """Return a mapping to the target u."""
    return mapping(read, length, query, target).replace(f"\tt\t{len(REFERENCE)}\t", f"\tu\t{total}\t")


@pytest.mark.parametrize("strand", "+-")
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_short_part_found_by_chance_is_left_out(strand: str, side: str, tmp_path: Path) -> None:
    """The longer part goes on through its bases and scores more than both."""
    read = REFERENCE[2_000:5_000]
    copy = "".join(wrong(read[-100:][at : at + 20], 11) for at in range(0, 100, 20))
    other = JUNK[:500] + copy + JUNK[500:1_000]
    query, target = ((0, 2_898), (2_000, 4_898)), (2_900, 3_000)
    if side == "left":
        copy = "".join(wrong(read[:100][at : at + 20], 11) for at in range(0, 100, 20))
        other = JUNK[:500] + copy + JUNK[500:1_000]
        query, target = ((102, 3_000), (2_102, 5_000)), (0, 100)
    if strand == "-":
        read = turned(read)
        query = ((3_000 - query[0][1], 3_000 - query[0][0]), query[1])
        target = (3_000 - target[1], 3_000 - target[0])
    paf = mapping("r", 3_000, *query, strand)
    paf += on_other("r", 3_000, target, (500, 600), len(other)).replace("\t+\t", f"\t{strand}\t")
    (record,) = records(tmp_path, {"r": read}, paf, extra=f">u\n{other}\n")
    assert (record[2], record[3], record[5]) == ("t", "2001", "3000=")
    assert not any(field.startswith("SA:") for field in record[11:])


def test_a_short_part_that_scores_more_stays(tmp_path: Path) -> None:
    """The longer part could go on through it, with mismatches that cost more than they bring."""
    read = REFERENCE[2_000:4_900] + wrong(REFERENCE[4_900:5_000], *range(4, 100, 6))
    other = JUNK[:500] + read[-100:] + JUNK[500:1_000]
    paf = mapping("r", 3_000, (0, 2_898), (2_000, 4_898)) + on_other(
        "r", 3_000, (2_905, 3_000), (505, 600), len(other)
    )
    one, two = records(tmp_path, {"r": read}, paf, extra=f">u\n{other}\n")
    assert one[2] == "t" and two[2] == "u" and int(two[1]) & 2048
    assert tag(one, "AS") + tag(two, "AS") >= 2 * 2_990


def test_a_primary_part_is_not_left_out(tmp_path: Path) -> None:
    read = REFERENCE[2_000:5_000]
    other = JUNK[:500] + wrong(read[-100:], *range(9, 100, 20)) + JUNK[500:1_000]
    paf = on_other("r", 3_000, (2_900, 3_000), (500, 600), len(other)) + mapping(
        "r", 3_000, (0, 2_898), (2_000, 4_898)
    )
    one, two = records(tmp_path, {"r": read}, paf, extra=f">u\n{other}\n")
    assert (one[1], one[2], two[1], two[2]) == ("0", "u", "2048", "t")


@pytest.mark.parametrize("shift", [0, 60])
def test_a_part_that_was_mapped_twice_has_one_record(shift: int, tmp_path: Path) -> None:
    """A mapper may have two chains for one place of a read."""
    read = JUNK[:800] + REFERENCE[2_000:4_000] + JUNK[800:1_500]
    paf = mapping("r", 3_500, (800, 2_800), (2_000, 4_000))
    paf += mapping("r", 3_500, (800 + shift, 2_800 - shift), (2_000 + shift, 4_000 - shift))
    (record,) = records(tmp_path, {"r": read}, paf)
    assert (record[1], record[3], record[5]) == ("0", "2001", "800S2001=699S")  # one base behind it matches by chance


def test_parts_at_other_places_with_the_same_bases_both_stay(tmp_path: Path) -> None:
    read = JUNK[:800] + REFERENCE[2_000:4_000] + JUNK[800:1_500]
    other = JUNK[1_500:2_000] + REFERENCE[2_000:4_000] + JUNK[2_000:2_500]
    paf = mapping("r", 3_500, (800, 2_800), (2_000, 4_000))
    paf += on_other("r", 3_500, (800, 2_800), (500, 2_500), len(other))
    found = records(tmp_path, {"r": read}, paf, extra=f">u\n{other}\n")
    assert [(record[1], record[2], record[5]) for record in found] == [
        ("0", "t", "800S2001=699S"),
        ("2048", "u", "800S2001=699S"),
    ]


def test_parts_whose_mappings_overlap_reach_beyond_them(tmp_path: Path) -> None:
    """The mapper gave bases of one part to both; either has more bases than its seeds."""
    left, right = REFERENCE[2_000:4_060], REFERENCE[9_001:10_200]  # REFERENCE[4_060] is not REFERENCE[9_001]
    read = left + right
    total = len(read)
    paf = mapping("r", total, (0, 2_000), (2_000, 4_000))
    # The second part's seeds begin 1,000 bases before its bases do.
    before = "".join(wrong(left[at : at + 12], 6) for at in range(1_060, 2_060, 12))[:1_000]
    other = JUNK[:300] + before + right + JUNK[300:600]
    paf += on_other("r", total, (1_100, total), (340, 300 + 1_000 + len(right)), len(other))
    one, two = records(tmp_path, {"r": read}, paf, extra=f">u\n{other}\n")
    assert one[5] == f"2060={len(right)}S"
    assert two[5] == f"2060S{len(right)}="


def test_a_short_part_between_long_ones_stays(tmp_path: Path) -> None:
    """Either long part could go on through it, and then loses what the other one has."""
    read = REFERENCE[2_000:3_300] + turned(REFERENCE[3_300:3_360]) + REFERENCE[3_360:4_700]
    paf = mapping("r", 2_700, (0, 1_290), (2_000, 3_290)) + mapping("r", 2_700, (1_310, 1_350), (3_310, 3_350), "-")
    paf += mapping("r", 2_700, (1_370, 2_700), (3_370, 4_700))
    found = records(tmp_path, {"r": read}, paf, preset="lr:hq")
    assert [record[1] for record in found] == ["0", "2064", "2048"]
    assert found[1][5] == "1340S60=1300S"


def test_a_part_inside_another_hides_no_overlap(tmp_path: Path) -> None:
    """Two parts are cut although a third one, mapped inside the second, comes first."""
    left, right = REFERENCE[2_000:4_000], REFERENCE[9_000:11_000]
    reference = (
        JUNK[:1_000] + left[-30:] + right + JUNK[1_000:2_000]
    )  # the second part begins 30 bases inside the first
    read = left + right
    paf = mapping("r", 4_000, (0, 2_000), (2_000, 4_000))
    paf += on_other("r", 4_000, (2_000, 4_000), (1_030, 3_030), len(reference))
    paf += mapping("r", 4_000, (2_100, 2_130), (15_000, 15_030))
    found = records(tmp_path, {"r": read}, paf, extra=f">u\n{reference}\n")
    assert found[0][5] == "2001=1999S" and found[1][5].startswith("2001S1999=")  # one base of t is as that of u


def test_a_part_inside_another_at_the_same_place_is_left_out(tmp_path: Path) -> None:
    """It is shorter than the other, since a further part limits it alone."""
    read = JUNK[:800] + REFERENCE[2_000:4_000] + JUNK[800:1_500]
    paf = mapping("r", 3_500, (800, 2_800), (2_000, 4_000)) + mapping("r", 3_500, (1_500, 2_000), (2_700, 3_200))
    paf += mapping("r", 3_500, (2_010, 2_100), (15_000, 15_090))
    found = records(tmp_path, {"r": read}, paf)
    assert [(record[1], record[5]) for record in found if record[3] == "2001"] == [("0", "800S2001=699S")]


def test_an_alignment_of_gaps_alone_is_unmapped(tmp_path: Path) -> None:
    read = "A" * 500
    reference = "C" * 500
    paf = on_other("r", 500, (200, 213), (130, 146), 500)
    (record,) = records(tmp_path, {"r": read}, paf, "--keep-unmapped", preset="asm5", extra=f">u\n{reference}\n")
    assert int(record[1]) & 4 and record[5] == "*"


@pytest.mark.parametrize("strand", "+-")
def test_a_part_between_two_that_join_without_it(strand: str, tmp_path: Path) -> None:
    """Either outer part goes on to the other through an insertion. The part between cuts both, and neither is lost."""
    left, between, right = REFERENCE[2_000:2_170], JUNK[501:621], REFERENCE[2_170:2_290]
    read, total = left + between + right, 410
    places = [((1, 165), (2_001, 2_165), "t"), ((175, 285), (506, 616), "u"), ((305, 400), (2_185, 2_280), "t")]
    paf = ""
    for query, target, name in places:
        if strand == "-":
            query = total - query[1], total - query[0]
        line = mapping("r", total, query, target) if name == "t" else on_other("r", total, query, target, len(JUNK))
        paf += line.replace("\t+\t", f"\t{strand}\t")
    symbols = read if strand == "+" else turned(read)
    found = records(tmp_path, {"r": symbols}, paf, preset="sr", extra=f">u\n{JUNK}\n")
    assert [(record[2], record[3], record[5]) for record in found] == [
        ("t", "2001", "170=240S"),
        ("u", "502", "170S120=120S"),
        ("t", "2171", "290S120="),
    ]


@pytest.mark.parametrize("strand", "+-")
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_mapped_part_stays_if_its_extension_leaves_it(strand: str, side: str, tmp_path: Path) -> None:
    """Another copy of 80 bases is behind the mapped part. The gap is in the first one, whose rest is too short."""
    first, last, inner, target = REFERENCE[5_000:5_097], REFERENCE[5_017:5_240], (3, 92), (5_003, 5_092)
    if side == "right":
        first, last, inner, target = REFERENCE[5_000:5_223], REFERENCE[5_143:5_240], (228, 317), (5_148, 5_237)
    read = first + last
    if strand == "-":
        read, inner = turned(read), (len(read) - inner[1], len(read) - inner[0])
    found = records(tmp_path, {"r": read}, mapping("r", len(read), inner, target, strand), preset="sr")
    assert [record[5] for record in found] == (["96S224=", "96=224S"] if side == "left" else ["223=97S", "223S97="])
