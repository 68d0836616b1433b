"""`--span extended`: how far alignments extend beyond the mapped parts, and where the parts of a split read meet."""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import oracles, pairgen
from tests.cli.support import assert_failure, assert_success, run
from tests.mapped.world import random_world, turned
from wfacli.config import Penalties
from wfacli.scoring.presets import PRESETS

rng = random.Random(17)
REFERENCE = pairgen.sequence(rng, 20_000, b"ACGT").decode()
JUNK = pairgen.sequence(rng, 3_000, b"ACGT").decode()
OTHER = str.maketrans("ACGT", "CATG")
ONT = PRESETS["map-ont"].penalties


def score(cigar: str, penalties: Penalties = ONT) -> int:
    total = 0
    for length, operation in oracles.runs_of(cigar):
        if operation in "ID":
            total -= min(opening + length * extension for opening, extension in penalties.gaps)
        else:
            total += {"=": penalties.match, "X": -penalties.mismatch}.get(operation, 0) * length
    return total


def ambiguous_columns(record: list[str], target: str) -> int:
    """Return the number of mismatches with an ambiguous base."""
    query_at, target_at, count = 0, int(record[3]) - 1, 0
    for length, operation in oracles.runs_of(record[5]):
        if operation == "X":
            columns = zip(record[9][query_at : query_at + length], target[target_at:], strict=False)
            count += sum(not set(column).issubset("ACGTacgt") for column in columns)
        query_at += length * (operation != "D")
        target_at += length * (operation not in "IS")
    return count


def wrong(symbols: str, *places: int) -> str:
    """Return the sequence with mismatches at these positions."""
    return "".join(c.translate(OTHER) if i in places else c for i, c in enumerate(symbols))


def mapping(read: str, length: int, query: tuple[int, int], target: tuple[int, int], strand: str = "+") -> str:
    place = f"{length}\t{query[0]}\t{query[1]}\t{strand}\tt\t{len(REFERENCE)}\t{target[0]}\t{target[1]}"
    return f"{read}\t{place}\t50\t100\t60\ttp:A:P\n"


def records(
    folder: Path, reads: dict[str, str], paf: str, *options: str, preset: str = "map-ont", extra: str = ""
) -> list[list[str]]:
    (folder / "ref.fa").write_text(f">t\n{REFERENCE}\n{extra}")
    (folder / "reads.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in reads.items()))
    (folder / "map.paf").write_text(paf)
    scores = ("--preset", preset) if preset else ()
    result = run(
        "align", "reads.fa", "ref.fa", "--mappings", "map.paf", *scores, "--no-header", "--check", "-q", *options,
        cwd=folder,
    )  # fmt: skip
    assert_success(result)
    return result.rows


def tag(record: list[str], name: str) -> int:
    return next(int(field[5:]) for field in record[11:] if field.startswith(f"{name}:i:"))


@pytest.mark.parametrize("strand", "+-")
def test_a_read_is_aligned_to_its_ends(strand: str, tmp_path: Path) -> None:
    symbols = REFERENCE[5_000:6_000]
    read = symbols[:40] + symbols[42:900] + "GATTACA" + symbols[900:]
    inner = (100, 800) if strand == "+" else (len(read) - 800, len(read) - 100)
    paf = mapping("r", len(read), inner, (5_102, 5_802), strand)
    (record,) = records(tmp_path, {"r": turned(read) if strand == "-" else read}, paf)
    assert record[3] == "5001"
    assert sum(n for n, o in oracles.runs_of(record[5]) if o == "=") == 998
    assert "S" not in record[5] and record[9] == read and record[1] == ("0" if strand == "+" else "16")
    assert tag(record, "AS") == score(record[5]) == 2 * 998 - 8 - 18


def test_what_lies_nowhere_stays_clipped(tmp_path: Path) -> None:
    read = JUNK[:700] + REFERENCE[5_000:6_000] + JUNK[700:]
    (record,) = records(tmp_path, {"r": read}, mapping("r", len(read), (800, 1_600), (5_100, 5_900)))
    before, after = (int(n) for n in re.fullmatch(r"(\d+)S.*[=XID](\d+)S", record[5]).groups())  # type: ignore[union-attr]
    assert 690 <= before <= 700
    assert 2_290 <= after <= 2_300
    assert int(record[3]) == 5_001 - (700 - before)


def test_errors_far_behind_matches_do_not_end_an_extension(tmp_path: Path) -> None:
    """The Z-drop is tested on all paths, not only on the wavefront of the next cost."""
    read = wrong(REFERENCE[5_000:9_000], 100, 1_500, 2_900, 3_300)
    (record,) = records(tmp_path, {"r": read}, mapping("r", 4_000, (1_600, 2_800), (6_600, 7_800)))
    assert record[5] == "100=1X1399=1X1399=1X399=1X699="


def test_an_extension_ends_at_the_z_drop(tmp_path: Path) -> None:
    read = REFERENCE[5_000:6_000] + JUNK[:1_500] + REFERENCE[7_500:8_500]
    paf = mapping("r", len(read), (50, 900), (5_050, 5_900))
    (record,) = records(tmp_path, {"r": read}, paf)
    assert 1_000 <= oracles.runs_of(record[5])[0][0] < 1_010
    assert sum(n for n, o in oracles.runs_of(record[5]) if o == "S") > 2_450


@pytest.mark.parametrize(("place", "reference"), [(0, 300), (19_700, 0)])
def test_a_reference_ends_before_its_read(place: int, reference: int, tmp_path: Path) -> None:
    symbols = REFERENCE[place : place + 300]
    read = JUNK[:60] + symbols + JUNK[60:120]
    paf = mapping("r", len(read), (160, 260), (place + 100, place + 200))
    (record,) = records(tmp_path, {"r": read}, paf)
    begin = int(record[3]) - 1
    end = begin + sum(n for n, o in oracles.runs_of(record[5]) if o in "=XD")
    assert 0 <= begin <= place and place + 300 <= end <= len(REFERENCE)


def test_end_bonus_of_short_reads(tmp_path: Path) -> None:
    """A mismatch before the last two bases costs more than they score, but less than the end bonus."""
    read = wrong(REFERENCE[5_000:5_150], 147)
    paf = mapping("r", 150, (30, 120), (5_030, 5_120))
    (record,) = records(tmp_path, {"r": read}, paf, preset="sr")
    assert record[5] == "147=1X2="
    (record,) = records(tmp_path, {"r": read}, paf, preset="map-hifi")
    assert record[5] == "147=3S"
    read = wrong(REFERENCE[5_000:5_150], 146, 147, 148)
    assert records(tmp_path, {"r": read}, paf, preset="sr")[0][5] == "146=4S"


def test_memory_does_not_decide_where_an_extension_ends(tmp_path: Path) -> None:
    reads, paf = {"r": JUNK + REFERENCE[5_000:8_000]}, mapping("r", 6_000, (3_010, 6_000), (5_010, 8_000))
    for limit in ("784M", "1M"):
        (row,) = records(tmp_path, reads, paf, "--max-memory", limit, preset="asm5")
        assert (row[3], row[5]) == ("5001", "3000S3000="), limit


@pytest.mark.parametrize("strands", ["++", "+-", "-+", "--"])
def test_parts_of_a_split_read_meet(strands: str, tmp_path: Path) -> None:
    """Test 3,000 and 2,000 bases; 20 bases at the breakpoint are in no mapping, or in both."""
    pieces = REFERENCE[1_000:4_000], REFERENCE[12_000:14_000]
    read = "".join(p if s == "+" else turned(p) for p, s in zip(pieces, strands, strict=True))
    for apart in (20, -20):
        places = ((0, 3_000 - apart), (3_000 + apart, 5_000))
        paf = ""
        for (begin, end), piece, first, strand in zip(places, pieces, (0, 3_000), strands, strict=True):
            offset = 1_000 if first == 0 else 12_000
            inside = (begin - first, end - first)
            if strand == "-":
                inside = (len(piece) - inside[1], len(piece) - inside[0])
            target = (offset + inside[0], offset + inside[1])
            paf += mapping("r", 5_000, (begin, end), (max(0, target[0]), target[1]), strand)
        one, other = records(tmp_path, {"r": read}, paf)
        parts = [on_read(record) for record in (one, other)]
        assert parts[0][1] == parts[1][0], parts
        assert abs(parts[0][1] - 3_000) <= 5
        assert int(one[1]) & 2048 == 0 and int(other[1]) & 2048
        for record, another in ((one, other), (other, one)):
            place = next(f for f in record if f.startswith("SA:Z:"))
            strand = "-" if int(another[1]) & 16 else "+"
            assert place.startswith(f"SA:Z:t,{another[3]},{strand},")
            assert tag(record, "AS") == score(record[5])
        assert score(one[5]) + score(other[5]) >= 9_990


def on_read(record: list[str]) -> tuple[int, int]:
    """Return the part of the read that a record aligns, in coordinates of the original read."""
    runs = oracles.runs_of(record[5])
    clips = [n if o in "SH" else 0 for n, o in (runs[0], runs[-1])]
    length = sum(n for n, o in runs if o in "SHI=X")
    return (clips[1], length - clips[0]) if int(record[1]) & 16 else (clips[0], length - clips[1])


def test_parts_that_lie_inside_others_are_left(tmp_path: Path) -> None:
    read = REFERENCE[5_000:6_000]
    paf = mapping("r", 1_000, (0, 1_000), (5_000, 6_000)) + mapping("r", 1_000, (300, 400), (9_000, 9_100))
    one, _ = records(tmp_path, {"r": read}, paf)
    assert one[5] == "1000="


def test_secondary_records_do_not_cut_others(tmp_path: Path) -> None:
    read = REFERENCE[5_000:6_000]
    other = mapping("r", 1_000, (20, 995), (5_020, 5_995)).replace("tp:A:P", "tp:A:S").replace("\tt\t", "\tu\t")
    paf = mapping("r", 1_000, (10, 990), (5_010, 5_990)) + other
    found = records(tmp_path, {"r": read}, paf, extra=f">u\n{REFERENCE}\n")
    assert [(record[2], record[5]) for record in found] == [("t", "1000="), ("u", "1000=")]


def test_an_end_that_was_mapped_wrongly(tmp_path: Path) -> None:
    """The mapping starts 60 bases off: its wrong end is extended again from where the alignment is good."""
    read = REFERENCE[5_000:6_000]
    (record,) = records(tmp_path, {"r": read}, mapping("r", 1_000, (100, 950), (5_040, 5_950)))
    assert (record[3], record[5]) == ("5001", "1000=")
    (record,) = records(tmp_path, {"r": read}, mapping("r", 1_000, (100, 950), (5_100, 6_010)))
    assert (record[3], record[5]) == ("5001", "1000=")


@pytest.mark.parametrize("shift", [-9, -6, -3, 0, 3, 6, 9])
@pytest.mark.parametrize("tail", [0, 6])
def test_the_last_seed_lies_in_a_tandem_repeat(tail: int, shift: int, tmp_path: Path) -> None:
    """Its diagonal is some units off: the end is extended again from further inside, without a gap."""
    before, behind = JUNK[:600], JUNK[1_000:1_100]
    reference = before + "TTC" * 23 + behind
    read = before[100:] + "TTC" * 17 + behind[:tail]
    q_end, t_end = len(read) - tail, len(read) - tail + 100 + shift
    paf = f"r\t{len(read)}\t0\t{q_end}\t+\tu\t{len(reference)}\t100\t{t_end}\t50\t100\t60\ttp:A:P\n"
    (record,) = records(tmp_path, {"r": read}, paf, extra=f">u\n{reference}\n")
    assert score(record[5]) >= 2 * (500 + 51)
    assert record[3] == "101" and "D" not in record[5] and "I" not in record[5]


@pytest.mark.parametrize("deletion", [56, 60, 63, 80])
@pytest.mark.parametrize("preset", ["sr", "map-ont"])
def test_a_gap_in_the_middle_is_doubtful_from_neither_end(preset: str, deletion: int, tmp_path: Path) -> None:
    """A gap of more than half the bases on either side of it: neither side is the reliable one."""
    half, begin = 75, 5_000
    behind = begin + half + deletion
    read = REFERENCE[begin : begin + half] + REFERENCE[behind : behind + half]
    paf = mapping("r", len(read), (0, len(read)), (begin, behind + half))
    (row,) = records(tmp_path, {"r": read}, paf, preset=preset)
    assert int(row[3]) - 1 + sum(n for n, operation in oracles.runs_of(row[5]) if operation in "=XD") <= behind + half
    whole = score(f"{half}={deletion}D{half}=", PRESETS[preset].penalties)
    assert score(row[5], PRESETS[preset].penalties) >= max(whole, half)


def test_costs_without_a_match_bonus(tmp_path: Path) -> None:
    """Ends are extended under the preset's scores, or map-ont's; the alignment is optimal under the user's costs."""
    read = wrong(REFERENCE[5_000:6_000], 50, 950)
    paf = mapping("r", 1_000, (100, 900), (5_100, 5_900))
    for options in (("--metric", "edit"), ("--preset", "asm5", "--metric", "edit")):
        (record,) = records(tmp_path, {"r": read}, paf, *options, preset="")
        assert record[5] == "50=1X899=1X49="
        assert tag(record, "AS") == -2


def test_spans_and_their_options(tmp_path: Path) -> None:
    read = REFERENCE[5_000:6_000]
    paf = mapping("r", 1_000, (100, 900), (5_100, 5_900))
    assert records(tmp_path, {"r": read}, paf, "--span", "mapped")[0][5] == "100S800=100S"
    assert records(tmp_path, {"r": read}, paf, "--span", "extended") == records(tmp_path, {"r": read}, paf)
    options = ("align", "reads.fa", "ref.fa", "--mappings", "map.paf", "--pad", "5")
    assert_failure(run(*options, cwd=tmp_path), 2, "--pad", "not extended")


@pytest.mark.parametrize("seed", range(3))
def test_any_threads_and_batches(seed: int, tmp_path: Path) -> None:
    world = random_world(seed, reads=40, symbols="ACGTacgtN" if seed else "ACGT", kinds=seed != 2)
    world.write(tmp_path)
    options = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--preset", "map-ont", "--md", "--no-header")
    found = run(*options, "--check", "--keep-unmapped", "-t", "1", cwd=tmp_path)
    assert_success(found)
    for more in (("-t", "3"), ("-t", "2", "--batch-bases", "1"), ("-t", "2", "--batch-bases", "700")):
        again = run(*options, "--keep-unmapped", *more, cwd=tmp_path)
        assert again.out == found.out
    parts: dict[str, list[tuple[int, int]]] = {}
    for record in found.rows:
        if int(record[1]) & (4 | 256) == 0:
            parts.setdefault(record[0], []).append(on_read(record))
            cheaper = (ONT.mismatch - int(ONT.ambiguous or 0)) * ambiguous_columns(record, world.reference[record[2]])
            assert tag(record, "AS") == score(record[5]) + cheaper
    assert sum(len(own) > 1 for own in parts.values()) > 3
    for own in parts.values():
        own.sort()
        assert all(a[1] <= b[0] or b[1] <= a[1] for a, b in itertools.pairwise(own)), own


def test_a_batch_of_many_reads(tmp_path: Path) -> None:
    reads = {f"r{i}": REFERENCE[i : i + 30] for i in range(17_000)}
    paf = "".join(mapping(name, 30, (2, 28), (i + 2, i + 28)) for i, name in enumerate(reads))
    found = records(tmp_path, reads, paf, "-t", "1", "--batch-bases", "10000000")
    assert [(r[3], r[5]) for r in found] == [(str(i + 1), "30=") for i in range(17_000)]


@pytest.mark.skipif(shutil.which("minimap2") is None, reason="minimap2 is not on PATH")
@pytest.mark.parametrize("preset", ["map-ont", "map-hifi"])
def test_ends_are_where_minimap2_has_them(preset: str, tmp_path: Path) -> None:
    rng, reads = random.Random(23), {}
    for number in range(40):
        begin = rng.randrange(16_000)
        symbols = REFERENCE[begin : begin + rng.randint(1_500, 4_000)].encode()
        copy = pairgen.mutated(rng, symbols, b"ACGT", 0.05 if preset == "map-ont" else 0.004).decode()
        reads[f"r{number}"] = turned(copy) if number % 2 else copy
    (tmp_path / "ref.fa").write_text(f">t\n{REFERENCE}\n")
    (tmp_path / "reads.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in reads.items()))
    out = subprocess.run(
        ["minimap2", "-a", "--eqx", "-x", preset, "ref.fa", "reads.fa"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    theirs = {
        row[0]: row for line in out.splitlines() if line[0] != "@" and (row := line.split("\t"))[1] in ("0", "16")
    }
    result = run("map", "ref.fa", "reads.fa", "-x", preset, "--no-header", "-q", cwd=tmp_path)
    assert_success(result)
    ours = {row[0]: row for row in result.rows if row[1] in ("0", "16")}
    assert len(ours) == len(theirs) == 40
    assert all(tag(ours[name], "AS") >= tag(theirs[name], "AS") for name in theirs)
    clipped = [
        sum(n for row in rows.values() for n, o in oracles.runs_of(row[5]) if o == "S") for rows in (ours, theirs)
    ]
    assert clipped[0] <= clipped[1] + 20


def test_alignments_are_broken_at_drops(tmp_path: Path) -> None:
    """Alignments are split at 1,000 different bases, but not at a long insertion."""
    first, last = REFERENCE[1_000:3_000], REFERENCE[4_000:7_000]
    read = first + JUNK[:1_000] + last
    paf = mapping("r", len(read), (50, 5_900), (1_050, 6_900))
    one, other = records(tmp_path, {"r": read}, paf, "--md")
    places = [on_read(record) for record in (one, other)]
    assert [int(record[1]) for record in (one, other)] == [0, 2048]  # the better one is primary
    assert abs(places[0][0] - 3_000) < 10 and places[0][1] == 6_000
    assert places[1][0] == 0 and abs(places[1][1] - 2_000) < 10
    assert [tag(record, "AS") for record in (one, other)] == [score(record[5]) for record in (one, other)]
    assert f"SA:Z:t,{other[3]},+," in "\t".join(one) and f"SA:Z:t,{one[3]},+," in "\t".join(other)
    assert one[9] == other[9] == read
    read = first + JUNK[:1_000] + REFERENCE[3_000:5_000]
    paf = mapping("r", len(read), (50, 4_900), (1_050, 4_900))
    (record,) = records(tmp_path, {"r": read}, paf)
    assert re.fullmatch(r"(199\d|2000)=1000I200\d=", record[5])


def test_a_long_gap_hides_no_later_drop(tmp_path: Path) -> None:
    """The diagonals of a deletion do not make up for 1,000 different bases behind it."""
    read = REFERENCE[1_000:4_000] + REFERENCE[9_000:12_000] + JUNK[:1_000] + REFERENCE[13_000:15_000]
    paf = mapping("r", len(read), (50, 8_950), (1_050, 14_950))
    one, other = records(tmp_path, {"r": read}, paf)
    assert re.search(r"(29\d\d|30\d\d)=500\dD|5000D", one[5]) and on_read(one)[0] == 0
    assert abs(on_read(one)[1] - 6_000) < 30 and abs(on_read(other)[0] - 7_000) < 30 and on_read(other)[1] == 9_000


def test_a_piece_begins_behind_the_drop_and_not_behind_a_later_gap(tmp_path: Path) -> None:
    """A deletion that costs more than the bases before it earn does not cut these off."""
    read = REFERENCE[1_000:4_000] + JUNK[:1_000] + REFERENCE[5_000:7_000] + REFERENCE[13_000:17_000]
    paf = mapping("r", len(read), (50, 9_950), (1_050, 16_950))
    found = sorted(records(tmp_path, {"r": read}, paf), key=on_read)
    assert len(found) == 2 and abs(on_read(found[0])[1] - 3_000) < 10
    assert abs(on_read(found[1])[0] - 4_000) < 10 and on_read(found[1])[1] == 10_000 and "6000D" in found[1][5]


def test_two_long_gaps_are_no_drop(tmp_path: Path) -> None:
    """A deletion and, some bases later, an insertion bring the path back to its diagonal."""
    read = REFERENCE[1_000:4_000] + REFERENCE[8_000:9_500] + JUNK[:3_000] + REFERENCE[9_500:13_000]
    (record,) = records(tmp_path, {"r": read}, mapping("r", len(read), (50, 10_950), (1_050, 12_950)))
    assert "4000D" in record[5] and "3000I" in record[5] and on_read(record) == (0, 11_000)


def test_a_drop_at_the_beginning(tmp_path: Path) -> None:
    """The drop is longer than the end that is checked."""
    read = JUNK[:2_500] + REFERENCE[6_000:9_000] + JUNK[:20]
    (record,) = records(tmp_path, {"r": read}, mapping("r", len(read), (100, 5_400), (3_600, 8_900)))
    assert 2_480 < on_read(record)[0] <= 2_500 and on_read(record)[1] >= 5_500
    read = turned(read)
    (record,) = records(tmp_path, {"r": read}, mapping("r", len(read), (120, 5_420), (3_600, 8_900), "-"))
    assert 2_480 < 5_520 - on_read(record)[1] <= 2_500


def test_broken_secondary_records_keep_their_best_piece(tmp_path: Path) -> None:
    read = REFERENCE[1_000:3_000] + JUNK[:1_000] + REFERENCE[4_000:7_000]
    row = mapping("r", len(read), (50, 5_900), (1_050, 6_900)).replace("\tt\t", "\tu\t")
    paf = mapping("r", len(read), (3_100, 5_900), (4_100, 6_900)) + row.replace("tp:A:P", "tp:A:S")
    one, other = records(tmp_path, {"r": read}, paf, extra=f">u\n{REFERENCE}\n")
    assert [int(record[1]) for record in (one, other)] == [0, 256]
    assert (one[3], one[5][:5]) == (other[3], other[5][:5])


def test_ends_of_pairs(tmp_path: Path) -> None:
    """Positions and template lengths are those of the final alignments."""
    first, second = REFERENCE[5_000:5_150], turned(REFERENCE[5_300:5_450])
    (tmp_path / "ref.fa").write_text(f">t\n{REFERENCE}\n")
    (tmp_path / "reads.fa").write_text(f">a/1\n{first}\n>a/2\n{second}\n")
    (tmp_path / "map.sam").write_text(
        "a\t99\tt\t5021\t60\t20S110M20S\t=\t5321\t410\t*\t*\na\t147\tt\t5321\t60\t20S110M20S\t=\t5021\t-410\t*\t*\n"
    )
    options = ("--mappings", "map.sam", "--preset", "sr", "--no-header", "-q", "--check")
    result = run("align", "reads.fa", "ref.fa", *options, cwd=tmp_path)
    assert_success(result)
    assert [row[:9] for row in result.rows] == [
        ["a", "99", "t", "5001", "60", "150=", "=", "5301", "450"],
        ["a", "147", "t", "5301", "60", "150=", "=", "5001", "-450"],
    ]
