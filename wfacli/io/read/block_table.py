"""Where the blocks of a BGZF stream are stored, for the recent part of the stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

_SIZE = 4  # bytes of the size of a block's data, which end the block (RFC 1952)


class BlockTable:
    """Offsets of blocks in a file and of their data in the inflated stream; forgets those before the last find()."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[int, int]] = deque([(0, 0)])  # the last one is the next to be added

    def add(self, buffered: bytes, ends: Sequence[int]) -> None:
        """Add the next blocks of the file: `buffered` begins with them, and `ends` are their ends in it."""
        stored, inflated = self._blocks[-1]
        begin = 0
        for end in ends:
            stored += end - begin
            inflated += int.from_bytes(buffered[end - _SIZE : end], "little")
            self._blocks.append((stored, inflated))
            begin = end

    def find(self, offset: int) -> tuple[int, int]:
        """Return (offset of a block in the file, offset in its data) for an offset in the inflated stream.

        Offsets must not decrease from one call to the next. The place of the end of a block is the next block.
        """
        while len(self._blocks) > 1 and self._blocks[1][1] <= offset:
            self._blocks.popleft()
        stored, inflated = self._blocks[0]
        return stored, offset - inflated
