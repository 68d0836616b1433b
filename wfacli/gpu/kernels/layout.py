"""Sizes of the kernels' scratch memory, as the sources in cuda/ define them."""

from __future__ import annotations

_ALIGNMENT = 256  # bytes; satisfies every access of the kernels
_CHUNK = 4096  # slots; enough to keep a block busy
_MAX_CHUNKS = 4096  # few enough for one block to sum quickly


def padded(nbytes: int) -> int:
    """Round a size in bytes up to the alignment of GPU memory."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


def gather_chunks(count: int) -> tuple[int, int]:
    """Return slots per chunk, and chunks, for cuda/common/cigar.cu, which needs 8 bytes of scratch per chunk."""
    chunk = max(_CHUNK, -(-count // _MAX_CHUNKS))
    chunk = -(-chunk // 4) * 4
    return chunk, max(1, -(-count // chunk))


def bits_diagonals(words: int, lanes: int) -> int:
    """Return the band width in diagonals of cuda/bits/bits.cu, given WFACLI_WORDS and WFACLI_LANES."""
    return 32 * words * lanes


def bits_stride(words: int, longest_target: int) -> int:
    """Return the workspace in bytes of a warp of cuda/bits/bits.cu for paths; without paths it needs none."""
    return 256 * words * longest_target


def bits_warps(lanes: int, count: int) -> int:
    """Return the warps, thus strides, of a launch of cuda/bits/bits.cu over `count` pairs."""
    return -(-count * lanes // 32)


def bits_provable(diagonals: int, query_len: int, target_len: int) -> int:
    """Return the distance below which a band of `diagonals` proves distances; 0 if it contains no path."""
    difference = query_len - target_len
    if abs(difference) >= diagonals:
        return 0
    origin = (diagonals - 1 - difference) // 2
    end = origin + difference
    return abs(difference) + 2 * (min(origin, end, diagonals - 1 - origin, diagonals - 1 - end) + 1)
