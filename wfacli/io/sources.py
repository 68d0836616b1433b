"""Input streams: files or standard input, decompressed by what their first bytes say."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ..batch import U8
from ..errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from isal import igzip
from isal.igzip_lib import IsalError

T = TypeVar("T")

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNREAD = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
# The empty block that ends every BGZF file (SAM specification, section 4.1.2).
_BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_HEAD = 1 << 16


class _Raw(io.RawIOBase):
    """The bytes as stored: counts them and remembers the last few."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.count = 0
        self.tail = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = self._file.readinto(buffer) or 0
        if got:
            self.count += got
            self.tail = (self.tail + bytes(memoryview(buffer)[max(0, got - 28) : got]))[-28:]
        return got

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

    def __init__(self, path: str) -> None:
        """Opens a path. Raises InputError."""
        self.path = path
        try:
            # Standard input keeps its descriptor: whoever started the program owns it.
            file = io.FileIO(0, closefd=False) if path == "-" else io.FileIO(path)
            mode = os.fstat(file.fileno())
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from None
        self.regular = stat.S_ISREG(mode.st_mode)
        self.size = mode.st_size if self.regular else None
        self._raw = _Raw(file)
        self._bgzf = False
        self._stream = self._decompressed(io.BufferedReader(self._raw, 1 << 20))
        self._head = b""

    @property
    def bytes_read(self) -> int:
        """Bytes as stored that have been read."""
        return self._raw.count

    def peek(self) -> bytes:
        """The first decompressed bytes, up to 64 KiB; they are still there to be read. Raises InputError."""
        while len(self._head) < _HEAD:
            block = self._guarded(lambda: self._stream.read(_HEAD - len(self._head)))
            if not block:
                break
            self._head += block
        return self._head

    def readinto(self, buffer: U8) -> int:
        """Reads decompressed bytes into an array; 0 at the end. Raises InputError."""
        if self._head:
            got = min(len(self._head), len(buffer))
            buffer.data[:got] = self._head[:got]
            self._head = self._head[got:]
            return got
        got = self._guarded(lambda: self._stream.readinto(buffer.data))
        if got == 0 and self._bgzf and self._raw.tail != _BGZF_END:
            raise InputError(self.path, "truncated: the block that ends every BGZF file is missing")
        return got

    def close(self) -> None:
        """Closes the file; standard input stays open."""
        self._stream.close()
        self._raw.close()

    def _decompressed(self, stored: io.BufferedReader) -> io.BufferedIOBase:
        try:
            magic = stored.peek(18)
        except OSError as error:  # a directory opens, but does not read
            raise InputError(self.path, error.strerror or str(error)) from None
        for start, name in _UNREAD.items():
            if magic.startswith(start):
                raise InputError(self.path, f"is compressed with {name}; gzip, bgzip and zstd are read")
        if magic.startswith(_GZIP):
            self._bgzf = len(magic) >= 14 and magic[3] & 4 != 0 and magic[12:14] == b"BC"
            opened: io.BufferedIOBase = igzip.IGzipFile(fileobj=stored, mode="rb")  # type: ignore[no-untyped-call]
            return opened
        if magic.startswith(_ZSTD):
            return zstd.ZstdFile(stored, "rb")
        return stored

    def _guarded(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except EOFError:
            raise InputError(self.path, "truncated: the compressed data ends in mid-stream") from None
        except InputError:
            raise
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
        except (IsalError, zstd.ZstdError) as error:  # type: ignore[misc]
            raise InputError(self.path, f"damaged compressed data ({error})") from None
