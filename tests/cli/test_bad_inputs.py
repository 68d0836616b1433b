"""Malformed input: a clear message, its own exit status, and the output of every pair before the error."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PAIRS
from .support import (
    BGZF_END,
    Result,
    assert_failure,
    assert_success,
    bgzf,
    bgzf_blocks,
    fasta,
    fastq,
    random_pairs,
    rows_of,
    run,
    seq,
    zstd,
)

Align = Callable[..., Result]
MANY = random_pairs(3_000)
MANY_QUERIES, MANY_TARGETS = zip(*MANY, strict=True)
PAF = ("--format", "paf")


def test_missing_file(align: Align) -> None:
    for inputs in (("nothing.fa", "t.fa"), ("q.fa", "nothing.fa"), ("nothing.seq",)):
        assert_failure(align(*inputs), 1, "nothing", "No such file")


def test_directory(align: Align, folder: Path) -> None:
    (folder / "folder.fa").mkdir()
    assert_failure(align("folder.fa", "t.fa"), 1, "folder.fa", "directory")
    assert_failure(align("q.fa", "folder.fa"), 1, "folder.fa", "directory")


def test_unreadable_compression(align: Align, folder: Path) -> None:
    (folder / "q.bz2").write_bytes(b"BZh91AY&SY")
    assert_failure(align("q.bz2", "t.fa"), 1, "q.bz2", "bzip2", "gzip")


@pytest.mark.parametrize(("queries", "targets"), [(5, 3), (3, 5), (1, 0), (0, 1)])
def test_counts_that_differ(align: Align, folder: Path, queries: int, targets: int) -> None:
    (folder / "some_q.fa").write_bytes(fasta([query for query, _ in PAIRS[:queries]]))
    (folder / "some_t.fa").write_bytes(fasta([target for _, target in PAIRS[:targets]], "t"))
    result = align("some_q.fa", "some_t.fa", *PAF)
    assert_failure(result, 1, "some_q.fa", "some_t.fa", f"QUERY holds {queries} ", f"TARGET {targets} (record i is")
    assert all(way in result.err for way in ("align --mappings", "wfacli map", "extend --all"))
    assert [row[0] for row in result.rows] == [f"r{i}" for i in range(1, min(queries, targets) + 1)]


def test_counts_that_differ_are_counted_to_the_end(align: Align, folder: Path) -> None:
    (folder / "many.fa").write_bytes(fasta(MANY_QUERIES))
    assert_failure(align("many.fa", "t.fa", *PAF), 1, "QUERY holds 3000 ", "TARGET 5")


@pytest.mark.parametrize("batch", ["1", "4000000"])
def test_incomplete_output_keeps_its_temporary_name(align: Align, folder: Path, batch: str) -> None:
    (folder / "more.fa").write_bytes(fasta([query for query, _ in PAIRS] * 2))
    (folder / "x.paf").write_text("from another run\n")
    result = align("more.fa", "t.fa", "-o", "x.paf", "--batch-bases", batch)
    (partial,) = folder.glob("x.paf.partial-*")
    assert_failure(result, 1, "QUERY holds 10 ", "TARGET 5", partial.name, "5 pairs")
    assert len(partial.name.rsplit("-", 1)[1]) == 8
    assert len(rows_of(partial.read_bytes())) == 5
    assert (folder / "x.paf").read_text() == "from another run\n"


def test_nothing_to_keep_leaves_no_file(align: Align, folder: Path) -> None:
    (folder / "bad.fa").write_text("ACGT\n")
    assert_failure(align("bad.fa", "t.fa", "-o", "x.paf"), 1, "bad.fa")
    assert not list(folder.glob("x.paf*"))


def truncated(kind: str) -> bytes:
    """Return about two thirds of a compressed file of many queries."""
    text = fasta(MANY_QUERIES)
    blocks = bgzf_blocks(text)
    if kind == "bgz at a block's end":
        return b"".join(blocks[: len(blocks) * 2 // 3])
    whole = {"gz": gzip.compress, "zst": zstd, "bgz": lambda _: b"".join(blocks) + BGZF_END}[kind](text)
    return whole[: len(whole) * 2 // 3]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("gz", "query"),
        ("gz", "target"),
        ("zst", "query"),
        ("bgz", "query"),
        ("bgz at a block's end", "query"),
        ("bgz at a block's end", "target"),
    ],
)
def test_truncated_compression(align: Align, folder: Path, kind: str, role: str) -> None:
    (folder / "bad").write_bytes(truncated(kind))
    (folder / "good").write_bytes(fasta(MANY_QUERIES))
    result = align(*(("bad", "good") if role == "query" else ("good", "bad")), *PAF)
    assert_failure(result, 1, "bad", "truncated")
    # All complete pairs are written, except for those that the decompressor still buffers.
    names = [row[0] for row in result.rows]
    assert names == [f"r{i}" for i in range(1, len(names) + 1)]
    assert 1_500 < len(names) < 3_000


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_compression_that_lacks_only_its_end(align: Align, folder: Path, kind: str) -> None:
    # All bases are there, but the missing checksum is still an error.
    text = fasta([query for query, _ in PAIRS])
    (folder / "bad").write_bytes({"gz": gzip.compress, "zst": zstd}[kind](text)[:-4])
    assert_failure(align("bad", "t.fa", *PAF), 1, "bad", "truncated")


def test_bgzf_without_its_last_block(align: Align, folder: Path) -> None:
    (folder / "bad").write_bytes(b"".join(bgzf_blocks(fasta([query for query, _ in PAIRS]))))
    result = align("bad", "t.fa", *PAF)
    assert_failure(result, 1, "bad", "truncated")
    assert len(result.rows) == len(PAIRS) - 1  # the last sequence may be incomplete


@pytest.mark.parametrize("kind", ["gz", "bgz", "zst"])
def test_damaged_compression(align: Align, folder: Path, kind: str) -> None:
    text = fasta(MANY_QUERIES)
    whole = {"gz": gzip.compress(text), "zst": zstd(text), "bgz": b"".join(bgzf_blocks(text)) + BGZF_END}
    packed = bytearray(whole[kind])
    for i in range(len(packed) // 2, len(packed) // 2 + 40):
        packed[i] ^= 0xA5
    (folder / "bad").write_bytes(packed)
    (folder / "good").write_bytes(fasta(MANY_QUERIES))
    assert_failure(align("bad", "good", *PAF), 1, "bad", "damaged")


def test_rubbish_after_gzip_is_not_read_as_sequence(align: Align, folder: Path) -> None:
    (folder / "bad").write_bytes(gzip.compress(fasta([query for query, _ in PAIRS])) + b"rubbish")
    assert_failure(align("bad", "t.fa", *PAF), 1, "bad")


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_truncated_fastq_record(align: Align, folder: Path, lines: int) -> None:
    whole = fastq([query for query, _ in PAIRS]).decode().splitlines(keepends=True)
    (folder / "bad.fq").write_text("".join(whole[: 4 * 4 + lines]))
    result = align("bad.fq", "t.fa", *PAF)
    assert_failure(result, 1, "bad.fq", "r5", "ends inside", "FASTQ")
    assert len(result.rows) == 4


def test_quality_of_another_length(align: Align, folder: Path) -> None:
    whole = fastq([query for query, _ in PAIRS]).decode().splitlines()
    whole[3 * 4 + 3] = whole[3 * 4 + 3][:-2]
    (folder / "bad.fq").write_text("\n".join(whole) + "\n")
    result = align("bad.fq", "t.fa", *PAF)
    assert_failure(result, 1, "bad.fq", "line 16", "r4", "quality", "58", "60")
    assert len(result.rows) == 3


FAULTS = {
    "NUL in a sequence": (b">r1\nACGT\n>r2\nAC\0GT\n", "NUL", "line 4", "r2"),
    "NUL in a header": (b">r1\nACGT\n>r\0two\nACGT\n", "NUL", "line 3"),
    "only NUL bytes": (bytes(4096), "NUL", "line 1"),
    "blank in a sequence": (b">r1\nACGT\n>r2\nAC GT\n", "blank", "line 4", "r2"),
    "symbol outside ASCII": (b">r1\nACGT\n>r2\nAC\xc3\xa9GT\n", "0xc3", "line 4", "r2"),
    "sequence before a header": (b"ACGT\n>r1\nACGT\n", "header", "line 1"),
    "FASTQ without plus": (b"@r1\nACGT\n+\nIIII\n@r2\nAC\nGT\n+\nIIII\n", "'+'", "line 7", "r2"),
    "FASTQ without at": (b"@r1\nACGT\n+\nIIII\nr2\nACGT\n+\nIIII\n", "'@'", "line 5"),
    "control symbol in quality": (b"@r1\nACGT\n+\nIIII\n@r2\nACGT\n+\nII\x07I\n", "quality", "line 8", "r2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_queries(align: Align, folder: Path, fault: str) -> None:
    content, *words = FAULTS[fault]
    (folder / "bad").write_bytes(content)
    result = align("bad", "t.fa", *PAF)
    assert_failure(result, 1, "bad", *words)
    assert len(result.rows) == (0 if "line 1" in words else 1)


@pytest.mark.parametrize("fault", ["NUL in a sequence", "sequence before a header"])
def test_faults_of_targets(align: Align, folder: Path, fault: str) -> None:
    # For SAM, the header scans the targets first and meets the error, which must not suppress the pairs before it.
    content, *words = FAULTS[fault]
    (folder / "bad").write_bytes(content)
    result = align("q.fa", "bad")
    assert_failure(result, 1, "bad", *words)
    assert len(result.rows) == (0 if "line 1" in words else 1)


PAIR_FAULTS = {
    "two queries in a row": (b">A\n<A\n>C\n>G\n<G\n", "line 4", "two queries"),
    "two targets in a row": (b">A\n<A\n<G\n", "line 3", "target without a query"),
    "ends after a query": (b">A\n<A\n>C\n", "query", "<target"),
    "line of no kind": (b">A\n<A\nACGT\n", "line 3", "'>'"),
    "NUL": (b">A\n<A\n>A\0C\n<A\n", "line 3", "NUL"),
    "1 column": (b"A\tA\nACGT\n", "line 2", "column", "1"),
    "4 columns": (b"A\tA\nA\tC\tG\tT\n", "line 2", "column", "4"),
    "another number of columns": (b"A\tA\nn\tA\tC\n", "line 2", "3 columns", "2"),
    "blank in a column": (b"A\tA\nA C\tC\n", "line 2", "blank"),
}


@pytest.mark.parametrize("fault", PAIR_FAULTS)
def test_faults_of_pairs(align: Align, folder: Path, fault: str) -> None:
    content, *words = PAIR_FAULTS[fault]
    (folder / "pairs").write_bytes(content)
    result = align("pairs", *PAF)
    assert_failure(result, 1, "pairs", *words)
    assert len(result.rows) == 1


@pytest.mark.parametrize("name", ["t.fa", "q.fq", "plain.fa"])
def test_one_file_of_records_without_target(align: Align, folder: Path, name: str) -> None:
    (folder / "plain.fa").write_text(">r1\nACGT\n>r2\nACGT\n")
    result = align(name)
    assert result.code in (1, 2)
    assert_failure(result, result.code, name, "QUERY TARGET")
    assert not result.rows


def test_both_inputs_from_standard_input(align: Align) -> None:
    assert_failure(align("-", "-", stdin=seq(PAIRS)), 2, "only one", "standard input")


def test_one_target_name_with_two_lengths(align: Align, folder: Path) -> None:
    (folder / "two.fa").write_text(">same\nACGT\n>same\nACGTA\n")
    (folder / "reads.fa").write_text(">r1\nACGT\n>r2\nACGT\n")
    assert_failure(align("reads.fa", "two.fa"), 1, "two.fa", "same", "lengths", "paf")
    assert len(align("reads.fa", "two.fa", *PAF).rows) == 2


def test_one_target_name_with_one_length_is_declared_once(align: Align, folder: Path) -> None:
    (folder / "one.fa").write_text(">same\nACGT\n>same\nACCT\n")
    (folder / "reads.fa").write_text(">r1\nACGT\n>r2\nACGT\n")
    result = align("reads.fa", "one.fa")
    assert_success(result)
    assert result.text.count("@SQ\t") == 1


@pytest.mark.parametrize(
    ("magic", "name"),
    [
        (bgzf(b"BAM\1\0\0\0\0"), "BAM"),
        (b"CRAM\3\0", "CRAM"),
        (b"@HD\tVN:1.6\n@SQ\tSN:a\tLN:4\nr\t0\ta\t1\t60\t4M\t*\t0\t0\tACGT\t*\n", "SAM"),
    ],
)
def test_alignments_in_place_of_sequences(align: Align, folder: Path, magic: bytes, name: str) -> None:
    (folder / "x").write_bytes(magic)
    words = f"x: is {name}, and FASTA or FASTQ is required", "samtools fastq"
    for files in (("x", "t.fa"), ("q.fa", "x"), ("x",)):
        assert_failure(align(*files, *PAF), 1, *words)
    assert_failure(run("distance", "x", "t.fa", cwd=folder), 1, *words)


def test_target_without_a_name(align: Align, folder: Path) -> None:
    (folder / "one.fa").write_text(">\nACGT\n")
    (folder / "reads.fa").write_text(">r1\nACGT\n")
    assert_failure(align("reads.fa", "one.fa"), 1, "one.fa", "name", "paf")
    assert len(align("reads.fa", "one.fa", *PAF).rows) == 1


def test_name_that_is_too_long_for_sam(align: Align, folder: Path) -> None:
    long = "x" * 300
    (folder / "long.fa").write_text(f">r1\nACGT\n>r2\nACGT\n>{long}\nACGT\n>r4\nACGT\n>r5\nACGT\n")
    result = align("long.fa", "t.fa")
    assert_failure(result, 1, "long.fa", long, "254", "paf")
    assert [row[0] for row in result.rows] == ["r1", "r2"]
    assert [row[0] for row in align("long.fa", "t.fa", *PAF).rows] == ["r1", "r2", long, "r4", "r5"]


def test_debug_shows_the_traceback(align: Align) -> None:
    result = align("nothing.fa", "t.fa", "--debug")
    assert result.code == 1
    assert "Traceback" in result.err
    assert "nothing.fa" in result.err
