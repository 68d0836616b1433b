"""Compressed and plain streams: complete, damaged and truncated."""

import bz2
import contextlib
import gzip
import lzma
import os
import random
import sys
import time

import numpy as np
import pysam
import pytest

from tests.unit.reading import read
from wfacli.errors import InputError
from wfacli.io.read import inflate, sources
from wfacli.io.read.sources import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RECORDS = [b">read%d\n%s\n" % (i, bytes(random.Random(i).choices(b"ACGT", k=40))) for i in range(4000)]
TEXT = b"".join(RECORDS)  # larger than one block of every format
HALF = len(TEXT) // 2


def bgzip(text, folder):
    plain, packed = folder / "plain", folder / "packed.bgz"
    plain.write_bytes(text)
    pysam.tabix_compress(str(plain), str(packed), force=True)
    return packed.read_bytes()


def zstandard(text):
    return zstd.compress(text, options={zstd.CompressionParameter.checksum_flag: 1})  # as the zstd command does


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


def content(path, room=10_000, threads=0):
    source, found = Source(str(path)), b""
    try:
        source.inflate_ahead(threads)
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


@pytest.fixture
def any_size(monkeypatch):
    """Let threads decompress files of any size, a few blocks at a time."""
    monkeypatch.setattr(sources, "_WORTH_THREADS", 0)
    monkeypatch.setattr(inflate, "_MAX_BLOCKS", 1)
    monkeypatch.setattr(inflate, "BLOCK", 5000)
    monkeypatch.setattr(inflate, "_STEP", 7000)


def what_came(path, threads):
    """Return all bytes up to the end or an error, and the error."""
    source, found = Source(str(path)), b""
    source.inflate_ahead(threads)
    buffer = np.zeros(10_000, np.uint8)
    try:
        while got := source.readinto(buffer):
            found += buffer[:got].tobytes()
    except InputError as error:
        return found, str(error)
    finally:
        source.close()
    return found, None


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("style", COMPRESSED)
def test_threads_inflate_the_same(tmp_path, any_size, style, threads):
    path = stored(tmp_path, style)
    whole = path.read_bytes()
    assert content(path, threads=threads) == TEXT
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0x55
    for broken in (whole[: len(whole) // 2], whole[:-3], whole + b"\0" * 100, whole + b"x", b""):
        path.write_bytes(broken)
        assert what_came(path, threads) == what_came(path, 0)
    path.write_bytes(damaged)
    # How many damaged bytes come before the error is found depends on the step size.
    (ahead, fault), (found, expected) = what_came(path, threads), what_came(path, 0)
    assert fault and expected and (ahead.startswith(found) or found.startswith(ahead))


@pytest.mark.parametrize("threads", [0, 3])
def test_members_of_other_kinds_may_follow_blocks(tmp_path, any_size, threads):
    path = tmp_path / "input"
    path.write_bytes(bgzip(TEXT, tmp_path) + gzip.compress(TEXT) + bgzip(TEXT, tmp_path) + gzip.compress(b""))
    found, error = what_came(path, threads)
    assert found == TEXT * 3 and "every BGZF file" in error
    path.write_bytes(path.read_bytes() + bgzip(b"", tmp_path))
    assert what_came(path, threads) == (TEXT * 3, None)


@pytest.mark.parametrize("threads", [0, 3])
def test_what_was_looked_at_before_threads_began_is_read(tmp_path, any_size, threads):
    for style in COMPRESSED:
        source = Source(str(stored(tmp_path, style)))
        assert source.peek(100) == TEXT[:100]
        source.inflate_ahead(threads)
        buffer = np.zeros(len(TEXT) + 1, np.uint8)
        got = 0
        while more := source.readinto(buffer[got:]):
            got += more
        assert buffer[:got].tobytes() == TEXT
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


def test_a_long_head_is_consumed_in_linear_time(tmp_path):
    """Without that, what is left would be copied for each piece: half a minute."""
    (tmp_path / "x").write_bytes(bytes(1 << 26))
    source, buffer = Source(str(tmp_path / "x")), np.empty(1 << 14, np.uint8)
    started = time.process_time()
    assert len(source.peek(1 << 26)) == 1 << 26
    while source.readinto(buffer):
        pass
    assert time.process_time() - started < 5
    source.close()


def test_what_is_known_to_be_plain_is_not_waited_for():
    """A mapper may take minutes to its first line."""
    ours, theirs = os.pipe()
    with contextlib.closing(Source(f"/dev/fd/{ours}", "pipe", plain=True)) as source:
        os.close(ours)
        os.write(theirs, RECORDS[0])
        os.close(theirs)
        assert source.peek(1) == b">" and source.uncompressed
        buffer, text = np.zeros(1000, np.uint8), b""
        while got := source.readinto(buffer):
            text += bytes(buffer[:got])
        assert text == RECORDS[0]
