"""Metrics, maximum costs and heuristics: scores, dropped cells, and how they are reported."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import replay
from .support import Result, assert_failure, assert_success, rows_of, run, table, tags_of
from .test_spans import PAIRS as RAGGED

Align = Callable[..., Result]
TITLES = "query target score edits identity query_start query_end target_start target_end cigar"

# A mismatch; a gap of 3; a gap of 30; no match; equal; empty.
PAIRS = [
    ("ACGTACGT", "ACGAACGT"),
    ("ACGTACGT", "ACGTTTTACGT"),
    ("ACGT" + "ACG" * 10 + "TTTT", "ACGTTTTT"),
    ("AAAA", "CCCC"),
    ("ACGTACGT", "acgtacgt"),
    ("", ""),
]
METRICS = {
    "--metric edit": (-1, -3, -30, -4, 0, 0),
    "--metric indel": (-2, -3, -30, -8, 0, 0),
    "--metric linear": (-4, -6, -60, -16, 0, 0),
    "--metric linear --penalties 3,1": (-2, -3, -30, -8, 0, 0),
    "--metric affine": (-4, -12, -66, -16, 0, 0),
    "--metric affine --penalties 5,0,2": (-4, -6, -60, -16, 0, 0),
    "--metric affine2p": (-4, -12, -54, -16, 0, 0),
    "--metric affine2p --penalties 4,2,5,10,1": (-4, -13, -40, -16, 0, 0),
    "--metric edit --match 1": (6, 5, -22, -4, 8, 0),
    "--metric affine --match 2": (10, 4, -50, -16, 16, 0),
    "--metric affine2p --match 3": (17, 12, -30, -16, 24, 0),
}


@pytest.fixture
def align(tmp_path: Path, inside: Callable[..., Result]) -> Align:
    """A function that runs `wfacli align` on PAIRS, with TSV output without its header by default."""
    (tmp_path / "pairs.tsv").write_bytes(table(PAIRS, names=True))
    (tmp_path / "ragged.tsv").write_bytes(table(RAGGED, names=True))
    return lambda *options, file="pairs.tsv": inside("align", file, *options, cwd=tmp_path)


def tsv(align: Align, options: str, file: str = "pairs.tsv") -> list[list[str]]:
    result = align(*options.split(), "--format", "tsv", "--no-header", file=file)
    assert_success(result)
    return result.rows


def report_of(align: Align, folder: Path, options: str, file: str = "pairs.tsv") -> dict[str, Any]:
    assert_success(align(*options.split(), "-o", "x.tsv", "--stats", "s.json", file=file))
    return json.loads((folder / "s.json").read_text())


@pytest.mark.parametrize(("options", "scores"), METRICS.items(), ids=list(METRICS))
def test_metrics(align: Align, options: str, scores: tuple[int, ...]) -> None:
    rows = tsv(align, options)
    assert tuple(int(row[2]) for row in rows) == scores
    for row, (query, target) in zip(rows, PAIRS, strict=True):
        operations = {op for op, _, _ in replay.columns(query, target, row[9])}
        assert operations <= ({"=", "I", "D"} if "indel" in options else {"=", "X", "I", "D"})
    sam = align(*options.split(), "--no-header", "--check").rows
    paf = align(*options.split(), "--format", "paf").rows
    assert [tags_of(row)["AS"] for row in paf] == [str(score) for score in scores]
    assert [tags_of(row)["AS"] for row in sam[:-1]] == [str(score) for score in scores[:-1]]


@pytest.mark.parametrize("options", [*METRICS, "--metric affine --max-memory 1M", "--band 3", "--xdrop 9 --match 1"])
def test_threads_and_batches_change_nothing(align: Align, options: str) -> None:
    expected = tsv(align, f"{options} -t 1", "ragged.tsv")
    for way in ("-t 2", "-t 2 --batch-bases 1", "-t 1 --batch-bases 300 --check"):
        assert tsv(align, f"{options} {way}", "ragged.tsv") == expected


# Scores only


@pytest.mark.parametrize(
    "options", [*METRICS, "--mode semiglobal", "--mode overlap --match 2", "--mode extension --match 2"]
)
def test_scores_alone_are_the_alignments_scores(align: Align, options: str) -> None:
    expected = [row[:3] for row in tsv(align, options, "ragged.tsv")]
    assert tsv(align, f"{options} --score-only --check", "ragged.tsv") == expected


@pytest.mark.parametrize("output", [(), ("-o", "x.tsv"), ("-o", "x.txt"), ("-o", "x.txt", "--format", "tsv")])
def test_scores_alone_are_written_as_a_table(align: Align, tmp_path: Path, output: tuple[str, ...]) -> None:
    result = align("--score-only", *output)
    assert_success(result)
    rows = rows_of((tmp_path / output[1]).read_bytes() if output else result.out)
    assert rows[0] == ["query", "target", "score"]
    assert [row[2] for row in rows[1:]] == [str(score) for score in METRICS["--metric affine"]]


# Maximum cost


@pytest.mark.parametrize("metric", [m for m in METRICS if "match" not in m])
def test_pairs_over_the_bound_have_no_alignment(align: Align, metric: str) -> None:
    costs = [-score for score in METRICS[metric]]
    for bound in sorted({0, costs[1] - 1, costs[1], costs[1] + 1, costs[2]}):
        rows = tsv(align, f"{metric} --max-cost {bound}")
        assert [row[2] for row in rows] == [str(-cost) if cost <= bound else "*" for cost in costs]
        assert all(row[3:] == ["*"] * 7 for row in rows if row[2] == "*")
        alone = tsv(align, f"{metric} --max-cost {bound} --score-only")
        assert alone == [row[:3] for row in rows]


def test_pairs_over_the_bound_in_every_format(align: Align, tmp_path: Path) -> None:
    result = align("--no-header", "--md", "--cs", "--max-cost", "12", "--check")
    assert_success(result)
    assert result.rows[2] == ["n3", "4", "*", "0", "0", "*", "*", "0", "0", PAIRS[2][0], "*"]
    assert [row[1] for row in result.rows] == ["0", "0", "4", "4", "0", "4"]
    paf = align("--format", "paf", "--max-cost", "12").rows
    assert paf[2] == ["n3", str(len(PAIRS[2][0])), "0", "0", *"**", *"000000"]
    assert [row[5] for row in paf] == ["n1", "n2", "*", "*", "n5", "n6"]
    for format_ in ("sam", "paf"):
        whole = align("--no-header", "--format", format_).rows
        kept = align("--no-header", "--format", format_, "--max-cost", "12").rows
        assert [kept[i] for i in (0, 1, 4)] == [whole[i] for i in (0, 1, 4)]


def test_a_score_beyond_32_bits_is_an_error_of_its_pair_alone(tmp_path: Path) -> None:
    """Regression test: the score wrapped around, and the exit status was 0."""
    long = "ACGTTGCA" * 27_000  # 216,000 bases
    (tmp_path / "pairs.tsv").write_text(f"long\t{long}\t{long}\nshort\tACGT\tACGA\n")
    done = run("align", "pairs.tsv", "--match", "10000", "--format", "tsv", "-q", cwd=tmp_path)
    assert_failure(done, 1, "1 pair was written without an alignment (1 SCORE_RANGE); a score must fit 32 bits")
    _, long_row, short_row = rows_of(done.out)
    assert long_row[:3] == ["long", "long", "*"] and short_row[:3] == ["short", "short", str(3 * 10_000 - 4)]


def test_the_user_learns_how_many_pairs_are_over_the_bound(align: Align, tmp_path: Path) -> None:
    result = align("--max-cost", "12")
    assert_success(result)
    assert "6 pairs (2 over --max-cost)" in result.err
    assert "over" not in align("--max-cost", "66").err
    assert "over" not in align().err
    report = report_of(align, tmp_path, "--max-cost 12")
    assert (report["pairs"], report["aligned"], report["unaligned"]) == (6, 4, {"SCORE_LIMIT": 2})


# Heuristics


@pytest.mark.parametrize(
    "options", ["--band 1", "--band 2,5", "--band 1 --metric edit", "--band 1,4 --mode semiglobal"]
)
def test_a_narrow_band_marks_what_may_be_improved(align: Align, tmp_path: Path, options: str) -> None:
    exact = " ".join(options.split()[2:])
    best = tsv(align, exact, "ragged.tsv")
    rows = tsv(align, options, "ragged.tsv")
    marks = [row[10] for row in rows]
    assert set(marks) >= {"0", "1"}
    for row, top in zip(rows, best, strict=True):
        assert len(row) == 11
        if row[10] == "0":
            assert row[:10] == top
        elif row[10] == "1":
            assert int(row[2]) <= int(top[2])
        else:
            assert row[2:] == ["*"] * 9
    assert tsv(align, f"{options} --score-only", "ragged.tsv") == [[*row[:3], row[10]] for row in rows]
    sam = align(*options.split(), "--no-header", "--check", file="ragged.tsv").rows
    paf = align(*options.split(), "--format", "paf", file="ragged.tsv").rows
    for record, row in (*zip(sam, rows, strict=True), *zip(paf, rows, strict=True)):
        mapped = "NM" in tags_of(record)
        assert ("xh:i:1" in record) == (mapped and row[10] == "1")
    counted = f"{marks.count('1')} that may be improved)"
    assert counted in align(*options.split(), "--format", "tsv", file="ragged.tsv").err
    report = report_of(align, tmp_path, options, "ragged.tsv")
    assert (report["heuristic"], report["aligned"]) == (marks.count("1"), len(rows) - marks.count("*"))


def test_a_band_can_miss_the_best_alignment(align: Align, tmp_path: Path) -> None:
    # The path leaves its diagonal by eight, and returns.
    (tmp_path / "pairs.tsv").write_text(f"{'A' * 8}{'ACGTTGCA' * 4}\t{'ACGTTGCA' * 4}{'C' * 8}\n")
    (exact,), (narrow,) = tsv(align, ""), tsv(align, "--band 2")
    assert int(narrow[2]) < int(exact[2]) and narrow[10] == "1"
    assert tsv(align, "--band 8")[0][:10] == exact
    assert tsv(align, "--band 40") == [[*exact, "0"]]


@pytest.mark.parametrize(
    "options",
    [
        "--band 1000",
        "--band 1000,7",
        "--band 1000 --metric affine2p",
        "--band 1000 --mode semiglobal",
        "--band 1000000000,1000000000 --mode overlap --match 2",
        "--xdrop 1000000 --match 1",
        "--xdrop 1000000000 --match 2 --metric affine2p --mode overlap",
        "--xdrop 1000000 --match 7 --penalties 5,8,3",
        "--zdrop 1000000 --match 1 --mode extension",
    ],
)
def test_heuristics_that_leave_nothing_out_change_nothing(align: Align, options: str) -> None:
    words = options.split()
    exact = " ".join(words[2:])
    assert tsv(align, options, "ragged.tsv") == [[*row, "0"] for row in tsv(align, exact, "ragged.tsv")]
    for format_ in ("sam", "paf"):
        there, back = (align("--no-header", "--format", format_, *o.split()) for o in (options, exact))
        assert there.out == back.out
    assert "improved" not in align(*words, file="ragged.tsv").err


def test_pairs_that_a_drop_gives_up(align: Align, tmp_path: Path) -> None:
    result = align("--xdrop", "5", "--match", "1", "--format", "tsv")
    assert_success(result)
    assert result.rows[0] == [*TITLES.split(), "heuristic"]
    rows = result.rows[1:]
    lost = sum(row[2] == "*" for row in rows)
    assert rows[2][2:] == ["*"] * 9 and rows[4][2:4] == ["8", "0"]
    assert f"6 pairs ({lost} given up by heuristics" in result.err
    report = report_of(align, tmp_path, "--xdrop 5 --match 1")
    assert report["unaligned"] == {"DROPPED": lost}


def test_a_z_drop_ends_an_extension(align: Align, tmp_path: Path) -> None:
    # 20 matches, 12 mismatches, 40 matches: the longer alignment scores more, but its score drops by 48 in between.
    query = "ACGTTGCATCAGGATCCAGT" + "A" * 12 + "GATTACAGCC" * 4
    (tmp_path / "pairs.tsv").write_text(f"{query}\t{query[:20]}{'C' * 12}{query[32:]}\n")
    spans = [tsv(align, f"--mode extension --match 2 --zdrop {drop}")[0] for drop in (20, 60)]
    assert [row[2] for row in spans] == ["40", "72"]
    assert [row[6] for row in spans] == ["20", "72"]
    assert spans[0][10] == "1"


@pytest.mark.parametrize("last", ["match", "mismatch"])
def test_an_extension_that_nothing_can_improve_is_not_marked(align: Align, tmp_path: Path, last: str) -> None:
    bases = "".join(random.Random(6).choices("ACGT", k=600))
    other = "A" if bases[59] != "A" else "C"
    query = bases[:59] + (bases[59] if last == "match" else other)
    (tmp_path / "pairs.tsv").write_text(f"{query}\t{bases}\n")
    (row,) = tsv(align, "--mode extension --match 2 --zdrop 5")
    aligned = "60" if last == "match" else "59"
    assert (row[6], row[8], row[10]) == (aligned, aligned, "0")


def test_a_z_drop_ends_no_extension_whose_path_is_far_ahead(align: Align, tmp_path: Path) -> None:
    # After a mismatch that follows a long run of matches, wavefronts of the next costs only contain paths near the
    # start.
    symbols = "".join(random.Random(9).choices("ACGT", k=1_200))
    places, opposite = (20, 40, 700), str.maketrans("ACGT", "CATG")
    wrong = "".join(c.translate(opposite) if i in places else c for i, c in enumerate(symbols))
    (tmp_path / "pairs.tsv").write_text(f"{symbols}\t{wrong}\n")
    (row,) = tsv(align, "--mode extension --match 2 --zdrop 100")
    assert (row[6], row[9]) == ("1200", "20=1X19=1X659=1X499=")


# Memory


def test_little_memory_changes_nothing(align: Align, tmp_path: Path) -> None:
    symbols = "".join(query for query, _ in RAGGED)
    pairs = [(symbols, symbols[::-1]), (symbols[:1500], symbols[700:]), (symbols * 2, symbols)]
    (tmp_path / "pairs.tsv").write_bytes(table(pairs))
    expected = tsv(align, "")
    for size in ("1M", "1m", "2.5MiB", "1024K", "1048576", "1G", "3TB"):
        assert tsv(align, f"--max-memory {size}") == expected
    report = report_of(align, tmp_path, "--max-memory 1M")
    assert sum(report["options"]["limits"].values()) == 1 << 20


def test_memory_is_bounded_by_the_shorter_sequence(align: Align, tmp_path: Path) -> None:
    """16 to 64 bytes of each base of a long query beside a short target do not fit."""
    longer = "ACGGT" * 60_000
    (tmp_path / "pairs.tsv").write_bytes(table([(longer, "ACGT"), ("ACGT", longer)]))
    for metric, score in (("edit", 299_996), ("linear", 599_992), ("affine", 599_998), ("affine2p", 300_020)):
        rows = tsv(align, f"--metric {metric} --max-memory 1M")
        assert [int(row[2]) for row in rows] == [-score, -score]


# Errors


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--score-only --format sam", ("--score-only", "SAM", "--format tsv")),
        ("--score-only --format paf", ("--score-only", "PAF", "--format tsv")),
        ("--score-only -o x.paf", ("--score-only", "PAF", "--format tsv")),
        ("--score-only -o x.sam", ("--score-only", "SAM", "--format tsv")),
        ("--score-only --md", ("--md", "TSV")),
        ("--score-only --cs", ("--cs", "TSV")),
        ("--score-only --read-group @RG", ("--read-group", "TSV")),
        ("--metric edit --penalties 1", ("edit", "--penalties")),
        ("--metric indel --penalties 1,1,1", ("indel", "--penalties")),
        ("--metric linear --penalties 4,6,2", ("linear has 2 penalties", "mismatch,gap", "not 3")),
        ("--metric linear --penalties 4", ("linear has 2 penalties", "not 1")),
        ("--metric affine --penalties 4,6", ("affine has 3 penalties", "mismatch,open,extend", "not 2")),
        ("--metric affine2p --penalties 4,6,2", ("affine2p has 5 penalties", "open2,extend2", "not 3")),
        ("--penalties 4,6,2,24,1", ("affine has 3 penalties", "not 5")),
        ("--match 10001", ("match bonus", "10001", "10,000")),
        ("--match=-1", ("--match",)),
        ("--max-cost=-1", ("--max-cost",)),
        ("--max-cost some", ("--max-cost", "some")),
        ("--max-cost 99999999999", ("cost", "99999999999", "2,147,483,647")),
        ("--max-cost 10 --match 1", ("--max-cost", "--match")),
        ("--xdrop 10", ("X-drop", "--match")),
        ("--xdrop 99999999999 --match 1", ("X-drop", "1,000,000,000")),
        ("--zdrop 10 --match 1", ("Z-drop", "--mode extension")),
        ("--zdrop 10 --mode overlap --match 1", ("Z-drop", "--mode extension")),
        ("--zdrop 9999999999 --mode extension --match 1", ("Z-drop", "1,000,000,000")),
        ("--band 0", ("--band", "'0'")),
        ("--band=-5", ("--band", "'-5'")),
        ("--band 5,0", ("--band", "'5,0'")),
        ("--band 5,5,5", ("--band", "100,50")),
        ("--band wide", ("--band", "'wide'")),
        ("--band 99999999999", ("band's width", "1,000,000,000")),
        ("--band 5,99999999999", ("band's step", "1,000,000,000")),
        ("--max-memory much", ("--max-memory", "500M", "'much'")),
        ("--max-memory 0", ("--max-memory", "the minimum is 1M")),
        ("--max-memory 1000K", ("--max-memory", "1000K", "the minimum is 1M")),
        ("--max-memory=-1G", ("--max-memory", "'-1G'")),
    ],
)
def test_options_that_make_no_sense(align: Align, tmp_path: Path, options: str, words: tuple[str, ...]) -> None:
    result = align(*options.split())
    assert_failure(result, 2, *words)
    assert not result.out and not list(tmp_path.glob("x.*"))
