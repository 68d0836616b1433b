"""`--span extended` where repeats offer several paths: ends are extended again until that gains nothing."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests import oracles
from tests.cli.support import assert_success, run
from tests.mapped.test_ends import JUNK, REFERENCE, mapping, records, tag, wrong
from tests.mapped.world import turned
from wfacli._native import unreliable_ends
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.batch import AlignmentBatch, all_rows
from wfacli.engines.cpu import native_options
from wfacli.plan.kernels import TABLE
from wfacli.run.ends import DOUBTFUL
from wfacli.run.rows import pairs_of


def in_tandem_repeat(head: str, units: int, copies: int, end: str, odd: int) -> tuple[str, str]:
    """Return a reference of `head`, units of 20 bases, and `end`, and a read with fewer units.

    Unit `odd` of both has the same substitution, so that a gap behind it spares mismatches.
    """
    repeat = [JUNK[:20] * odd + wrong(JUNK[:20], 10) + JUNK[:20] * (count - odd - 1) for count in (copies, units)]
    return head + repeat[0] + end, repeat[1] + end


def test_a_long_gap_far_inside_is_doubtful(tmp_path: Path) -> None:
    """The first seed is at another copy of a tandem repeat; the read has no gap for which that would pay."""
    reference, read = in_tandem_repeat(JUNK[1_000:2_000], 25, 26, REFERENCE[5_000:6_500], 6)
    paf = paf_line("r", 2_000, (0, 2_000), "u", len(reference), (1_000, 3_020))
    (record,) = records(tmp_path, {"r": read}, paf, extra=f">u\n{reference}\n")
    assert (record[3], record[5]) == ("1021", "110=1X19=1X1869=")


def test_the_best_path_beside_another_part(tmp_path: Path) -> None:
    """Beyond the place where two parts meet, a gap pays for itself; without the bases there it does not."""
    left = REFERENCE[2_000:4_000]
    before = wrong(left[-100:], 10, 30, 50, 70)
    reference, rest = in_tandem_repeat(before, 5, 6, REFERENCE[9_000:10_000], 0)
    first = len(reference) - 1_000
    paf = mapping("r", 3_100, (0, 2_000), (2_000, 4_000))
    paf += paf_line("r", 3_100, (2_100, 3_100), "u", len(reference), (first, first + 1_000))
    one, other = records(tmp_path, {"r": left + rest}, paf, extra=f">u\n{reference}\n")
    assert one[5] == "2000=1100S"
    assert (other[3], other[5]) == ("121", "2000S10=1X1089=")


def with_errors(symbols: str, rng: random.Random) -> str:
    """Return the sequence with 5% deletions, insertions and substitutions each."""
    read = []
    for symbol in symbols:
        kind = rng.random()
        if kind >= 0.05:
            read.append(rng.choice("ACGT") if kind < 0.15 else symbol)
        if 0.05 <= kind < 0.1:
            read.append(symbol)
    return "".join(read)


def repetitive(count: int, rng: random.Random) -> tuple[dict[str, str], dict[str, str], str]:
    """Return targets with tandem repeats, reads of them with errors, and mappings that begin at a wrong place."""

    def random_bases(length: int) -> str:
        return "".join(rng.choices("ACGT", k=length))

    targets, reads, paf = {}, {}, ""
    for i in range(count):
        repeats = (random_bases(rng.randrange(3, 12)) * rng.randrange(1, 4) for _ in range(20))
        targets[f"u{i}"] = target = random_bases(150) + "".join(repeats) + random_bases(120)
        begin, end = rng.randrange(100, 150), len(target) - rng.randrange(20, 60)
        reads[f"r{i}"] = read = with_errors(target[begin:end], rng)
        first = rng.randrange(60)
        place = max(0, min(begin + first + rng.choice([-1, 1]) * rng.randrange(5, 100), end - 60))
        paf += paf_line(f"r{i}", len(read), (first, len(read)), f"u{i}", len(target), (place, end))
    return targets, reads, paf


def paf_line(read: str, length: int, query: tuple[int, int], name: str, total: int, target: tuple[int, int]) -> str:
    place = f"{length}\t{query[0]}\t{query[1]}\t+\t{name}\t{total}\t{target[0]}\t{target[1]}"
    return f"{read}\t{place}\t50\t100\t60\ttp:A:P\n"


def as_mapping(record: list[str], total: int) -> str:
    """Return the place of a record as a mapping."""
    runs, length, begin = oracles.runs_of(record[5]), len(record[9]), int(record[3]) - 1
    clips = [n if o == "S" else 0 for n, o in (runs[0], runs[-1])]
    end = begin + sum(n for n, o in runs if o in "=XD")
    return paf_line(record[0], length, (clips[0], length - clips[1]), record[2], total, (begin, end))


def test_extending_again_gains_nothing(tmp_path: Path) -> None:
    """Alignments whose places are the mappings of another run have no better ones there."""
    targets, reads, paf = repetitive(500, random.Random(5))
    (tmp_path / "ref.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in targets.items()))
    (tmp_path / "reads.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in reads.items()))
    scores = []
    for _ in range(2):
        (tmp_path / "map.paf").write_text(paf)
        options = ("--mappings", "map.paf", "--preset", "map-ont", "--no-header", "--check", "-q")
        result = run("align", "reads.fa", "ref.fa", *options, cwd=tmp_path)
        assert_success(result)
        scores.append({record[0]: tag(record, "AS") for record in result.rows})
        paf = "".join(as_mapping(record, len(targets[record[2]])) for record in result.rows)
    assert len(scores[0]) == 500
    assert not {name: (scores[0][name], again) for name, again in scores[1].items() if again > scores[0][name]}


def test_both_ends_of_a_short_alignment_are_near_gaps(tmp_path: Path) -> None:
    """No end is extended again from beyond the middle; the begin, which costs more than it brings, is given up."""
    right = wrong(REFERENCE[5_140:5_143], 0) + wrong(REFERENCE[5_143], 0) + REFERENCE[5_143:5_147]
    read = JUNK[:47] + REFERENCE[4_994:4_997] + REFERENCE[5_000:5_140] + right + JUNK[100:142]
    (record,) = records(tmp_path, {"r": read}, mapping("r", len(read), (47, 198), (4_994, 5_147)))
    assert record[3] == "5001"
    assert record[5].startswith("50S140=1X"), record[5]


def test_a_part_begins_behind_mismatches_at_the_cut(tmp_path: Path) -> None:
    left, right = REFERENCE[2_000:4_000], REFERENCE[9_000:10_000]
    read = left + wrong(JUNK[300:302], 0, 1) + right
    target = JUNK[1_000:1_500] + left[-8:] + JUNK[300:302] + right
    paf = mapping("r", 3_002, (0, 2_000), (2_000, 4_000))
    paf += paf_line("r", 3_002, (1_994, 3_002), "u", len(target), (502, 1_510))
    one, other = records(tmp_path, {"r": read}, paf, extra=f">u\n{target}\n")
    assert one[5] == "2000=1002S"
    assert (other[3], other[5]) == ("511", "2002S1000=")


EQUAL, DIFFERENT = 7, 8  # operations as in BAM


def alignments(paths: list[list[tuple[int, int]]]) -> AlignmentBatch:
    """Return alignments without gaps: lengths and operations of each."""
    lengths = [sum(length for length, _ in path) for path in paths]
    count, cuts = len(paths), np.cumsum([0, *map(len, paths)])
    return AlignmentBatch(
        ordinal=0,
        status=np.zeros(count, np.uint8),
        cut=np.zeros(count, np.uint8),
        score=np.zeros(count, np.int32),
        span=np.array([[0, length, 0, length] for length in lengths], np.int32),
        cigar=np.array([length << 4 | operation for path in paths for length, operation in path], np.uint32),
        cigar_start=cuts.astype(np.int64),
        origin=np.zeros(count, np.uint8),
        kernels=(TABLE,),
    )


def doubtful(paths: list[list[tuple[int, int]]], targets: list[str]) -> tuple[list[int], list[list[int]]]:
    """Return the alignments with doubtful ends, and their spans without them."""
    lengths = np.array([len(target) for target in targets], np.int32)
    starts = np.cumsum([0, *lengths])[:-1].astype(np.int64)
    columns = {
        "bases": np.frombuffer("".join(targets).encode(), np.uint8),
        "q_start": starts, "t_start": starts, "q_len": lengths, "t_len": lengths,
        "flags": np.zeros(len(targets), np.uint8),
    }  # fmt: skip
    penalties = Penalties(match=2, mismatch=4, gaps=((4, 2), (24, 1)))
    scores = native_options(AlignSpec(Metric.AFFINE2P, penalties), Limits(), TABLE)
    rows, inner, _ = unreliable_ends(pairs_of(0, columns), all_rows(len(targets)), alignments(paths), scores, DOUBTFUL)
    return rows.tolist(), inner.reshape(-1, 4).tolist()


def random_targets(lengths: list[int]) -> list[str]:
    rng = random.Random(3)
    return ["".join(rng.choices("ACGT", k=length)) for length in lengths]


def test_an_end_that_loses_much_more_than_the_rest_is_doubtful():
    """Where copies of a repeat differ, a path may be off by one without a long gap: only its errors are too many."""
    few, many = [(97, EQUAL), (3, DIFFERENT)] * 40, [(37, EQUAL), (3, DIFFERENT)] * 25
    paths = [[*path, (30, EQUAL)] for path in (few + many[:2] + few, many + few * 2, few * 2 + many)]
    lengths = [sum(length for length, _ in path) for path in paths]
    rows, inner = doubtful(paths, random_targets(lengths))
    assert rows == [1, 2]
    begin, end = (
        DOUBTFUL,
        lengths[2] - 1_030,
    )  # in the match behind those with many errors, and in the last one among them
    assert inner == [[begin, lengths[1], begin, lengths[1]], [0, end, 0, end]]


@pytest.mark.parametrize(
    ("unit", "repeat", "at", "place"),
    [
        (4, 600, 0, 616),  # 16 bases behind the repeat, all of which match
        (150, 600, 0, 616),
        (4, 600, 60, 676),
        (4, 600, 100, 0),  # the bases before it say where the path is
        (4, 1_200, 0, DOUBTFUL),  # none within the limit is behind it
        (40, 60, 0, 0),  # too little of it occurs twice
        (400, 390, 0, 0),
    ],
)
def test_an_end_in_a_tandem_repeat_is_doubtful(unit: int, repeat: int, at: int, place: int) -> None:
    """A path may be off by some copies, and make up for it by a few short gaps."""
    length = 4_000
    (bases,) = random_targets([length])
    target = bases[:at] + (bases[1_500 : 1_500 + unit] * repeat)[:repeat]
    if unit < repeat:  # the base behind a repeat must not continue it
        target += next(base for base in "ACGT" if base != target[-unit])
    target += bases[len(target) :]
    path = [[(length, EQUAL)]]
    expected = ([0], [[place, length, place, length]]) if place else ([], [])
    assert doubtful(path, [target]) == expected
    expected = ([0], [[0, length - place, 0, length - place]]) if place else ([], [])
    assert doubtful(path, [target[::-1]]) == expected


def test_ends_of_short_alignments_are_not_extended_from_far_inside() -> None:
    assert doubtful([[(400, EQUAL)]], ["ACGC" * 100]) == ([], [])


def test_seeds_in_a_microsatellite_do_not_matter(tmp_path: Path) -> None:
    """Reads that begin in a repeat score no less if the first seed is at another copy."""
    rng = random.Random(11)
    targets, reads, pafs = {}, {}, ["", ""]
    for i in range(60):
        unit = "".join(rng.sample("ACGT", k=4))
        repeat = "".join(rng.choice("ACGT") if rng.random() < 0.02 else base for base in unit * 160)
        head, tail = ("".join(rng.choices("ACGT", k=length)) for length in (300, 3_000))
        targets[f"u{i}"] = target = head + repeat + tail
        begin = 300 + rng.randrange(100)
        changed = (["", base + base, rng.choice("ACGT")] if rng.random() < 0.06 else [base] for base in target[begin:])
        reads[f"r{i}"] = read = "".join(map(rng.choice, changed))
        for k, shift in enumerate((0, rng.choice([4, 8, 12, 16]))):
            place = (begin + 40 + shift, len(target))
            pafs[k] += paf_line(f"r{i}", len(read), (40, len(read)), f"u{i}", len(target), place)
    (tmp_path / "ref.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in targets.items()))
    (tmp_path / "reads.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in reads.items()))
    scores = []
    for paf in pafs:
        (tmp_path / "map.paf").write_text(paf)
        options = ("--mappings", "map.paf", "--preset", "map-ont", "--no-header", "--check", "-q")
        result = run("align", "reads.fa", "ref.fa", *options, cwd=tmp_path)
        assert_success(result)
        scores.append([tag(record, "AS") for record in result.rows])
    assert scores[1] == scores[0]


@pytest.mark.parametrize("strand", "+-")
def test_a_tandem_duplication_near_an_end(strand: str, tmp_path: Path) -> None:
    """The gap is before the first copy, far inside. Behind it, the gap costs more than the rest of the read scores."""
    read = REFERENCE[1_000:4_540] + REFERENCE[3_440:4_540] + REFERENCE[4_540:5_000]
    read = wrong(read, *range(5, len(read), 16))
    paf = mapping("r", len(read), (0, len(read)), (1_000, 5_000), strand)
    one, two = records(tmp_path, {"r": turned(read) if strand == "-" else read}, paf, "--cigar", "m")
    assert (one[3], one[5], two[3], two[5]) == ("1001", "3540M1560S", "3443", "3542S1558M")
    assert int(two[1]) & 2048
