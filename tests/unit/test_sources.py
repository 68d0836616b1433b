"""Compressed and plain streams, whole, damaged and cut short."""

import bz2
import gzip
import lzma
import random
import sys

import numpy as np
import pysam
import pytest

from tests.unit.reading import read
from wfacli.errors import InputError
from wfacli.io.sources import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RECORDS = [b">read%d\n%s\n" % (i, bytes(random.Random(i).choices(b"ACGT", k=40))) for i in range(4000)]
TEXT = b"".join(RECORDS)  # more than one block of every format
HALF = len(TEXT) // 2


def bgzip(text, folder):
    plain, packed = folder / "plain", folder / "packed.bgz"
    plain.write_bytes(text)
    pysam.tabix_compress(str(plain), str(packed), force=True)
    return packed.read_bytes()


def zstandard(text):
    return zstd.compress(text, options={zstd.CompressionParameter.checksum_flag: 1})  # as the command does


FORMATS = {
    "plain": lambda text, _: text,
    "gzip": lambda text, _: gzip.compress(text),
    "gzip of several members": lambda text, _: gzip.compress(text[:HALF]) + gzip.compress(text[HALF:]),
    "gzip with an empty member": lambda text, _: gzip.compress(b"") + gzip.compress(text) + gzip.compress(b""),
    "bgzip": bgzip,
    "zstd": lambda text, _: zstandard(text),
    "zstd of several frames": lambda text, _: zstandard(text[:HALF]) + zstandard(text[HALF:]),
}
COMPRESSED = [f for f in FORMATS if f != "plain"]


def stored(folder, style, text=TEXT):
    path = folder / "input"
    path.write_bytes(FORMATS[style](text, folder))
    return path


def content(path, room=10_000):
    source, found = Source(str(path)), b""
    try:
        buffer = np.zeros(room, np.uint8)
        while got := source.readinto(buffer):
            found += buffer[:got].tobytes()
    finally:
        source.close()
    return found


@pytest.mark.parametrize("style", FORMATS)
def test_formats_are_known_by_their_bytes(tmp_path, style):
    path = stored(tmp_path, style)
    assert content(path) == TEXT
    source = Source(str(path))
    assert source.regular and source.size == path.stat().st_size
    head = source.peek()
    assert len(head) == 1 << 16 and TEXT.startswith(head)
    buffer = np.zeros(len(TEXT) + 1, np.uint8)
    got = 0
    while more := source.readinto(buffer[got:]):
        got += more
    assert buffer[:got].tobytes() == TEXT
    assert source.bytes_read == source.size
    source.close()


@pytest.mark.parametrize("style", FORMATS)
def test_nothing_is_a_file_too(tmp_path, style):
    assert content(stored(tmp_path, style, b"")) == b""


@pytest.mark.parametrize("style", FORMATS)
def test_records_from_every_format(tmp_path, style):
    compressed = stored(tmp_path, style).read_bytes()
    pairs, error = read(tmp_path, compressed, compressed)
    assert error is None
    assert [b">%s\n%s\n" % (p.t_name.encode(), p.query) for p in pairs] == RECORDS


@pytest.mark.parametrize("style", COMPRESSED)
@pytest.mark.parametrize("share", [0.1, 0.45, 0.9, 0.999])
def test_what_is_cut_short_is_an_error_after_what_was_whole(tmp_path, style, share):
    whole = stored(tmp_path, style).read_bytes()
    cut = whole[: int(len(whole) * share)]
    pairs, error = read(tmp_path, cut, TEXT)
    assert error is not None and error.path == str(tmp_path / "query")
    assert "truncated" in str(error)
    complete = [b">%s\n%s\n" % (p.q_name.encode(), p.query) for p in pairs]
    assert len(pairs) < len(RECORDS) and complete == RECORDS[: len(pairs)]


def test_bgzip_without_its_last_block_is_truncated(tmp_path):
    path = stored(tmp_path, "bgzip")
    path.write_bytes(path.read_bytes()[:-28])
    with pytest.raises(InputError, match="truncated"):
        content(path)


@pytest.mark.parametrize("style", COMPRESSED)
def test_damage_is_an_error(tmp_path, style):
    path = stored(tmp_path, style)
    damaged = bytearray(path.read_bytes())
    for at in range(len(damaged) // 2, len(damaged) // 2 + 40):
        damaged[at] ^= 0x55
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=str(path)):
        content(path)


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_other_compressions_are_named(tmp_path, compress):
    path = tmp_path / "input"
    path.write_bytes(compress(TEXT))
    with pytest.raises(InputError, match="is compressed with"):
        Source(str(path))


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        Source(str(tmp_path / "none"))
    with pytest.raises(InputError, match="directory"):
        Source(str(tmp_path))
