"""`wfacli extend`: golden files verified by the oracle, selection of pairs, and error messages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracle_local import Charges, charges, cut_extension, optima, protein_charges, second_best
from tests.oracle_spans import Optimum, runs_of

from .golden_cases import GOLDEN, without_versions
from .golden_extend_cases import EXTEND_CASES, PROTEINS, ExtendCase
from .support import Result, assert_failure, assert_success, fasta, rows_of, run, tags_of
from .test_golden_truth import pairs_of_reads

Inside = Callable[..., Result]


@pytest.mark.parametrize("way", ["-t 2 --batch-bases 1", "-t 1 --batch-bases 300 --check"])
@pytest.mark.parametrize("case", EXTEND_CASES, ids=lambda case: case.expected)
def test_output_is_golden(case: ExtendCase, way: str, inside: Inside) -> None:
    result = inside("extend", *case.arguments, *way.split(), cwd=GOLDEN)
    assert_success(result)
    assert without_versions(result.out) == (GOLDEN / case.expected).read_bytes()


def test_the_command_itself() -> None:
    case = EXTEND_CASES[0]
    result = run("extend", *case.arguments, cwd=GOLDEN)
    assert_success(result)
    assert without_versions(result.out) == (GOLDEN / case.expected).read_bytes()
    assert "13 pairs" in result.err


# Golden files agree with the oracle.


def golden(name: str) -> list[list[str]]:
    return rows_of((GOLDEN / name).read_bytes())


def best_of_reads(charged: Charges, mode: str) -> list[Optimum]:
    return optima([(query.encode(), target.encode()) for query, target in pairs_of_reads()], charged, mode)


def test_local_sam() -> None:
    charged = charges(2, 4, 4, 2)
    best = best_of_reads(charged, "local")
    for row, pair, one in zip(golden("extend.local.sam"), pairs_of_reads(), best, strict=True):
        if one.cigar == "*":
            assert row[1] == "4" and row[5] == "*"
            continue
        query, target = (symbols.encode() for symbols in pair)
        clips = [f"{count}S" if count else "" for count in (one.span[0], len(query) - one.span[1])]
        assert (row[3], row[5]) == (str(one.span[2] + 1), clips[0] + one.cigar + clips[1])
        second = second_best(query, target, charged, "local", one)
        assert (tags_of(row)["AS"], tags_of(row)["XS"]) == (str(one.score), str(second))


def test_extension_tsv() -> None:
    charged = charges(2, 4, 4, 2, n_score=-1)
    for row, pair in zip(golden("extend.extension.tsv")[1:], pairs_of_reads(), strict=True):
        query, target = (symbols.encode() for symbols in pair)
        one, cut = cut_extension(query, target, charged, 0, 0, 8)
        assert (row[2], row[9], row[10]) == (str(one.score), one.cigar, str(int(cut)))
        assert tuple(map(int, row[5:9])) == one.span


def test_global_paf() -> None:
    best = best_of_reads(charges(1, 3, 5, 2, "wildcard"), "global")
    for row, one in zip(golden("extend.global.paf"), best, strict=True):
        assert tags_of(row)["AS"] == str(one.score)
        assert tags_of(row)["cg"] == one.cigar.replace("*", "")


def proteins() -> list[list[tuple[str, bytes]]]:
    sides = []
    for name in PROTEINS:
        records = (GOLDEN / name).read_text().split(">")[1:]
        heads = [record.split("\n", 1) for record in records]
        sides.append([(head.split()[0], symbols.replace("\n", "").encode()) for head, symbols in heads])
    return sides


def test_blast6_of_all_pairs() -> None:
    queries, targets = proteins()
    expected = []
    for query, q in queries:
        for target, t in targets:
            (one,) = optima([(q, t)], protein_charges("BLOSUM62", 11, 1), "local")
            count = {op: sum(n for n, o in runs_of(one.cigar) if o == op) for op in "=XID"}
            columns, gaps = sum(count.values()), sum(op in "ID" for _, op in runs_of(one.cigar))
            if columns:
                i, i_end, j, j_end = one.span
                places = [i + 1, i_end, j + 1, j_end]
                shares = [f"{100 * count['='] / columns:.3f}", columns, count["X"], gaps]
                nats = 0.267 * one.score - math.log(0.041)  # NCBI's lambda and K for BLOSUM62 with 11,1
                scored = [f"{len(q) * len(t) * math.exp(-nats):.2e}", f"{nats / math.log(2):.1f}"]
                expected.append([query, target, *map(str, [*shares, *places, *scored])])
    assert golden("extend.proteins.blast6") == expected


def test_pairs_by_name() -> None:
    queries, targets = (dict(side) for side in proteins())
    rows = golden("extend.pairs.paf")
    assert [(row[0], row[5]) for row in rows] == [("globin1", "third"), ("short", "third"), ("lower", "globin2")]
    for row in rows:
        (one,) = optima([(queries[row[0]], targets[row[5]])], protein_charges("PAM250", 14, 2), "semiglobal")
        assert (tags_of(row)["AS"], tags_of(row)["cg"]) == (str(one.score), one.cigar)
        assert tuple(map(int, (row[2], row[3], row[7], row[8]))) == one.span


# Scores only


def test_score_only_and_second_best(inside: Inside) -> None:
    result = inside("extend", *PROTEINS, "--matrix", "blosum62", "--all", "--score-only", "--second-best", cwd=GOLDEN)
    assert_success(result)
    titles, *rows = result.rows
    assert titles == ["query", "target", "score", "second_best"]
    assert len(rows) == 16 and rows[0][:3] == ["globin1", "globin2", "170"]


def test_stats_say_what_was_asked(inside: Inside, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ["extend", *PROTEINS, "--matrix", "BLOSUM62", "--gaps", "10,2", "--stats", str(report), "-q"]
    assert_success(inside(*arguments, cwd=GOLDEN))
    told = json.loads(report.read_text())
    assert told["options"]["spec"]["gaps"] == [10, 2] and told["options"]["spec"]["scores"] == "BLOSUM62"
    assert told["pairs"] == told["aligned"] == 4 and told["pairs_by_kernel"] == {"sw": 4}


# Rejected options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--scores", "2,4,4"), "like 2,4,4,2"),
        (("--scores", "2,4,4,2", "--matrix", "BLOSUM62"), "give one of them"),
        (("--gaps", "11,1"), "--gaps requires --matrix"),
        (("--matrix", "BLOSUM62", "--gaps", "11"), "like 11,1"),
        (("--matrix", "BLOSUM26"), "neither a file nor one of the matrices BLOSUM62"),
        (("--matrix", "BLOSUM62", "--n-score", "0"), "cannot be used with --matrix"),
        (("--n-score", "0", "--ambiguous", "literal"), "--n-score"),
        (("--scores", "0,4,4,2"), "score above 0"),
        (("--scores", "2,4,0,0"), "cannot both be 0"),
        (("--zdrop", "5"), "--mode extension"),
        (("--band", "5"), "--band"),
        (("--second-best", "--mode", "global"), "--second-best"),
        (("--engine", "gpu", "--second-best"), "leave out --engine gpu"),
        (("--engine", "gpu", "--mode", "extension", "--zdrop", "9"), "leave out --engine gpu"),
        (("--all", "--pair-list", "candidates.txt"), "give one of them"),
        (("--score-only", "--format", "blast6"), "--score-only writes TSV"),
        (("--md", "--format", "blast6"), "BLAST6 has none"),
        (("-o", "x.sam.zst"), "wfacli extend … | zstd > x.sam.zst"),
        (("--sort", "--format", "paf"), "--sort is for SAM, BAM and CRAM"),
    ],
)
def test_options_that_are_refused(options: tuple[str, ...], words: str, inside: Inside) -> None:
    assert_failure(inside("extend", "reads.fq", "targets.fa", *options, cwd=GOLDEN), 2, words)


def test_one_file_has_nothing_to_choose_from(inside: Inside) -> None:
    assert_failure(inside("extend", "pairs.seq", "--all", cwd=GOLDEN), 2, "two files")


@pytest.mark.parametrize("files", [("-", "targets.fa"), ("reads.fq", "-")], ids=" ".join)
def test_standard_input_is_one_file(files: tuple[str, str], inside: Inside) -> None:
    result = inside("extend", *files, "--pair-list", "-", cwd=GOLDEN)
    assert_failure(result, 2, "only one of QUERY, TARGET and --pair-list can be standard input")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "scores.txt: contains no matrix"),
        ("  A C\nA 1 -1\n", "scores.txt, line 2: there is no row for C"),
        ("  A C\nA 1 -1\nC 0\n", "scores.txt, line 3: the row of C has 1 scores, and there are 2 columns"),
        ("  A C\nA 1 -1\nC 0 x\n", "scores.txt, line 3: in the row of C, 'x' is not a whole number"),
    ],
)
def test_matrices_that_are_refused(text: str, words: str, inside: Inside, folder: Path) -> None:
    (folder / "scores.txt").write_text(text)
    arguments = ["extend", "q.fa", "t.fa", "--matrix", "scores.txt", "--gaps", "5,1"]
    assert_failure(inside(*arguments, cwd=folder), 1, words)


def test_a_matrix_without_a_positive_score(inside: Inside, folder: Path) -> None:
    (folder / "scores.txt").write_text("  A C G T\n" + "".join(f"{x} -1 -1 -1 -1\n" for x in "ACGT"))
    arguments = ["extend", "q.fa", "t.fa", "--matrix", "scores.txt", "--gaps", "5,1"]
    assert_failure(inside(*arguments, cwd=folder), 2, "scores.txt has none")


def test_symbols_that_the_matrix_lacks(inside: Inside, folder: Path) -> None:
    (folder / "q.fa").write_bytes(fasta(["MKV", "MUV", "MKV"]))
    (folder / "t.fa").write_bytes(fasta(["MKV"] * 3, "t"))
    arguments = ["extend", "q.fa", "t.fa", "--matrix", "PAM250", "--format", "paf", "--batch-bases", "1"]
    result = inside(*arguments, cwd=folder)
    assert_failure(result, 1, "record r2 and t2", "contains the symbol U, for which PAM250 has no scores")
    assert [row[0] for row in result.rows] == ["r1"]


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("r1\tt1\nr1 t1\n", "pairs.txt, line 2: a line has the names"),
        ("r1\tt1\nr9\tt1\n", "pairs.txt, line 2: r9 is not in q.fa"),
        ("r1\tr1\n", "pairs.txt, line 1: r1 is not in t.fa"),
    ],
)
def test_lists_that_are_refused(listed: str, words: str, inside: Inside, folder: Path) -> None:
    (folder / "pairs.txt").write_text(listed)
    assert_failure(inside("extend", "q.fa", "t.fa", "--pair-list", "pairs.txt", cwd=folder), 1, words)


def test_names_that_mean_two_records(inside: Inside, folder: Path) -> None:
    (folder / "t.fa").write_bytes(b">t1\nACGT\n>t1\nACGT\n")
    (folder / "pairs.txt").write_text("r1\tt1\n")
    result = inside("extend", "q.fa", "t.fa", "--pair-list", "pairs.txt", "--format", "paf", cwd=folder)
    assert_failure(result, 1, "t.fa, record t1: is the name of two records")


def test_a_pair_that_takes_too_much_memory(inside: Inside, folder: Path) -> None:
    symbols = "ACGTTGCA" * 4000
    (folder / "q.fa").write_bytes(fasta([symbols]))
    (folder / "t.fa").write_bytes(fasta([symbols], "t"))
    arguments = ["extend", "q.fa", "t.fa", "--max-memory", "1M", "--format", "paf"]
    result = inside(*arguments, cwd=folder)
    assert_failure(result, 1, "1 pair was written without an alignment (1 MEMORY_LIMIT); --max-memory is the limit")
    assert result.rows[0][4] == "*"
