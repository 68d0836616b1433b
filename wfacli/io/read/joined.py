"""Several files read as one concatenated stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...core.batch import U8
from .sources import Source

_LINE_FEED = 10
_NAMES = 2  # maximum file names in a message


class Joined(Source):
    """Concatenated text files; a missing line feed at the end of a file is added. See Source for the interface.

    Attributes:
        common: True if other programs can be expected to read all files.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        """Take open streams from which nothing has been read."""
        names = [source.path for source in sources]
        more = len(names) - _NAMES
        self.path = " and ".join(names) if more <= 0 else f"{', '.join(names[:_NAMES])} and {more} more"
        self.regular = all(source.regular for source in sources)
        sizes = [source.size for source in sources]
        self.size = None if None in sizes else sum(size or 0 for size in sizes)
        self._sources = list(sources)
        self._at = 0
        self._last = _LINE_FEED
        self._lines = 0  # line feeds so far
        self._begins = [0]  # lines before each file that has been started

    @property
    def common(self) -> bool:
        """See Source."""
        return all(source.common for source in self._sources)

    @property
    def bytes_read(self) -> int:
        """See Source."""
        return sum(source.bytes_read for source in self._sources)

    def peek(self, size: int = 1 << 16) -> bytes:
        """Return the first bytes of the first file; see Source."""
        return self._sources[0].peek(size)

    def inflate_ahead(self, threads: int) -> None:
        """See Source."""
        for source in self._sources:
            source.inflate_ahead(threads)

    def readinto(self, buffer: U8) -> int:
        """See Source."""
        while self._at < len(self._sources):
            got = self._sources[self._at].readinto(buffer)
            if got:
                self._last = int(buffer[got - 1])
                self._lines += int(np.count_nonzero(buffer[:got] == _LINE_FEED))
                return got
            self._at += 1
            if self._last != _LINE_FEED and self._at < len(self._sources):
                buffer[0] = self._last = _LINE_FEED
                self._lines += 1
                self._begins.append(self._lines)
                return 1
            self._begins.append(self._lines)
        return 0

    def hand_over(self, counted: Callable[[], int]) -> None:
        """Return None, since there is no single descriptor; see Source."""

    def place_of(self, line: int) -> tuple[str, int]:
        """See Source."""
        if not line:
            return self.path, 0
        which = max(i for i, before in enumerate(self._begins[: len(self._sources)]) if before < line)
        return self._sources[which].place_of(line - self._begins[which])

    def close(self) -> None:
        """Close all files."""
        for source in self._sources:
            source.close()
