"""Mutations of files, accidental or malicious."""

from __future__ import annotations

import gzip
import hashlib
import random
from collections.abc import Callable

from tests.cli.support import BGZF_END, bgzf, bgzf_blocks, zstd

Change = Callable[[random.Random, bytes], bytes]

_BYTES = [bytes([byte]) for byte in b"\0\r\n\t >@+<-*=0,\x1b\x7f\xff"]
_NUMBERS = [b"-1", b"0", b"1", b"1e9", b"nan", b"9" * 400]
_NUMBERS += [b"%d" % value for value in (2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)]
_WORDS = [
    *_NUMBERS,
    *(b"", b"*", b"=", b"\xf0\x9f\xa7\xac", b"\x1b[2J", b"a" * 300, b"N" * 5000, b"10M5N3M", b"0M", b"9M" * 70_000),
    *(b"BAM\1", b"CRAM", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"@SQ\tSN:x\tLN:5", b"../../x", b"-o"),
]


def _at(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _piece(rng: random.Random, data: bytes) -> tuple[int, int]:
    begin = _at(rng, data)
    return begin, min(len(data), begin + rng.choice([1, 2, 4, 16, 100, 1000]))


def flip(rng: random.Random, data: bytes) -> bytes:
    """Flip a few bits."""
    some = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if some:
            some[rng.randrange(len(some))] ^= 1 << rng.randrange(8)
    return bytes(some)


def insert(rng: random.Random, data: bytes) -> bytes:
    """Insert a byte or a meaningful word."""
    at = _at(rng, data)
    return data[:at] + rng.choice(rng.choice([_BYTES, _WORDS])) + data[at:]


def replace(rng: random.Random, data: bytes) -> bytes:
    """Replace some bytes."""
    begin, end = _piece(rng, data)
    return data[:begin] + rng.choice([rng.choice(_BYTES), rng.choice(_WORDS), rng.randbytes(end - begin)]) + data[end:]


def field(rng: random.Random, data: bytes) -> bytes:
    """Replace a column of a line by a word."""
    lines = data.split(b"\n")
    number = rng.randrange(len(lines))
    columns = lines[number].split(b"\t")
    columns[rng.randrange(len(columns))] = rng.choice(_WORDS)
    lines[number] = b"\t".join(columns)
    return b"\n".join(lines)


def number(rng: random.Random, data: bytes) -> bytes:
    """Replace four bytes by an integer that is small, large or negative."""
    at = _at(rng, data)
    value = rng.choice([0, 1, 255, 65_535, 65_536, 1 << 24, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data)])
    return data[:at] + value.to_bytes(4, "little") + data[at + 4 :]


def drop(rng: random.Random, data: bytes) -> bytes:
    """Delete some bytes."""
    begin, end = _piece(rng, data)
    return data[:begin] + data[end:]


def cut(rng: random.Random, data: bytes) -> bytes:
    """Truncate the file."""
    return data[: _at(rng, data)]


def twice(rng: random.Random, data: bytes) -> bytes:
    """Duplicate a part, or the whole content."""
    begin, end = rng.choice([_piece(rng, data), (0, len(data))])
    return data[:end] + data[begin:end] + data[end:]


def lines_moved(rng: random.Random, data: bytes) -> bytes:
    """Delete, duplicate or reorder lines."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(3)
    if way == 0:
        del lines[one]
    elif way == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def huge_line(rng: random.Random, data: bytes) -> bytes:
    """Insert 70,000 or 600,000 equal bytes into a line."""
    at = _at(rng, data)
    return data[:at] + rng.choice([b"A", b"n", b" ", b"\t", b"9", b"\0"]) * rng.choice([70_000, 600_000]) + data[at:]


def line_ends(rng: random.Random, data: bytes) -> bytes:
    """Change the line endings, or remove the last one."""
    return rng.choice(
        [data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"), data.rstrip(b"\n"), data.replace(b"\n", b"\n\n")]
    )


def encoding(rng: random.Random, data: bytes) -> bytes:
    """Encode as UTF-16, or add a UTF-8 byte order mark."""
    text = data.decode("latin-1")
    return rng.choice([text.encode("utf-16"), text.encode("utf-16-le"), b"\xef\xbb\xbf" + data])


def magic(rng: random.Random, data: bytes) -> bytes:
    """Replace the start of the file by another format's magic bytes."""
    heads = [b"BAM\1", b"CRAM\3\0", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"BZh9", b"PK\3\4", b"@HD\tVN:1.6\n"]
    heads += [b">", b"@"]
    return rng.choice(heads) + data[rng.choice([0, 1, 4]) :]


def nothing(_rng: random.Random, data: bytes) -> bytes:
    """Return the content unchanged."""
    return data


PLAIN: list[Change] = [flip, insert, replace, field, number, drop, cut, twice, lines_moved, huge_line]
PLAIN += [line_ends, encoding, magic]


# Compressed


def _gzip(rng: random.Random, data: bytes) -> bytes:
    way = rng.randrange(4)
    if way == 0:  # several members
        at = _at(rng, data)
        return gzip.compress(data[:at], 1) + b"\0" * rng.choice([0, 5]) + gzip.compress(data[at:], 1)
    if way == 1:  # trailing data
        return gzip.compress(data, 1) + rng.choice([b"\0", b"x", b"\x1f\x8b", bgzf(b""), zstd(b"x")])
    return gzip.compress(data, 1)


def _bgzf(rng: random.Random, data: bytes) -> bytes:
    blocks = bgzf_blocks(data, rng.choice([50, 4096]))
    way = rng.randrange(5)
    if way == 0 and blocks:
        del blocks[rng.randrange(len(blocks))]
    elif way == 1:
        blocks.insert(rng.randrange(len(blocks) + 1), rng.choice([BGZF_END, gzip.compress(b"x\n", 1)]))
    end = BGZF_END if way != 2 else rng.choice([b"", BGZF_END[:10], BGZF_END * 2])
    return b"".join(blocks) + end


def _zstd(rng: random.Random, data: bytes) -> bytes:
    at = _at(rng, data)
    return rng.choice([zstd(data), zstd(data[:at]) + zstd(data[at:])])


def packed(rng: random.Random, data: bytes) -> bytes:
    """Compress a file in some format, and perhaps damage the result."""
    found = rng.choice([_gzip, _bgzf, _zstd])(rng, data)
    return rng.choice([nothing, nothing, flip, cut, drop, number, twice, replace])(rng, found)


def mutated(rng: random.Random, data: bytes, may_pack: bool) -> bytes:
    """Return a file's content with one or a few changes, sometimes compressed."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        data = rng.choice(PLAIN)(rng, data)
    return packed(rng, data) if may_pack and rng.random() < 0.25 else data


def inside_bgzf(rng: random.Random, data: bytes) -> bytes:
    """Change the decompressed content of a BGZF file and compress it again; or change the file itself."""
    if rng.random() < 0.25:
        return rng.choice([flip, cut, drop, number, twice, replace, insert])(rng, data)
    plain = gzip.decompress(data)
    for _ in range(rng.choice([1, 1, 2])):
        plain = rng.choice([flip, number, number, drop, cut, twice, replace, insert])(rng, plain)
    return rng.choice([bgzf(plain), gzip.compress(plain, 1), _bgzf(rng, plain)])


def resealed(rng: random.Random, data: bytes) -> bytes:
    """Change a checkpoint, in half of the cases with a matching hash."""
    if rng.random() < 0.5:
        return mutated(rng, data, True)
    title, head, rest = data.split(b"\n", 2)
    changes = [flip, insert, replace, drop, number]
    if rng.random() < 0.7:
        head = rng.choice(changes)(rng, head)
    else:
        rest = rng.choice([*changes, cut])(rng, rest)
    whole = title + b"\n" + head + b"\n" + rest[:-32]
    return whole + hashlib.blake2b(whole, digest_size=32).digest()
