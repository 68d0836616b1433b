"""How large the kernels' own memory is; pure arithmetic, from what the sources in cuda/ say."""

from __future__ import annotations

_CHUNK = 4096  # slots; enough for a block to be busy
_MOST_CHUNKS = 4096  # so that one block sums over them quickly


def gather_chunks(count: int) -> tuple[int, int]:
    """Slots a chunk and chunks for cuda/cigar.cu; it needs 8 bytes of its own for each chunk."""
    chunk = max(_CHUNK, -(-count // _MOST_CHUNKS))
    chunk = -(-chunk // 4) * 4
    return chunk, max(1, -(-count // chunk))
