"""How large the kernels' own memory is; pure arithmetic, from what the sources in cuda/ say."""

from __future__ import annotations

_ALIGNMENT = 256  # bytes; what every access of a kernel is content with
_CHUNK = 4096  # slots; enough for a block to be busy
_MOST_CHUNKS = 4096  # so that one block sums over them quickly


def padded(nbytes: int) -> int:
    """Bytes that a piece of the GPU's memory takes."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


def gather_chunks(count: int) -> tuple[int, int]:
    """Slots a chunk and chunks for cuda/common/cigar.cu; it needs 8 bytes of its own for each chunk."""
    chunk = max(_CHUNK, -(-count // _MOST_CHUNKS))
    chunk = -(-chunk // 4) * 4
    return chunk, max(1, -(-count // chunk))


def bits_diagonals(words: int, lanes: int) -> int:
    """Of the band of cuda/bits/bits.cu with WFACLI_WORDS and WFACLI_LANES."""
    return 32 * words * lanes


def bits_stride(words: int, longest_target: int) -> int:
    """Bytes of workspace that a warp of cuda/bits/bits.cu needs for the path; without the path it needs none."""
    return 256 * words * longest_target


def bits_warps(lanes: int, count: int) -> int:
    """Warps, thus strides, of a launch of cuda/bits/bits.cu over so many pairs."""
    return -(-count * lanes // 32)


def bits_provable(diagonals: int, query_len: int, target_len: int) -> int:
    """Distances below it are found by a band of so many diagonals; 0 if it holds no path at all."""
    apart = query_len - target_len
    if abs(apart) >= diagonals:
        return 0
    origin = (diagonals - 1 - apart) // 2
    end = origin + apart
    return abs(apart) + 2 * (min(origin, end, diagonals - 1 - origin, diagonals - 1 - end) + 1)
