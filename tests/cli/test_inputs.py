"""Every supported kind of input: formats, compression, pipes and standard input."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PAIRS
from .support import (
    BGZF_END,
    COMPRESSIONS,
    Result,
    assert_failure,
    assert_success,
    bgzf_blocks,
    fasta,
    fastq,
    feed,
    header_of,
    random_pairs,
    random_symbols,
    rows_of,
    run,
    seq,
    start,
    table,
    unread,
    zstd,
)
from .test_interruption import wait_until

Align = Callable[..., Result]
QUERIES, TARGETS = zip(*PAIRS, strict=True)
EMPTY = {"empty": b"", "empty line": b"\n", "gz": gzip.compress(b""), "bgz": BGZF_END, "zst": zstd(b"")}


def without_names(rows: list[list[str]]) -> list[list[str]]:
    return [row[1:5] + row[6:] for row in rows]


@pytest.fixture
def expected(align: Align) -> list[list[str]]:
    """PAF rows of the five pairs, from plain FASTA."""
    return align("q.fa", "t.fa", "--format", "paf").rows


@pytest.mark.parametrize("write", [fasta, fastq], ids=["fasta", "fastq"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_kind_is_told_by_the_first_bytes(
    align: Align, folder: Path, expected: list[list[str]], write: Callable[..., bytes], compression: str
) -> None:
    # The suffixes are wrong on purpose.
    (folder / "reads.zst").write_bytes(COMPRESSIONS[compression](write(QUERIES)))
    (folder / "targets.txt").write_bytes(COMPRESSIONS[compression](write(TARGETS, "t")))
    result = align("reads.zst", "targets.txt", "--format", "paf")
    assert_success(result)
    assert result.rows == expected


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gz", "zst"])
def test_compressed_parts_may_follow_each_other(
    align: Align, folder: Path, expected: list[list[str]], compress: Callable[[bytes], bytes]
) -> None:
    text = fasta(QUERIES)
    (folder / "q").write_bytes(compress(text[:100]) + compress(text[100:]))
    assert align("q", "t.fa", "--format", "paf").rows == expected


@pytest.mark.parametrize(
    ("dashes", "compression"), [(("-", "t.fa"), kind) for kind in COMPRESSIONS] + [(("q.fa", "-"), "plain")]
)
def test_standard_input(align: Align, expected: list[list[str]], dashes: tuple[str, str], compression: str) -> None:
    text = fasta(QUERIES) if dashes[0] == "-" else fasta(TARGETS, "t")
    result = align(*dashes, "--format", "paf", stdin=COMPRESSIONS[compression](text))
    assert_success(result)
    assert result.rows == expected


def test_pairs_from_standard_input(align: Align, expected: list[list[str]]) -> None:
    result = align("-", "--format", "paf", stdin=seq(PAIRS))
    assert_success(result)
    assert without_names(result.rows) == without_names(expected)


@pytest.mark.parametrize("redirected", ["query", "target", "pairs"])
def test_standard_input_may_be_a_file(align: Align, folder: Path, redirected: str) -> None:
    # `wfacli align - < FILE`: scanning the targets for the header must not consume the input of the alignments.
    (folder / "pairs.seq").write_bytes(seq(PAIRS))
    name, inputs = {
        "query": ("q.fa", ("-", "t.fa")),
        "target": ("t.fa", ("q.fa", "-")),
        "pairs": ("pairs.seq", ("-",)),
    }[redirected]
    with (folder / name).open("rb") as file:
        result = align(*inputs, stdin=file)
    assert_success(result)
    assert len(result.rows) == len(PAIRS)
    assert sum(line.startswith("@SQ") for line in header_of(result.out)) == len(PAIRS)


def test_nothing_is_lost_when_standard_input_is_a_large_file(align: Align, folder: Path) -> None:
    # Longer than a reader's buffer: a second reader of the same descriptor would start in the middle.
    pairs = random_pairs(20_000)
    (folder / "pairs.seq").write_bytes(seq(pairs))
    with (folder / "pairs.seq").open("rb") as file:
        result = align("-", stdin=file)
    assert_success(result)
    assert [row[9] for row in result.rows] == [query for query, _ in pairs]


@pytest.mark.parametrize("names", [False, True], ids=["2 columns", "3 columns"])
@pytest.mark.parametrize("title", [False, True], ids=["no title", "title"])
def test_table(align: Align, folder: Path, expected: list[list[str]], names: bool, title: bool) -> None:
    titles = (b"Name\t" if names else b"") + b"Query\tTarget\n" if title else b""
    (folder / "pairs.tsv").write_bytes(titles + table(PAIRS, names))
    result = align("pairs.tsv", "--format", "paf")
    assert_success(result)
    assert without_names(result.rows) == without_names(expected)
    assert [row[0] for row in result.rows] == [f"{'n' if names else 'pair'}{i}" for i in range(1, 6)]


def test_table_with_an_empty_sequence(align: Align, folder: Path) -> None:
    (folder / "pairs.tsv").write_bytes(b"ACGT\t\n\tAC\n")
    assert [row[-1] for row in align("pairs.tsv", "--format", "paf").rows] == ["cg:Z:4I", "cg:Z:2D"]


@pytest.mark.parametrize("kind", ["fasta", "fastq", "seq", "table"])
def test_line_ends_of_windows(align: Align, folder: Path, kind: str) -> None:
    one = {"seq": seq(PAIRS), "table": b"query\ttarget\n" + table(PAIRS)}
    if kind in one:
        (folder / "unix").write_bytes(one[kind])
        (folder / "dos").write_bytes(one[kind].replace(b"\n", b"\r\n"))
        unix, dos = ("unix",), ("dos",)
    else:
        text = fastq(QUERIES) if kind == "fastq" else fasta(QUERIES, width=20)
        (folder / "unix").write_bytes(text)
        (folder / "dos").write_bytes(text.replace(b"\n", b"\r\n"))
        unix, dos = ("unix", "t.fa"), ("dos", "t.fa")
    result = align(*dos, "--no-header")
    assert_success(result)
    assert len(result.rows) == len(PAIRS)
    assert result.out == align(*unix, "--no-header").out


def test_last_line_may_lack_its_end(align: Align, folder: Path, expected: list[list[str]]) -> None:
    (folder / "q").write_bytes(fastq(QUERIES).rstrip(b"\n"))
    (folder / "t").write_bytes(fasta(TARGETS, "t").rstrip(b"\n"))
    assert align("q", "t", "--format", "paf").rows == expected


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_query_from_a_fifo(align: Align, folder: Path, expected: list[list[str]], compression: str) -> None:
    feed(folder / "fifo", [COMPRESSIONS[compression](fasta(QUERIES))])
    result = align("fifo", "t.fa")
    assert_success(result)
    assert len(result.rows) == len(PAIRS)
    assert [row[9] for row in result.rows] == list(QUERIES)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_first_bytes_may_come_one_by_one(folder: Path, compression: str) -> None:
    # The first read from a pipe may return too few bytes to detect the compression.
    process = start("align", "-", "t.fa", "--format", "paf", cwd=folder)
    assert process.stdin
    data = COMPRESSIONS[compression](fasta(QUERIES))
    process.stdin.write(data[:1])
    process.stdin.flush()
    stdin = process.stdin
    wait_until(lambda: not unread(stdin), 60)
    out, err = process.communicate(data[1:], timeout=60)
    assert process.returncode == 0, err.decode()
    assert len(rows_of(out)) == len(PAIRS)


@pytest.mark.parametrize("way", ["fifo", "standard input", "pairs"])
def test_sam_of_targets_from_a_pipe_is_refused_with_advice(align: Align, folder: Path, way: str) -> None:
    inputs = {"fifo": ("q.fa", "fifo"), "standard input": ("q.fa", "-"), "pairs": ("-",)}[way]
    if way == "fifo":
        feed(folder / "fifo", [fasta(TARGETS, "t")])
    result = align(*inputs, "--format", "sam", stdin=seq(PAIRS) if way == "pairs" else fasta(TARGETS, "t"))
    assert_failure(result, 2, "pipe", "--format paf", "--no-header")
    assert not result.out


@pytest.mark.parametrize("options", [("--no-header",), ("--format", "paf")], ids=" ".join)
def test_targets_from_a_pipe(align: Align, options: tuple[str, ...]) -> None:
    result = align("q.fa", "-", *options, stdin=fasta(TARGETS, "t"))
    assert_success(result)
    assert result.out == align("q.fa", "t.fa", *options).out


@pytest.mark.parametrize(("kind", "count"), [*((kind, 1) for kind in EMPTY), ("empty", 2), ("gz", 2)])
def test_empty_input_gives_empty_valid_output(align: Align, folder: Path, kind: str, count: int) -> None:
    (folder / "empty").write_bytes(EMPTY[kind])
    result = align(*["empty"] * count)
    assert_success(result)
    assert [line.split("\t")[0] for line in result.text.splitlines()] == ["@HD", "@PG"]


TITLES = "query target score edits identity query_start query_end target_start target_end cigar"


@pytest.mark.parametrize(("format_", "out"), [("paf", ""), ("tsv", TITLES.replace(" ", "\t") + "\n")])
def test_empty_input_without_sam(align: Align, folder: Path, format_: str, out: str) -> None:
    (folder / "empty").write_bytes(b"")
    result = align("empty", "empty", "--format", format_)
    assert_success(result)
    assert result.text == out


# Batches end by number of bases, and input arrives in blocks of about 1 MB: both limits may fall between a query and
# its target.


def test_long_sequences_across_blocks_and_batches(folder: Path) -> None:
    symbols = [random_symbols(900_000, seed) for seed in range(4)]
    (folder / "long_q.fa").write_bytes(fasta(symbols))
    (folder / "long_t.fa").write_bytes(fasta([symbol[:-5] for symbol in symbols], "t", width=70))
    result = run("align", "long_q.fa", "long_t.fa", "--format", "tsv", "--no-header", cwd=folder)
    assert_success(result)
    assert [row[:4] for row in result.rows] == [[f"r{i}", f"t{i}", "-16", "5"] for i in range(1, 5)]


@pytest.mark.parametrize("batch", ["1", "777", "30000", "200000"])
def test_small_batches_across_blocks(folder: Path, batch: str) -> None:
    pairs = random_pairs(2_000, length=1_000)
    (folder / "many_q.fa").write_bytes(fasta([query for query, _ in pairs]))
    (folder / "many_t.fa").write_bytes(fasta([target for _, target in pairs], "t"))
    options = ("--format", "tsv", "--no-header", "--batch-bases", batch)
    result = run("align", "many_q.fa", "many_t.fa", *options, cwd=folder)
    assert_success(result)
    assert [row[:2] for row in result.rows] == [[f"r{i}", f"t{i}"] for i in range(1, 2_001)]
    assert all(int(row[2]) >= -20 for row in result.rows)


def test_bgzf_blocks_may_end_in_mid_record(align: Align, folder: Path, expected: list[list[str]]) -> None:
    (folder / "q").write_bytes(b"".join(bgzf_blocks(fasta(QUERIES), 13)) + BGZF_END)
    assert align("q", "t.fa", "--format", "paf").rows == expected
