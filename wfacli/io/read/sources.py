"""Input streams: files or standard input, decompressed by what their first bytes say."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ...core.batch import U8
from ...errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from isal.igzip_lib import IsalError

from .inflate import BLOCK, Ahead, Bgunzip, Gunzip

T = TypeVar("T")

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNREAD = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
# The empty block that ends every BGZF file (SAM specification, section 4.1.2).
BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_HEAD = 1 << 16
_MAGIC = 18
_WORTH_THREADS = 1 << 18  # bytes as stored
_MOST_THREADS = 8


class _Raw(io.RawIOBase):
    """The bytes as stored: counts them, remembers the last few, and takes the first ones back."""

    def __init__(self, file: io.FileIO, position: int | None) -> None:
        self._file = file
        self._position = position  # where to read, for a descriptor whose own position is left alone
        self._again = b""
        self.count = 0
        self.tail = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._again:
            got = min(len(view), len(self._again))
            view[:got], self._again = self._again[:got], self._again[got:]
            return got
        if self._position is None:
            got = self._file.readinto(buffer) or 0
        else:
            got = os.preadv(self._file.fileno(), [view], self._position)
            self._position += got
        if got:
            self.count += got
            self.tail = (self.tail + bytes(view[max(0, got - 28) : got]))[-28:]
        return got

    def first(self, count: int) -> bytes:
        """The first `count` bytes, or all if there are fewer; they will be read again."""
        head = b""
        while len(head) < count and (more := self.read(count - len(head))):
            head += more
        self._again = head
        return head

    def hand_over(self) -> tuple[bytes, int, int]:
        """(what first() gave back and nobody read since, descriptor, position or -1) for whoever reads on."""
        again, self._again = self._again, b""
        return again, self._file.fileno(), -1 if self._position is None else self._position

    def close(self) -> None:
        self._file.close()
        super().close()


class Source:
    """One input stream.

    Attributes:
        path: as the user named it; "-" is standard input.
        regular: whether it can be opened again to read the same bytes.
        size: bytes as stored, or None where that is unknown.
    """

    def __init__(self, path: str, called: str | None = None) -> None:
        """Opens a path, which errors call by another name where one is given. Raises InputError."""
        self.path = called or path
        if not path:
            raise InputError("input", "the file name is empty")
        try:
            # Standard input keeps its descriptor, and where it is a file its position: it is read twice for SAM.
            file = io.FileIO(0, closefd=False) if path == "-" else io.FileIO(path)
            mode = os.fstat(file.fileno())
            self.regular = stat.S_ISREG(mode.st_mode)
            own_position = os.lseek(0, 0, os.SEEK_CUR) if self.regular and path == "-" else None
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
        self.size = mode.st_size if self.regular else None
        self._raw = _Raw(file, own_position)
        self._bgzf = self._plain = self._zstd = False
        self._counted: Callable[[], int] = int  # 0
        self._head = b""
        self._stream = self._decompressed()

    @property
    def seekable(self) -> bool:
        """Whether others can look something up in it: stored as it is, or in BGZF's blocks."""
        return self.regular and (self._plain or self._bgzf)

    @property
    def stored_as_is(self) -> bool:
        """Whether it is a file of its own, and not compressed."""
        return self.regular and self._plain and self.path != "-"

    @property
    def in_blocks(self) -> bool:
        """Whether it is a file of its own of BGZF's blocks."""
        return self.regular and self._bgzf and self.path != "-"

    @property
    def common(self) -> bool:
        """Whether other programs can be expected to read it: stored as it is, or as gzip."""
        return not self._zstd

    @property
    def bytes_read(self) -> int:
        """Bytes as stored that have been read."""
        return self._raw.count + self._counted()

    def peek(self, most: int = _HEAD) -> bytes:
        """The first decompressed bytes, `most` if there are so many; they are still there to be read.

        Raises InputError.
        """
        head = bytearray(self._head)  # bytes would be copied for each block
        while len(head) < most:
            left = most - len(head)
            block = self._guarded(partial(self._stream.read, left)) if self._plain else self._inflated()
            if not block:
                break
            head += block
        if len(head) > len(self._head):
            self._head = bytes(head)
        return self._head[:most]

    def inflate_ahead(self, threads: int) -> None:
        """Lets threads beside the caller's inflate what it reads next, where there is enough of it.

        Those of a file of BGZF's blocks share it; of other compressed files one reads ahead. A pipe is left to who
        reads it: nobody could end a thread that waits for it.
        """
        if threads < 1 or not self.regular or self._plain or (self.size or 0) < _WORTH_THREADS:
            return
        if self._bgzf:
            self._blocks.use(min(threads, _MOST_THREADS))
        else:
            self._stream = io.BufferedReader(Ahead(self._stream), BLOCK)

    def readinto(self, buffer: U8) -> int:
        """Reads decompressed bytes into an array; 0 at the end. Raises InputError."""
        if not self._head and not self._plain and len(buffer) < BLOCK:
            self._head = self._inflated()
        if self._head:
            got = min(len(self._head), len(buffer))
            buffer.data[:got] = self._head[:got]
            self._head = self._head[got:]
            return got
        view = buffer.data if self._plain else buffer.data[:BLOCK]  # see _inflated
        got = int(self._guarded(lambda: self._readinto(view)))
        if got == 0 and self._bgzf and self._raw.tail != BGZF_END:
            raise InputError(self.path, "truncated: the block that ends every BGZF file is missing")
        return got

    def hand_over(self, counted: Callable[[], int]) -> tuple[bytes, int, int] | None:
        """Leaves the rest of a stream that is not compressed to whoever reads its descriptor.

        Args:
            counted: how many bytes they have read.

        Returns:
            (bytes that were read already, descriptor, position or -1); None where the stream is compressed.
        """
        if not self._plain:
            return None
        self._counted = counted
        again, descriptor, position = self._raw.hand_over()
        return self._head + again, descriptor, position

    def place_of(self, line: int) -> tuple[str, int]:
        """(file, line in it) of a line of the stream, from 1; 0: of none."""
        return self.path, line

    def close(self) -> None:
        """Closes the file; standard input stays open."""
        self._stream.close()
        self._raw.close()

    def _decompressed(self) -> Any:
        magic = self._guarded(lambda: self._raw.first(_MAGIC))  # a directory opens, but does not read
        for start, name in _UNREAD.items():
            if magic.startswith(start):
                raise InputError(self.path, f"is compressed with {name}; gzip, bgzip and zstd are read")
        self._zstd = magic.startswith(_ZSTD)
        self._plain = not magic.startswith((_GZIP, _ZSTD))
        if self._plain:
            return self._raw
        stored = io.BufferedReader(self._raw, BLOCK)
        if not magic.startswith(_GZIP):
            return zstd.ZstdFile(stored, "rb")
        self._bgzf = len(magic) >= 14 and magic[3] & 4 != 0 and magic[12:14] == b"BC"
        if not self._bgzf:
            return io.BufferedReader(Gunzip(stored), BLOCK)
        self._blocks = Bgunzip(stored)
        return io.BufferedReader(self._blocks, BLOCK)

    def _readinto(self, view: memoryview) -> int:
        if self._plain:
            return int(self._stream.readinto(view))
        if isinstance(self._stream, io.BufferedReader):  # it is empty: what fills it can fill another's
            return self._stream.raw.readinto(view) or 0
        return int(self._stream.readinto1(view))

    def _inflated(self) -> bytes:
        """The next decompressed bytes; always as many are asked for, since what comes before damage depends on it."""
        block: bytes = self._guarded(lambda: self._stream.read1(BLOCK))
        return block

    def _guarded(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except EOFError:
            raise InputError(self.path, "truncated: the compressed data ends in mid-stream") from None
        except (IsalError, zstd.ZstdError) as error:  # type: ignore[misc]
            raise InputError(self.path, f"damaged compressed data ({error})") from None
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
