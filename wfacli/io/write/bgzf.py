"""BGZF, the gzip of BAM in blocks (SAM specification, section 4.1)."""

from __future__ import annotations

import ctypes
import functools
import struct
from typing import NamedTuple

import deflate
import numpy as np
from deflate import _deflate
from isal import isal_zlib

from ..._native import bgzf_blocks
from ...core.batch import I64, U8
from ..read.sources import BGZF_END

BLOCK_BYTES = 65_280  # uncompressed; even what cannot be compressed then fits the 64 KiB of a block
DEFAULT_LEVEL = 6
END = BGZF_END  # an empty block, after which nothing is missing

_HEADER = struct.Struct("<4BI2BH2B2H")
_FOOTER = struct.Struct("<2I")
_FUNCTIONS = ("alloc_compressor", "deflate_compress", "free_compressor", "crc32")


class Blocks(NamedTuple):
    """BGZF blocks.

    Attributes:
        data: their bytes.
        sizes: i64[n], the size of each in bytes.
    """

    data: U8 | bytes
    sizes: I64


def compressed(data: U8 | bytes, level: int = DEFAULT_LEVEL) -> Blocks:
    """Return data as BGZF blocks of BLOCK_BYTES each, the last of which may have fewer. Releases the GIL.

    Args:
        data: bytes of any number.
        level: 0 (stored) to 9, as of libdeflate.
    """
    # One call for all blocks: with a call for each, 16 threads would wait for the GIL half of the time.
    if functions := _libdeflate():
        return Blocks(*bgzf_blocks(np.frombuffer(data, np.uint8), BLOCK_BYTES, level, functions))
    return one_by_one(data, level)


def one_by_one(data: U8 | bytes, level: int) -> Blocks:
    """Return what compressed() does by a call for each block, which works with any build of the package deflate."""
    view = memoryview(data) if isinstance(data, bytes) else data.data
    blocks = [_block(view[at : at + BLOCK_BYTES], level) for at in range(0, len(view), BLOCK_BYTES)]
    return Blocks(b"".join(blocks), np.array([len(block) for block in blocks], np.int64))


@functools.cache
def _libdeflate() -> tuple[int, ...] | None:
    """Return the addresses of libdeflate's functions in the package deflate; None if they are hidden there."""
    try:
        library = ctypes.CDLL(_deflate.__file__)
        found = [ctypes.cast(getattr(library, f"libdeflate_{name}"), ctypes.c_void_p).value for name in _FUNCTIONS]
    except (OSError, AttributeError):
        return None
    return tuple(address for address in found if address)


def _block(data: memoryview, level: int) -> bytes:
    # ISA-L is faster at its level 1, but one input in a thousand gets other bytes in another thread.
    body = deflate.deflate_compress(data, level)
    size = _HEADER.size + len(body) + _FOOTER.size
    # gzip with an extra field of 6 bytes: the subfield BC, of 2 bytes, is the size of the block less 1.
    header = _HEADER.pack(31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, size - 1)
    return b"".join((header, body, _FOOTER.pack(isal_zlib.crc32(data), len(data))))
