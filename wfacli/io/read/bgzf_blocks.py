"""Random access to a BGZF file: blocks are inflated on demand, by an index (FILE.gzi from bgzip -r)."""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from isal import isal_zlib
from isal.igzip_lib import IsalError

from ...errors import InputError
from .inflate import MAX_BLOCK, block_size
from .unnamed import temporary_folder, unnamed_file

_ENTRY = struct.Struct("<QQ")  # offset of a block in the compressed file, and of its data in the inflated one
_BLOCKS_PER_TASK = 16  # blocks that a thread inflates at a time


class BgzfBlocks:
    """A BGZF file with an inflated copy in a temporary file, filled block by block; no block is inflated twice.

    Attributes:
        descriptor: of the temporary file, which has each inflated block at its final offset.
        starts: offset of each block in the temporary file.
        size: size of the complete inflated file, in bytes.
    """

    def __init__(self, path: str, threads: int = 1) -> None:
        """Open a file and its index.

        Raises:
            OSError: a file cannot be read.
            ValueError: the index does not match the file.
        """
        self._path, self._threads = path, threads
        index = Path(f"{path}.gzi").read_bytes()
        (count,) = struct.unpack_from("<Q", index + bytes(8))
        if len(index) != 8 + count * _ENTRY.size:
            raise ValueError("the index is truncated")
        places = [(0, 0), *_ENTRY.iter_unpack(index[8:])]
        if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(places)):
            raise ValueError("the index is not in order")
        self._stored = [stored for stored, _ in places]
        self.starts = [start for _, start in places]
        self._present: set[int] = set()
        self._file = Path(path).open("rb")  # noqa: SIM115 - open for the lifetime of this object
        self._inflated = unnamed_file()  # open for the lifetime of this object
        self.descriptor = self._inflated.fileno()
        self.size = self.starts[-1] + len(self._block(len(places) - 1))
        os.ftruncate(self.descriptor, self.size)

    def inflate(self, numbers: Iterable[int]) -> None:
        """Inflate those of the given blocks that are missing. Not thread-safe.

        Raises:
            InputError: a block is damaged or not where the index says, or the temporary file has no space.
        """
        wanted = [number for number in dict.fromkeys(numbers) if number not in self._present]
        tasks = [wanted[at : at + _BLOCKS_PER_TASK] for at in range(0, len(wanted), _BLOCKS_PER_TASK)]
        if len(tasks) > 1 and self._threads > 1:
            with ThreadPoolExecutor(self._threads, thread_name_prefix="wfacli-inflate") as pool:
                list(pool.map(self._inflate, tasks))
        else:
            for part in tasks:
                self._inflate(part)
        self._present.update(wanted)

    def read(self, count: int, at: int) -> bytes:
        """Read `count` bytes at offset `at`, fewer at the end of the file. Raises InputError."""
        if count > 0 and at < self.size:
            first, last = (bisect_right(self.starts, place) - 1 for place in (at, min(at + count, self.size) - 1))
            self.inflate(range(first, last + 1))
        return os.pread(self.descriptor, count, at)

    def _inflate(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            try:
                data = self._block(number)
            except (OSError, ValueError, IsalError) as error:  # type: ignore[misc]
                gzi = f"{self._path}.gzi"
                words = f"is damaged, or does not match its index: rebuild {gzi}, or remove it ({error})"
                raise InputError(self._path, words) from None
            try:
                if os.pwrite(self.descriptor, data, self.starts[number]) != len(data):
                    raise OSError("no space left")
            except OSError as error:
                where = temporary_folder()
                raise InputError(self._path, f"cannot be inflated in {where}: {error.strerror or error}") from None

    def _block(self, number: int) -> bytes:
        """Return a block, inflated. Raises OSError, ValueError or isal's error."""
        begin = self._stored[number]
        stored = os.pread(self._file.fileno(), MAX_BLOCK, begin)
        size = block_size(stored, 0)
        last = number + 1 == len(self._stored)
        if not 0 < size <= len(stored) or (not last and begin + size != self._stored[number + 1]):
            raise ValueError(f"no block of {number + 1:,}")
        data = isal_zlib.decompress(stored[:size], 31, MAX_BLOCK)
        if not last and self.starts[number] + len(data) != self.starts[number + 1]:
            raise ValueError(f"block {number + 1:,} has another length")
        return data
