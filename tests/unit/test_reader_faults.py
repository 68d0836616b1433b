"""Malformed input is reported by file, line and record, after the pairs before it."""

import pytest

from tests.unit.reading import read
from wfacli.errors import InputError
from wfacli.io.read import reader

ONE, TWO = b">t1\nACGT\n", b">t1\nACGT\n>t2\nACGT\n"
GOOD = b"@q1\nAC\n+\nII\n"
# contents, complete pairs before the error, file with the error, line, record, part of the message
FAULTS = {
    "no header": ((b"ACGT\n>q1\n", TWO), 0, "query", 1, "", "sequence before a header"),
    "no header after blank lines": ((b"\n\nACGT\n", TWO), 0, "query", 3, "", "this file with 'A'"),
    "byte order mark": ((b"\xef\xbb\xbf>q1\nACGT\n", TWO), 0, "query", 1, "", "this file with a byte order mark"),
    "not text": ((b"\x1f\x00\x00", TWO), 0, "query", 1, "", "byte 0x1f"),
    "blank in a sequence": ((b">q1\nAC GT\n", TWO), 0, "query", 2, "q1", "a blank"),
    "tab in a sequence": ((b">q1\nACGT\n>q2\nAC\nG\tT\n", TWO), 1, "query", 5, "q2", "byte 0x09"),
    "NUL in a sequence": ((b">q1\nACGT\n>q2\nA\x00\n", TWO), 1, "query", 4, "q2", "NUL"),
    "not ASCII": ((b">q1\nACGT\n>q2 x\nAC\xc3\xa9\n", TWO), 1, "query", 4, "q2", "byte 0xc3"),
    "control character": ((b">q1\nACGT\x7f\n", TWO), 0, "query", 2, "q1", "byte 0x7f"),
    "NUL in a header": ((b">q1\nACGT\n>q\x002\nAC\n", TWO), 1, "query", 3, "", "NUL byte in a header"),
    "in the target": ((b">q1\nAC\n>q2\nAC\n", b">t1\nAC\n\n>t2\nA C\n"), 1, "target", 5, "t2", "a blank"),
    "FASTQ ends after a header": ((GOOD + b"@q2\n", TWO), 1, "query", 5, "q2", "ends inside"),
    "FASTQ ends after symbols": ((GOOD + b"@q2\nAC", TWO), 1, "query", 6, "q2", "ends inside"),
    "FASTQ ends after +": ((GOOD + b"@q2\nAC\n+\n", TWO), 1, "query", 7, "q2", "ends inside"),
    "FASTQ ends in a quality": ((GOOD + b"@q2\nACGT\n+\nII", TWO), 1, "query", 8, "q2", "has 2 characters"),
    "quality too long": ((GOOD + b"@q2\nAC\n+\nIII\n", TWO), 1, "query", 8, "q2", "3 characters, the sequence 2"),
    "blank in a quality": ((b"@q1\nACG\n+\nI I\n", TWO), 0, "query", 4, "q1", "a blank in the quality"),
    "not ASCII in a quality": ((b"@q1\nACG\n+\nI\xffI\n", TWO), 0, "query", 4, "q1", "byte 0xff in the quality"),
    "FASTQ over several lines": ((b"@q1\nAC\nGT\n+\nIIII\n", TWO), 0, "query", 3, "q1", "'+' line"),
    "FASTA after FASTQ": ((GOOD + b">q2\nACGT\n", TWO), 1, "query", 5, None, "starts with '@', found '>'"),
    "more queries": ((b">q1\nA\n>q2\nC\n>q3\nG\n", TWO), 2, None, 0, "", "QUERY holds 3 records, TARGET 2"),
    "more targets": ((GOOD, TWO), 1, None, 0, "", "QUERY holds 1 record, TARGET 2"),
    "no queries": ((b"", TWO), 0, None, 0, "", "QUERY holds 0 records, TARGET 2"),
    "surplus is malformed": ((GOOD + b"@q2\nAC\n", ONE), 1, "query", 6, "q2", "ends inside"),
    "seq: two queries": ((b">AC\n<AC\n>AC\n>AC\n",), 1, "query", 4, "", "two queries in a row"),
    "seq: two targets": ((b">AC\n<AC\n<AC\n",), 1, "query", 3, "", "target without a query"),
    "seq: no mark": ((b">AC\n<AC\nACGT\n",), 1, "query", 3, "", "starts with '>'"),
    "seq: half a pair": ((b">AC\n<AC\n>AC\n",), 1, "query", 3, "", "'<target' line is missing"),
    "seq: symbol": ((b">AC\n<AC\n>AC\n<A C\n",), 1, "query", 4, "pair2", "a blank"),
    "seq: FASTA alone": ((b">q1\nACGT\n>q2\n",), 0, "query", 2, "", "given as QUERY TARGET"),
    "table: one column": ((b"AC\tAC\nACGT\n",), 1, "query", 2, "", "found 1"),
    "table: four columns": ((b"n\tAC\tAC\tAC\n",), 0, "query", 1, "", "found 4"),
    "table: columns change": ((b"# x\nAC\tAC\n\nn\tAC\tAC\n",), 1, "query", 4, "", "found 3 columns"),
    "table: symbol": ((b"q1\tAC\tAC\nq2\tAC\tA-C \n",), 1, "query", 2, "q2", "a blank"),
    "FASTQ alone": ((GOOD,), 0, "query", 0, "", "TARGET is missing"),
}


def assert_fault(folder, case, weight):
    contents, complete, file, line, record, words = FAULTS[case]
    pairs, error = read(folder, *contents, weight=weight)
    assert error is not None
    assert len(pairs) == complete
    assert words in str(error)
    assert error.line == line
    if file:
        assert error.path == str(folder / file)
    else:
        assert error.path == f"{folder / 'query'} and {folder / 'target'}"
    if record is not None:
        assert error.record == record
    return error


@pytest.mark.parametrize("case", FAULTS)
def test_fault(tmp_path, case):
    error = assert_fault(tmp_path, case, weight=1 << 40)
    assert str(error).startswith(error.path)
    assert not error.line or f", line {error.line}" in str(error)


@pytest.mark.parametrize("block", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("case", FAULTS)
def test_fault_at_block_boundaries(tmp_path, monkeypatch, case, block):
    monkeypatch.setattr(reader, "_BLOCK", block)
    assert_fault(tmp_path, case, weight=1 << 40)


@pytest.mark.parametrize("case", FAULTS)
def test_fault_in_a_later_batch(tmp_path, case):
    assert_fault(tmp_path, case, weight=1)


@pytest.mark.parametrize("weight", [1, 1 << 40])
@pytest.mark.parametrize("side", ["query", "target"])
def test_a_fault_between_records_names_no_record_of_another_file_or_batch(tmp_path, side, weight):
    faulty = b"".join(b"@mine%d\nAC\n+\nII\n" % i for i in range(3)) + b"AC\n"
    other = b"".join(b">other%d\nAC\n" % i for i in range(5))
    pairs, error = read(tmp_path, *((faulty, other) if side == "query" else (other, faulty)), weight=weight)
    assert len(pairs) == 3
    assert (error.path, error.line) == (str(tmp_path / side), 13)
    assert error.record in ("", "mine2")


def test_lines_that_end_with_carriage_returns_alone_are_no_records_without_symbols(tmp_path):
    """Files with carriage returns only are rejected: read as they are, the whole file would be a single name."""
    for text in (b">q1\rACGT\r>q2\rACGT\r", b"@q1\rAC\r+\rII\r"):
        pairs, error = read(tmp_path, text, ONE)
        assert error is not None and error.line == 1, pairs


def test_line_numbers_count_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_BLOCK", 100)
    queries = b">q\r\nACGT\r\nACGT\r\n\r\n" * 5000 + b">bad\r\nA\tC\r\n"
    pairs, error = read(tmp_path, queries, b">t\nA\n" * 5001)
    assert len(pairs) == 5000
    assert (error.line, error.record) == (20_002, "bad")


def test_a_long_name_is_not_told_whole():
    error = InputError("reads.fa", "a blank", "n" * 5000, 7)
    assert str(error) == f"reads.fa, line 7, record {'n' * 300}... (5,000 characters): a blank"
    assert error.record == "n" * 5000
