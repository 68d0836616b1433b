"""Random access to an uncompressed file in a store: blocks of it are requested on demand."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...errors import InputError
from .remote import ranges_of, size_of
from .unnamed import temporary_folder, unnamed_file

_BLOCK = 1 << 20  # bytes of a request


class RemoteBlocks:
    """An object with a copy in a temporary file, filled block by block; no block is requested twice.

    Attributes:
        descriptor: of the temporary file, which has each block at its offset.
        starts: offset of each block.
        size: size of the object in bytes.
    """

    def __init__(self, url: str) -> None:
        """Open an object. Raises OSError."""
        self._url = url
        self.size = size_of(url)
        self.starts = range(0, max(self.size, 1), _BLOCK)
        self._present: set[int] = set()
        self._file = unnamed_file()  # open for the lifetime of this object
        self.descriptor = self._file.fileno()
        os.ftruncate(self.descriptor, self.size)

    def load(self, numbers: Iterable[int]) -> None:
        """Request those of the given blocks that are missing. Not thread-safe.

        Raises:
            InputError: the object cannot be read, or the temporary file has no space.
        """
        wanted = [number for number in dict.fromkeys(numbers) if number not in self._present]
        spans = [(self.starts[number], min(self.starts[number] + _BLOCK, self.size)) for number in wanted]
        try:
            for (begin, end), data in zip(spans, ranges_of(self._url, spans), strict=True):
                if len(data) != end - begin:
                    raise InputError(self._url, "has changed while it was read")
                self._keep(data, begin)
        except OSError as error:
            raise InputError(self._url, error.strerror or str(error)) from None
        self._present.update(wanted)

    def _keep(self, data: bytes, begin: int) -> None:
        try:
            if os.pwrite(self.descriptor, data, begin) != len(data):
                raise OSError("no space left")
        except OSError as error:
            where = temporary_folder()
            raise InputError(self._url, f"cannot be kept in {where}: {error.strerror or error}") from None

    def load_around(self, offsets: Iterable[int], size: int) -> None:
        """Request the blocks that have `size` bytes on each side of offsets, several at a time. Raises InputError."""
        last = len(self.starts) - 1
        places = {place // _BLOCK for at in offsets for place in (at - size, at + size)}
        self.load(sorted({min(max(place, 0), last) for place in places}))

    def read(self, count: int, at: int) -> bytes:
        """Read `count` bytes at offset `at`, fewer at the end of the object. Raises InputError."""
        if count > 0 and at < self.size:
            self.load(range(at // _BLOCK, (min(at + count, self.size) - 1) // _BLOCK + 1))
        return os.pread(self.descriptor, count, at)
