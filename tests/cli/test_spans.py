"""Modes with unaligned ends: how SAM, PAF and TSV report the aligned and unaligned parts."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from . import replay
from .support import Result, assert_failure, assert_success, run, table, tags_of

Align = Callable[..., Result]
MODES = {
    "global": (),
    "semiglobal": ("--mode", "semiglobal"),
    "overlap": ("--mode", "overlap", "--match", "2"),
    "ends-free": ("--mode", "ends-free", "--free", "6,2,all,3"),
    "ends-free with a bonus": ("--mode", "ends-free", "--free", "all,all,0,5", "--match", "1"),
    "extension": ("--mode", "extension", "--match", "2"),
    "hw by edits": ("--mode", "semiglobal", "--metric", "edit"),
    "overlap by two pieces": ("--mode", "overlap", "--metric", "affine2p", "--match", "3"),
}
every_mode = pytest.mark.parametrize("options", MODES.values(), ids=list(MODES))


def ragged_pairs(count: int = 60) -> list[tuple[str, str]]:
    """Return pairs that share a part, with a mismatch and a gap, between unrelated ends; some share nothing."""
    rng = random.Random(17)

    def symbols(most: int) -> str:
        return "".join(rng.choices("ACGT", k=rng.randint(0, most)))

    pairs = [("", ""), ("", "ACG"), ("ACG", ""), ("AAAA", "CCCCC"), ("ACGTN", "TTACGTNA")]
    while len(pairs) < count:
        part = symbols(60) + "ACGTTGCA"
        at = rng.randrange(len(part))
        other = part[:at] + rng.choice(["", "N", "GG"]) + part[at + 1 :]
        pairs.append((symbols(12) + part + symbols(9), symbols(12) + other.lower() + symbols(9)))
    return pairs


PAIRS = ragged_pairs()


@pytest.fixture
def align(tmp_path: Path, inside: Callable[..., Result]) -> Align:
    """A function that runs `wfacli align` on the ragged pairs, in a separate folder."""
    (tmp_path / "pairs.tsv").write_bytes(table(PAIRS, names=True))
    return lambda *options: inside("align", "pairs.tsv", *options, cwd=tmp_path)


def rows(align: Align, format_: str, *options: str) -> list[list[str]]:
    result = align("--format", format_, "--no-header", *options)
    assert_success(result)
    assert len(result.rows) == len(PAIRS)
    return result.rows


def parts(row: list[str], pair: tuple[str, str]) -> tuple[list[int], str, str]:
    """Return ((query begin, query end, target begin, target end), query part, target part) of a TSV row."""
    span = [int(field) for field in row[5:9]]
    assert 0 <= span[0] <= span[1] <= len(pair[0]) and 0 <= span[2] <= span[3] <= len(pair[1])
    return span, pair[0][span[0] : span[1]], pair[1][span[2] : span[3]]


# Pairs small enough to verify by eye: options, query, target, and TSV's score, span and CIGAR.
SEEN = [
    ("--mode semiglobal", "ACGTTGCA", "TTTTACGTTGCATTT", 0, (0, 8, 4, 12), "8="),
    ("--mode semiglobal", "ACGTAGCA", "TTTTACGTTGCATTT", -4, (0, 8, 4, 12), "4=1X3="),
    ("--mode semiglobal", "GGACGTTGCA", "TTTTACGTTGCATTT", -8, (0, 10, 2, 12), "2X8="),
    ("--mode overlap --match 1", "GGGGACGTTGCA", "ACGTTGCATTTTTT", 8, (4, 12, 0, 8), "8="),
    ("--mode overlap --match 1", "ACGTTGCATTTTTT", "GGGGACGTTGCA", 8, (0, 8, 4, 12), "8="),
    ("--mode overlap --match 1", "GACGTTGCAG", "ACGTTGCA", 8, (1, 9, 0, 8), "8="),
    ("--mode overlap --match 1", "ACGTTGCA", "GACGTTGCAG", 8, (0, 8, 1, 9), "8="),
    ("--mode overlap --match 1", "AAAA", "CCCC", 0, None, "*"),
    ("--mode extension --match 1", "ACGTTGCAGGGGG", "ACGTTGCACCCCC", 8, (0, 8, 0, 8), "8="),
    ("--mode extension --match 5", "ACGTTGCA", "ACGTAGCA", 31, (0, 8, 0, 8), "4=1X3="),
    ("--mode extension --match 1", "TACGTTGCA", "AACGTTGCA", 4, (0, 9, 0, 9), "1X8="),
    ("--mode extension --match 1", "TACG", "AACG", 0, (0, 0, 0, 0), "*"),
    ("--mode ends-free --free 3,0,0,0", "GGGACGTTGCA", "ACGTTGCA", 0, (3, 11, 0, 8), "8="),
    ("--mode ends-free --free 2,0,0,0", "GGGACGTTGCA", "ACGTTGCA", -8, (2, 11, 0, 8), "1I8="),
    ("--mode ends-free --free 0,all,0,0", "ACGTTGCAGGG", "ACGTTGCA", 0, (0, 8, 0, 8), "8="),
    ("--mode ends-free --free 0,0,2,0", "ACGTTGCA", "GGGACGTTGCA", -8, (0, 8, 2, 11), "1D8="),
    ("--mode ends-free --free 0,0,0,3", "ACGTTGCA", "ACGTTGCAGGG", 0, (0, 8, 0, 8), "8="),
    ("--mode ends-free --free 0,0,0,0", "ACGTTGCA", "ACGTTGCAGGG", -12, (0, 8, 0, 11), "8=3D"),
]


@pytest.mark.parametrize(("options", "query", "target", "score", "span", "cigar"), SEEN)
def test_what_each_mode_aligns(
    tmp_path: Path, options: str, query: str, target: str, score: int, span: tuple[int, ...] | None, cigar: str
) -> None:
    (tmp_path / "pairs.tsv").write_text(f"{query}\t{target}\n")
    result = run("align", "pairs.tsv", "--format", "tsv", "--no-header", *options.split(), cwd=tmp_path)
    assert_success(result)
    (row,) = result.rows
    assert (int(row[2]), row[9]) == (score, cigar)
    if span:
        assert tuple(map(int, row[5:9])) == span


@every_mode
def test_tsv(align: Align, options: tuple[str, ...]) -> None:
    some = 0
    for row, pair in zip(rows(align, "tsv", *options), PAIRS, strict=True):
        span, query, target = parts(row, pair)
        columns = replay.columns(query, target, row[9])
        edits = sum(not (q and t and replay.same_base(q, t)) for _, q, t in columns)
        assert int(row[3]) == edits
        assert row[4] == ("nan" if not columns else f"{1 - edits / len(columns):.6f}")
        some += span != [0, len(pair[0]), 0, len(pair[1])]
    assert some == 0 if options == () else some > 30


@every_mode
def test_sam_and_paf_say_the_same(align: Align, options: tuple[str, ...]) -> None:
    tags = ("--md", "--cs")
    texts = (rows(align, "tsv", *options), rows(align, "sam", *tags, *options), rows(align, "paf", *tags, *options))
    for tsv, sam, paf, pair in zip(*texts, PAIRS, strict=True):
        (q_beg, q_end, t_beg, t_end), query, target = parts(tsv, pair)
        lengths, cigar = (str(len(pair[0])), str(len(pair[1]))), tsv[9]
        if cigar == "*" and any(pair):
            assert paf == [tsv[0], lengths[0], "0", "0", "*", "*", "0", "0", "0", "0", "0", "0"]
        else:
            assert paf[:9] == [tsv[0], lengths[0], *tsv[5:7], "+", tsv[1], lengths[1], *tsv[7:9]]
            assert int(paf[10]) - int(paf[9]) == int(tsv[3])
            expected = {"NM": tsv[3], "AS": tsv[2], "cg": cigar.strip("*"), "cs": replay.cs(query, target, cigar)}
            assert tags_of(paf).items() >= {**expected, "MD": replay.md(query, target, cigar)}.items()
        # A mapped SAM record aligns bases of both sequences; all others are written as unmapped.
        if not query or not target:
            assert sam[1:9] == ["4", "*", "0", "0", "*", "*", "0", "0"] and not tags_of(sam)
            continue
        head, tail = (f"{n}S" if n else "" for n in (q_beg, len(pair[0]) - q_end))
        assert sam[:9] == [tsv[0], "0", tsv[1], str(t_beg + 1), "255", head + cigar + tail, "*", "0", "0"]
        assert sam[9] == pair[0]
        assert {k: v for k, v in tags_of(paf).items() if k in ("NM", "AS", "MD", "cs")} == tags_of(sam)
        assert t_beg + sum(n for n, op in replay.runs(cigar) if op != "I") == t_end <= len(pair[1])


@every_mode
@pytest.mark.parametrize("style", ["eqx", "m"])
def test_pysam_reads_what_was_aligned(align: Align, tmp_path: Path, options: tuple[str, ...], style: str) -> None:
    pysam = pytest.importorskip("pysam")
    expected = rows(align, "tsv", *options)
    assert_success(align("-o", "x.sam", "--md", "--cigar", style, *options))
    with pysam.AlignmentFile(str(tmp_path / "x.sam"), check_sq=True) as sam:
        records = list(sam)
    for record, row, pair in zip(records, expected, PAIRS, strict=True):
        (q_beg, q_end, t_beg, t_end), query, target = parts(row, pair)
        assert (record.query_sequence or "") == pair[0]
        assert record.is_unmapped == (not query or not target)
        if record.is_unmapped:
            continue
        assert (record.query_alignment_start, record.query_alignment_end) == (q_beg, q_end)
        assert (record.reference_start, record.reference_end) == (t_beg, t_end)
        assert record.infer_query_length() == len(pair[0])  # soft clips and aligned bases
        assert record.get_reference_sequence().upper() == target.upper()
        assert record.get_tag("NM") == int(row[3])


@pytest.mark.parametrize(
    ("free", "aligned"), [("0,0,all,0", "4I"), ("0,0,0,all", "4I"), ("all,0,0,0", "4D"), ("0,all,0,0", "4D")]
)
def test_an_alignment_without_symbols_of_a_side_has_no_place_in_sam(tmp_path: Path, free: str, aligned: str) -> None:
    # It would lie beyond the end of the target, or contain no base of the read.
    (tmp_path / "pairs.tsv").write_text("AAAA\tCCCC\n")
    options = ("pairs.tsv", "--no-header", "--mode", "ends-free", "--free", free)
    (paf,) = run("align", *options, "--format", "paf", cwd=tmp_path).rows
    assert tags_of(paf)["cg"] == aligned
    (sam,) = run("align", *options, cwd=tmp_path).rows
    assert sam == ["pair1", "4", "*", "0", "0", "*", "*", "0", "0", "AAAA", "*"]


def test_qualities_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "q.fq").write_text("@r\nGGGGACGTTGCA\n+\nABCDEFGHIJKL\n")
    (tmp_path / "t.fa").write_text(">t\nACGTTGCATTT\n")
    (row,) = run("align", "q.fq", "t.fa", "--mode", "overlap", "--match", "1", cwd=tmp_path).rows
    assert (row[5], row[9:11]) == ("4S8=", ["GGGGACGTTGCA", "ABCDEFGHIJKL"])


@every_mode
@pytest.mark.parametrize("format_", ["sam", "paf", "tsv"])
def test_threads_and_batches_change_nothing(align: Align, options: tuple[str, ...], format_: str) -> None:
    ways = ("-t 1", "-t 2", "-t 2 --batch-bases 1", "-t 1 --batch-bases 500 --check")
    texts = [align("--format", format_, "--no-header", *options, *way.split()) for way in ways]
    for one, other in pairwise(texts):
        assert_success(other)
        assert one.out == other.out and one.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--free 1,2,3,4", ("--free", "--mode ends-free", "global")),
        ("--mode semiglobal --free 0,0,all,all", ("--free", "--mode ends-free", "semiglobal")),
        ("--mode extension --match 1 --free 0,0,all,all", ("--free", "ends-free", "extension")),
        ("--mode ends-free", ("--free QB,QE,TB,TE",)),
        ("--mode ends-free --free 1,2,3", ("--free", "four numbers", "'1,2,3'")),
        ("--mode ends-free --free 1,2,3,4,5", ("--free", "four numbers")),
        ("--mode ends-free --free 1,2,3,some", ("--free", "'all'")),
        ("--mode ends-free --free=-1,0,0,0", ("--free", "four numbers")),
        ("--mode ends-free --free 0,0,0,9999999999", ("free ends", "2147483647")),
        ("--mode overlap", ("overlap", "--match")),
        ("--mode extension", ("extension", "--match")),
        ("--mode extension --match 0", ("extension", "--match")),
        ("--mode local", ("--mode", "local")),
    ],
)
def test_options_that_do_not_go_together(align: Align, options: str, words: tuple[str, ...]) -> None:
    result = align(*options.split())
    assert_failure(result, 2, *words)
    assert not result.out
