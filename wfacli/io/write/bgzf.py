"""BGZF, the gzip of BAM in blocks (SAM specification, section 4.1)."""

from __future__ import annotations

import struct

import deflate
from isal import isal_zlib

from ...core.batch import U8
from ..read.sources import BGZF_END

BLOCK_BYTES = 65_280  # uncompressed; even what cannot be compressed then fits the 64 KiB of a block
DEFAULT_LEVEL = 6
END = BGZF_END  # an empty block, after which nothing is missing

_HEADER = struct.Struct("<4BI2BH2B2H")
_FOOTER = struct.Struct("<2I")


def compressed(data: U8 | bytes, level: int = DEFAULT_LEVEL) -> list[bytes]:
    """Return data as BGZF blocks of BLOCK_BYTES each, the last of which may have fewer. Releases the GIL.

    Args:
        data: bytes of any number.
        level: 0 (stored) to 9, as of libdeflate.
    """
    view = memoryview(data) if isinstance(data, bytes) else data.data
    return [_block(view[at : at + BLOCK_BYTES], level) for at in range(0, len(view), BLOCK_BYTES)]


def _block(data: memoryview, level: int) -> bytes:
    # ISA-L is faster at its level 1, but one input in a thousand gets other bytes in another thread.
    body = deflate.deflate_compress(data, level)
    size = _HEADER.size + len(body) + _FOOTER.size
    # gzip with an extra field of 6 bytes: the subfield BC, of 2 bytes, is the size of the block less 1.
    header = _HEADER.pack(31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, size - 1)
    return b"".join((header, body, _FOOTER.pack(isal_zlib.crc32(data), len(data))))
