"""Reading one record of a file in blocks of any size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfacli.errors import InputError
from wfacli.io.read import sequence
from wfacli.io.read.sequence import each_block, read_bytes, read_record
from wfacli.io.read.sources import Source

UPPER = bytes(range(256)).upper()


def read(path, wanted=None, keep=True, plain=None):
    into = bytearray(b"before")
    source = Source(str(path))
    try:
        record = read_record(source, wanted, "--query-name", into, UPPER, keep)
    finally:
        source.close()
    assert plain in (None, record.plain)
    assert into[: record.start] == b"before"
    assert record.start + record.length == len(into)
    return record.name, bytes(into[record.start :])


@pytest.fixture(params=[1, 2, 3, 5, 17, 1 << 20])
def block(request, monkeypatch):
    monkeypatch.setattr(sequence, "_BLOCK", request.param)
    return request.param


FASTA = [
    (b">one two\nACGT\nAC\n", ("one", b"ACGTAC")),
    (b">one\nACGT\nAC", ("one", b"ACGTAC")),
    (b"\r\n\n>one\r\nACGT\r\n\r\nAC\r\n", ("one", b"ACGTAC")),
    (b">one\nACGT  \nAC\t\n\n\n", ("one", b"ACGTAC")),
    (b">one\nAC>GT\nA@C\n", ("one", b"AC>GTA@C")),
    (b">\nacgtN*-\n", ("", b"acgtN*-")),
    (b">one\ttwo\nA\n", ("one", b"A")),
    (b"@one two\nACGT\n+one\n@@@@\n", ("one", b"ACGT")),
    (b"@one\r\nACGT\r\n+\r\n>>>>", ("one", b"ACGT")),
    (b"\n@one\nACGT\n+\nIIII\n\n\n", ("one", b"ACGT")),
]


@pytest.mark.parametrize(("text", "expected"), FASTA)
def test_a_record(tmp_path, block, text, expected):
    path = tmp_path / "x"
    path.write_bytes(text)
    assert read(path) == expected
    assert read(path, expected[0]) == expected


SEVERAL = {
    "fasta": b">a\nAC\nGT\n>b x\nCCC\n>c\n>d\nT\n>e\nG\n",
    "fastq": b"@a\nACGT\n+\n@@@@\n@b x\nCCC\n+\n>>>\n@c\n\n+\n\n@d\nT\n+\nI\n@e\nG\n+\nI\n",
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_a_record_of_several(tmp_path, block, kind):
    path = tmp_path / "x"
    path.write_bytes(SEVERAL[kind])
    for name, symbols in {"a": b"ACGT", "b": b"CCC", "d": b"T", "e": b"G"}.items():
        assert read(path, name) == (name, symbols)
    with pytest.raises(InputError, match=r"more than one record \(a, b, c, …\): choose one with --query-name NAME"):
        read(path)
    with pytest.raises(InputError, match=r"has no record z; it has a, b, c, …"):
        read(path, "z")
    with pytest.raises(InputError, match=r"record c: the sequence is empty"):
        read(path, "c")


BAD = [
    (b"", "has no sequence"),
    (b"\n\n \n", "has no sequence"),
    (b"ACGT\n", r"line 1: sequence before a header: .* this file with 'A'"),
    (b"\n\x00A\n", r"line 2: .* this file with a NUL byte"),
    (b">a\n", "record a: the sequence is empty"),
    (b">a\nACGT\nAC\x07T\n", r"line 3, record a: byte 0x07 in the sequence"),
    (b">a\nACGT\nAC GT\n", r"line 3, record a: a blank in the sequence"),
    (b">a\nACGT\nAC\xc3\xa9GT\n", r"line 3, record a: byte 0xc3 in the sequence"),
    (b">a\x01\nACGT\n", r"line 1: byte 0x01 in a header"),
    (b"@a\nACGT\n", r"the file ends inside a FASTQ record"),
    (b"@a\nACGT\n+\nIII", r"the file ends inside a FASTQ record"),
    (b"@a\nACGT\n+\nIII\n@b\nA\n+\nI\n", r"line 4, record a: the quality has 3 characters, the sequence 4"),
    (b"@a\nACGT\nACGT\n+\nIIIIIIII\n", r"line 3, record a: expected the '\+' line"),
    (b"@a\nA\n+\nI\n>b\nA\n", r"line 5, record a: expected a header that starts with '@', found '>'"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_wrong(tmp_path, block, text, message):
    path = tmp_path / "x"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("symbols", "plain"), [(b"acGT\nACg\n", True), (b"ACGT\nACN\n", False), (b"u", False), (b"nn\nacg\n", False)]
)
def test_symbols_are_folded(tmp_path, block, symbols, plain):
    path = tmp_path / "x"
    path.write_bytes(b">a\n" + symbols)
    whole = symbols.replace(b"\n", b"")
    assert read(path, keep=False, plain=plain) == ("a", whole.upper())
    assert read(path, plain=plain) == ("a", whole)


def test_only_the_record_itself_says_whether_it_is_plain(tmp_path, block):
    path = tmp_path / "x"
    path.write_bytes(b">n\nNNN\n>a\nAC\n>r\nRRR\n")
    assert read(path, "a", plain=True) == ("a", b"AC")


@settings(max_examples=60)
@given(
    lines=st.lists(st.binary(max_size=9).map(lambda b: bytes(33 + c % 94 for c in b)), min_size=1, max_size=9),
    size=st.integers(1, 12),
)
def test_any_lines_in_any_blocks(tmp_path_factory, lines, size):
    lines = [line.removeprefix(b">").removeprefix(b">") or b"A" for line in lines]
    if any(line.startswith(b">") for line in lines):
        return
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(b">name\n" + b"\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "_BLOCK", size)
        assert read(path) == ("name", b"".join(lines))


def test_a_file_as_it_is(tmp_path, block):
    path = tmp_path / "x"
    for content in (b"", b"\x1f\x8b no gzip \n\r\x00", bytes(range(256)) * 3):
        path.write_bytes(content)
        assert read_bytes(str(path)) == content
    for bad in (tmp_path, tmp_path / "nothing", ""):
        with pytest.raises(InputError):
            each_block(str(bad), lambda _: None)
