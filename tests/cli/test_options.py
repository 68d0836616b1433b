"""Options of `wfacli align`: formats, tags, scoring, engine."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PAIRS
from .support import (
    Result,
    assert_failure,
    assert_success,
    command,
    environment,
    header_of,
    rows_of,
    tags_of,
)

Align = Callable[..., Result]
FIRST_WORDS = {"sam": "@HD", "paf": "r1", "tsv": "query", "blast6": "r1"}


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("x.sam", "sam"),
        ("x.paf", "paf"),
        ("x.tsv", "tsv"),
        ("x.TSV", "tsv"),
        ("x", "sam"),
        ("x.out", "sam"),
        ("x.m8", "blast6"),
    ],
)
def test_suffix_chooses_the_format(align: Align, folder: Path, name: str, format_: str) -> None:
    result = align("q.fa", "t.fa", "-o", name)
    assert_success(result)
    assert not result.out
    assert (folder / name).read_text().split("\t")[0] == FIRST_WORDS[format_]
    assert not list(folder.glob("*.partial-*"))


@pytest.mark.parametrize("format_", FIRST_WORDS)
def test_format_option_wins(align: Align, folder: Path, format_: str) -> None:
    # Suffixes of other formats are refused: see test_output_names.
    for name in ("x", "x.txt", "x.tsv"):
        assert_success(align("q.fa", "t.fa", "-o", name, "--format", format_))
        assert (folder / name).read_text().split("\t")[0] == FIRST_WORDS[format_]


@pytest.mark.parametrize(
    ("name", "advice"),
    [("x.sam.zst", "| zstd > x.sam.zst"), ("x.paf.zst", "| zstd > x.paf.zst")],
)
def test_formats_that_are_not_written(align: Align, folder: Path, name: str, advice: str) -> None:
    assert_failure(align("q.fa", "t.fa", "-o", name), 2, advice)
    assert not list(folder.glob("x*"))


def test_output_replaces_a_file(align: Align, folder: Path) -> None:
    (folder / "x.paf").write_text("old")
    assert_success(align("q.fa", "t.fa", "-o", "x.paf"))
    assert len(rows_of((folder / "x.paf").read_bytes())) == len(PAIRS)


def test_output_through_a_link_keeps_the_link(align: Align, folder: Path) -> None:
    (folder / "there").mkdir()
    (folder / "x.paf").symlink_to("there/real.paf")
    assert_success(align("q.fa", "t.fa", "-o", "x.paf"))
    assert (folder / "x.paf").is_symlink()
    assert len(rows_of((folder / "there/real.paf").read_bytes())) == len(PAIRS)


def test_dash_is_standard_output(align: Align) -> None:
    paf = ("q.fa", "t.fa", "--format", "paf")
    assert align(*paf, "-o", "-").out == align(*paf).out


bash = pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")


@bash
@pytest.mark.parametrize("output", ["-o /dev/stdout | cat > x.paf", "-o >(cat > x.paf)", "> x.paf"])
def test_output_into_pipes_of_the_shell(folder: Path, output: str) -> None:
    line = f'"$@" <(cat q.fa) t.fa --format paf {output}'
    arguments = ["bash", "-o", "pipefail", "-c", line, "bash", *command(), "align"]
    done = subprocess.run(arguments, cwd=folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr

    def rows() -> int:
        return len(rows_of((folder / "x.paf").read_bytes()))

    end = time.monotonic() + 60  # bash does not wait for the process of >( )
    while rows() < len(PAIRS) and time.monotonic() < end:
        time.sleep(0.05)
    assert rows() == len(PAIRS)


def test_cigar_styles(align: Align) -> None:
    eqx = [row[5] for row in align("q.fa", "t.fa").rows]
    plain = [row[5] for row in align("q.fa", "t.fa", "--cigar", "m").rows]
    assert all("=" in cigar and "M" not in cigar for cigar in eqx)
    assert all("M" in cigar and "=" not in cigar and "X" not in cigar for cigar in plain)


@pytest.mark.parametrize("format_", ["sam", "paf"])
def test_tags_are_there_when_asked_for(align: Align, format_: str) -> None:
    usual = {"NM", "AS"} if format_ == "sam" else {"NM", "AS", "de", "tp", "cg"}
    for more in (set(), {"MD"}, {"cs"}, {"MD", "cs"}):
        result = align("q.fa", "t.fa", "--format", format_, *(f"--{tag.lower()}" for tag in more))
        assert_success(result)
        assert all(tags_of(row[11:]).keys() == usual | more for row in result.rows)


@pytest.mark.parametrize("tag", ["--md", "--cs"])
def test_tags_do_not_go_with_a_table(align: Align, tag: str) -> None:
    assert_failure(align("q.fa", "t.fa", "--format", "tsv", tag), 2, tag, "TSV")


@pytest.mark.parametrize("tab", [r"\t", "\t"], ids=["typed", "real"])
def test_read_group(align: Align, tab: str) -> None:
    result = align("q.fa", "t.fa", "--read-group", tab.join(["@RG", "ID:run1", "SM:one sample"]))
    assert_success(result)
    assert "@RG\tID:run1\tSM:one sample" in header_of(result.out)
    assert {tags_of(row)["RG"] for row in result.rows} == {"run1"}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("ID:run1", "@RG"),
        (r"@RG ID:a", "@RG"),
        ("", "@RG"),
        (r"@RG\tSM:one", "ID:"),
        (r"@RG\tID:", "ID:"),
        (r"@RG\tID:a\tID:b", "ID:"),
        (r"@RG\tID:a\tsample", "sample"),
        ("@RG\\tID:a\nx", "line"),
    ],
)
def test_malformed_read_group(align: Align, line: str, word: str) -> None:
    result = align("q.fa", "t.fa", "--read-group", line)
    assert_failure(result, 2, word)
    assert not result.out


def test_read_group_belongs_to_sam(align: Align) -> None:
    result = align("q.fa", "t.fa", "--read-group", r"@RG\tID:a", "--format", "paf")
    assert_failure(result, 2, "--read-group", "PAF")


def test_edit_distance(align: Align, folder: Path) -> None:
    (folder / "pairs.tsv").write_text("ACGTACGT\tACGACTGT\nAAAA\tAAAACCC\nACGT\tACGT\n")
    result = align("pairs.tsv", "--metric", "edit", "--format", "paf")
    assert [tags_of(row)["AS"] for row in result.rows] == ["-2", "-3", "0"]


@pytest.mark.parametrize(
    ("penalties", "cost"), [("4,6,2", 12), ("1,0,1", 3), ("10000,10000,10000", 40_000), ("4, 6, 2", 12)]
)
def test_penalties(align: Align, folder: Path, penalties: str, cost: int) -> None:
    # A gap of three bases costs o + 3 e.
    (folder / "pairs.tsv").write_text("AAAA\tAAAACCC\n")
    result = align("pairs.tsv", "--penalties", penalties, "--format", "paf")
    assert_success(result)
    assert tags_of(result.rows[0])["AS"] == str(-cost)


@pytest.mark.parametrize(
    ("penalties", "words"),
    [
        ("-1,6,2", ("mismatch", "-1")),
        ("0,6,2", ("mismatch", "0")),
        ("4,-6,2", ("opening", "-6")),
        ("4,6,0", ("extension", "0")),
        ("4,6,10001", ("extension", "10001")),
        ("a,b,c", ("a,b,c",)),
        ("4.5,6,2", ("4.5,6,2",)),
        ("", ("4,6,2",)),
        ("4,6", ("3", "2")),
        ("4,6,2,24,1", ("3", "5")),
    ],
)
def test_invalid_penalties(align: Align, penalties: str, words: tuple[str, ...]) -> None:
    result = align("q.fa", "t.fa", "--penalties", penalties)
    assert_failure(result, 2, *words)
    assert not result.out


def test_edit_distance_has_no_penalties(align: Align) -> None:
    result = align("q.fa", "t.fa", "--metric", "edit", "--penalties", "4,6,2")
    assert_failure(result, 2, "--penalties", "edit")


def test_a_gpu_that_is_not_there(align: Align, folder: Path) -> None:
    # Hide any GPU; the error then names PyCUDA, the driver or the GPU, whichever is missing first.
    result = align("q.fa", "t.fa", "--engine", "gpu", "-o", "x.sam", env=environment(CUDA_VISIBLE_DEVICES=""))
    assert_failure(result, 1)
    assert re.fullmatch(r"wfacli: error: .*(PyCUDA|NVIDIA|GPU).*\n", result.err)
    assert not list(folder.glob("x.sam*"))


@pytest.mark.parametrize(
    "option", [("--engine", "cpu"), ("--engine", "auto"), ("--check",), ("-t", "3")], ids=" ".join
)
def test_engine_options_do_not_change_the_output(align: Align, option: tuple[str, ...]) -> None:
    result = align("q.fq", "t.fa", "--no-header", *option)
    assert_success(result)
    assert result.out == align("q.fq", "t.fa", "--no-header").out


@pytest.mark.parametrize(
    "option",
    [
        *(("-t", "0"), ("--batch-bases", "0"), ("-t", "two"), ("--format", "gff")),
        *((option, "9" * 20) for option in ("-t", "--batch-bases", "--max-memory", "--pad")),
        ("--max-memory", "99999999999G"),
    ],
    ids=" ".join,
)
def test_values_out_of_range(align: Align, option: tuple[str, str]) -> None:
    assert_failure(align("q.fa", "t.fa", *option), 2, option[0])


def test_symbols_that_are_no_nucleotides_are_warned_of(align: Align, folder: Path) -> None:
    (folder / "pairs.tsv").write_text("MKLV\tMKLV\nEEQF\tEEQF\n")
    result = align("pairs.tsv", "--format", "paf")
    assert result.code == 0
    assert "warning" in result.err
    assert "--ambiguous literal" in result.err
    literal = align("pairs.tsv", "--format", "paf", "--ambiguous", "literal")
    assert "warning" not in literal.err
    assert [tags_of(row)["AS"] for row in literal.rows] == ["0", "0"]


def test_names_with_an_at_sign_are_not_taken_for_a_header(align: Align, folder: Path) -> None:
    # SAM forbids '@' at the start of a query name: the record would look like a header line.
    (folder / "at.fa").write_text(">@r1\nACGT\n")
    (folder / "one.fa").write_text(">t\nACGT\n")
    result = align("at.fa", "one.fa")
    assert result.code != 0 or not result.text.splitlines()[-1].startswith("@")


@pytest.fixture
def sam(align: Align, folder: Path) -> Path:
    """A SAM file with every tag, of ordinary and empty sequences."""
    (folder / "q.fq").write_text((folder / "q.fq").read_text() + "@none\n\n+\n\n@some\nACGT\n+\nIIII\n")
    (folder / "t.fa").write_text((folder / "t.fa").read_text() + ">t6\nACGT\n>t7\n")
    tags = ("--md", "--cs", "--cigar", "m", "--read-group", r"@RG\tID:a\tSM:b")
    assert_success(align("q.fq", "t.fa", "-o", "x.sam", *tags))
    return folder / "x.sam"


def test_pysam_accepts_sam(sam: Path) -> None:
    pysam = pytest.importorskip("pysam")
    with pysam.AlignmentFile(str(sam)) as file:
        records = list(file)
    assert [r.is_unmapped for r in records] == [False] * 5 + [True] * 2
    assert [r.query_sequence for r in records[:5]] == [query for query, _ in PAIRS]
    assert [r.get_reference_sequence().upper() for r in records[:5]] == [target for _, target in PAIRS]


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
def test_samtools_accepts_sam(sam: Path) -> None:
    # samtools cannot index a reference that contains a record without bases.
    (sam.parent / "reference.fa").write_text((sam.parent / "t.fa").read_text().removesuffix(">t7\n"))
    commands = (
        "quickcheck -v x.sam",
        "view -b -o x.bam x.sam",
        "quickcheck -v x.bam",
        "sort -o s.bam x.sam",
        "calmd x.sam reference.fa",
    )
    for words in commands:
        arguments = ["samtools", *words.split()]
        done = subprocess.run(arguments, cwd=sam.parent, capture_output=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        # calmd reports if it computes a different MD or NM.
        assert b"different" not in done.stderr, (words, done.stderr)
