"""Names that are invalid in SAM are rejected, and all others pass through htslib unchanged."""

from __future__ import annotations

from pathlib import Path

import pysam
import pytest

from .support import assert_failure, assert_success, header_of, rows_of, run

SYMBOLS = "ACGTTGCATTGACCATGACA"
# Invalid names of reads and targets.
NO_QUERY = [b"*", b"@SQ", b"a@b", b"r\xc3\xa9", b"r\xff", b"n" * 255]
NO_TARGET = [
    b"*",
    b"*x",
    b"=",
    b"=x",
    b"a,b;c(d)",
    b"a,b",
    b"a<b>",
    b"a[0]",
    b'a"b',
    b"a'b",
    b"a\\b",
    b"a{b}",
    b"t\xc3\xa9",
]
QUERIES = [b"sp|P12345|X_1", b"=", b"a,b;c(d)", b"**", b"m64/1/ccs", b"n" * 254, b"~!#$%&'()[]{}<>?"]
TARGETS = [b"sp|P12345|X_1", b"HLA-A*01:01", b"a=b", b"x@y", b"@SQ", b"chr1|2;3#4", b"n" * 400, b"!#$%&+./:?^_|~-"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def write(folder: Path, query: bytes = b"r", target: bytes = b"t") -> None:
    """Write a valid pair and one with these names, as sequences and as mappings."""
    symbols = SYMBOLS.encode()
    (folder / "q.fa").write_bytes(b">good\n%s\n>%s\n%s\n" % (symbols, query, symbols))
    (folder / "t.fa").write_bytes(b">fine\n%s\n>%s\n%s\n" % (symbols, target, symbols))
    rows = [(b"good", b"fine"), (query, target)]
    (folder / "map.paf").write_bytes(b"".join(b"%s\t20\t0\t20\t+\t%s\t20\t0\t20\t20\t20\t60\n" % row for row in rows))
    for path, name in (("a.fa", query), ("b.fa", target)):
        (folder / path).write_bytes(b">%s\n%s\n" % (name, symbols))


LINES = {
    "pairs": "align q.fa t.fa",
    "mapped": "align q.fa t.fa --mappings map.paf",
    "extend": "extend q.fa t.fa",
    "distance": "distance a.fa b.fa --path",
    "local": "local a.fa b.fa",
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("name", NO_QUERY)
def test_a_read(folder: Path, kind: str, name: bytes) -> None:
    write(folder, query=name)
    for output in ("x.sam", "x.bam"):
        result = run(*LINES[kind].split(), "-o", output, cwd=folder)
        said = "at most 254" if len(name) > 254 else "SAM allows no such name of a read"
        assert_failure(result, 1, said, "--format paf", "a.fa" if kind in ("distance", "local") else "q.fa")
        assert not (folder / output).exists()
    paf = run(*LINES[kind].split(), "--format", "paf", cwd=folder)
    assert paf.code == 0 and name in paf.out


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("name", NO_TARGET)
def test_a_target(folder: Path, kind: str, name: bytes) -> None:
    write(folder, target=name)
    for output in ("x.sam", "x.bam"):
        result = run(*LINES[kind].split(), "-o", output, cwd=folder)
        where = "b.fa" if kind in ("distance", "local") else "t.fa"
        assert_failure(result, 1, "SAM allows no such name of a target", "--format paf", where)
        assert not list(folder.glob(f"{output}*"))  # not even the first pair is written
    if kind not in ("distance", "local"):
        result = run(*LINES[kind].split(), "--format", "sam", "--no-header", cwd=folder)
        assert_failure(result, 1, "SAM allows no such name of a target")
        assert [row[0] for row in result.rows] in ([], ["good"])
    paf = run(*LINES[kind].split(), "--format", "paf", cwd=folder)
    assert paf.code == 0 and name in paf.out


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("number", range(len(TARGETS)))
def test_names_that_it_can_hold(folder: Path, kind: str, number: int) -> None:
    query, target = QUERIES[number % len(QUERIES)], TARGETS[number]
    write(folder, query, target)
    for output in ("x.sam", "x.bam"):
        assert_success(run(*LINES[kind].split(), "-o", output, cwd=folder))
        with pysam.AlignmentFile(str(folder / output)) as file:
            last = list(file)[-1]
            assert (last.query_name.encode(), last.reference_name.encode()) == (query, target)
            assert not last.is_unmapped
    lines = header_of((folder / "x.sam").read_bytes())
    assert f"@SQ\tSN:{target.decode()}\tLN:20" in lines
    assert rows_of((folder / "x.sam").read_bytes())[-1][2] == target.decode()


def test_a_target_that_no_record_names_may_have_any_name(folder: Path) -> None:
    """An empty target has no header line."""
    (folder / "t.fa").write_bytes(b">fine\n%s\n>*\n\n" % SYMBOLS.encode())
    result = run("align", "q.fa", "t.fa", "--format", "sam", cwd=folder)
    assert_success(result)
    assert [row[2] for row in result.rows] == ["fine", "*"]


def test_pairs_before_it_are_kept(folder: Path) -> None:
    write(folder, query=b"*")
    result = run("align", "q.fa", "t.fa", "-o", "x.sam", cwd=folder)
    assert result.code == 1
    (left,) = folder.glob("x.sam.partial-*")
    assert [row[0] for row in rows_of(left.read_bytes())] == ["good"]
