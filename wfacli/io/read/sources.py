"""Input streams: files or standard input, decompressed according to their first bytes."""

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

from .block_table import BlockTable
from .inflate import BLOCK, Ahead, Bgunzip, Gunzip
from .remote import RemoteFile
from .urls import is_url

T = TypeVar("T")

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNREAD = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
# Empty block at the end of every BGZF file (SAM specification, section 4.1.2).
BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_HEAD = 1 << 16
_AHEAD = 1 << 20
_MAGIC = 18
_NO_END = "truncated: the block that ends every BGZF file is missing"
_WORTH_THREADS = 1 << 18  # minimum compressed bytes for threads that inflate ahead
_MAX_THREADS = 8
NO_END = (1 << 63) - 1  # offset behind the last byte of a file of any size


class StoredBytes(io.RawIOBase):
    """The stored bytes: counts them, remembers the last 28, and can reread the first ones."""

    def __init__(self, file: io.FileIO | RemoteFile, position: int | None, end: int = NO_END) -> None:
        """Take a file, and the offsets of the first byte (None: the file's own position) and behind the last."""
        self._file = file
        self._position = position  # read offset, if the descriptor's own position must not change
        self.end = end  # offset behind the last byte to be read, if there is a position
        self._again = b""
        self.count = 0
        self.tail = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer; return their number, 0 at the end. Raises OSError."""
        view = memoryview(buffer)
        if self._again:
            got = min(len(view), len(self._again))
            view[:got], self._again = self._again[:got], self._again[got:]
            return got
        if self._position is None:
            got = self._file.readinto(buffer) or 0
        else:
            view = view[: max(self.end - self._position, 0)]
            if isinstance(self._file, RemoteFile):
                got = self._file.read_at(view, self._position)
            else:
                got = os.preadv(self._file.fileno(), [view], self._position)
            self._position += got
        if got:
            self.count += got
            self.tail = (self.tail + bytes(view[max(0, got - 28) : got]))[-28:]
        return got

    def first(self, count: int) -> bytes:
        """Return the first `count` bytes, or all if there are fewer; they will be read again."""
        head = b""
        while len(head) < count and (more := self.read(count - len(head))):
            head += more
        self._again = head
        return head

    def last(self, count: int) -> bytes:
        """Return the last bytes of a regular file, which stay unread; empty if it is remote. Raises OSError."""
        if isinstance(self._file, RemoteFile):
            return b""
        size = os.fstat(self._file.fileno()).st_size
        return os.pread(self._file.fileno(), count, max(size - count, 0))

    def hand_over(self) -> tuple[bytes, int, int]:
        """Return (unread bytes of first(), descriptor, position or -1), for another reader to continue; not remote."""
        again, self._again = self._again, b""
        return again, self._file.fileno(), -1 if self._position is None else self._position

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def opened(path: str) -> io.FileIO | RemoteFile:
    """Open a file, or the object that a URL names. Raises OSError."""
    return RemoteFile(path) if is_url(path) else io.FileIO(path)


def is_pipe(path: str) -> bool:
    """Return True if an input ("-" is standard input) can be read only once; False also if it does not exist."""
    try:
        mode = os.fstat(0) if path == "-" else os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    return not stat.S_ISREG(mode.st_mode)


class Source:
    """One input stream.

    Attributes:
        path: as the user named it; "-" is standard input.
        regular: True if it can be opened again to read the same bytes.
        size: stored size in bytes, or None if unknown.
        remote: True if the path is a URL, which only this class reads.
    """

    remote = False

    def __init__(self, path: str, called: str | None = None, *, plain: bool = False) -> None:
        """Open a path.

        Args:
            path: the path.
            called: what errors call it; None for the path.
            plain: it is known to be uncompressed, so that nothing is read, and waited for, until it is needed.

        Raises:
            InputError: it cannot be opened, or read.
        """
        self.path = called or path
        if not path:
            raise InputError("input", "the file name is empty")
        try:
            # Standard input keeps its descriptor and, if it is a file, its position: for SAM it is read twice.
            file = io.FileIO(0, closefd=False) if path == "-" else opened(path)
            if isinstance(file, RemoteFile):
                self.regular, size = True, file.size
            else:
                mode = os.fstat(file.fileno())
                self.regular, size = stat.S_ISREG(mode.st_mode), mode.st_size
            own_position = os.lseek(0, 0, os.SEEK_CUR) if self.regular and path == "-" else None
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
        self.size = size if self.regular else None
        self.remote = isinstance(file, RemoteFile)
        self._raw = StoredBytes(file, own_position)
        self._bgzf, self._plain, self._zstd = False, plain, False
        self._counted: Callable[[], int] = int  # 0
        self._head = bytearray()  # grows in place, and shrinks from its front without a copy of the rest
        self._stream: Any = self._raw if plain else self._decompressed()

    @property
    def seekable(self) -> bool:
        """True if it can be read at random offsets: an uncompressed or a BGZF file."""
        return self.regular and (self._plain or self._bgzf)

    @property
    def uncompressed(self) -> bool:
        """True if it is not compressed."""
        return self._plain

    @property
    def stored_as_is(self) -> bool:
        """True for an uncompressed regular file other than standard input; False for a URL."""
        return self.regular and self._plain and self.path != "-" and not self.remote

    @property
    def in_blocks(self) -> bool:
        """True for a regular BGZF file other than standard input; False for a URL."""
        return self.regular and self._bgzf and self.path != "-" and not self.remote

    @property
    def end(self) -> int:
        """Offset in the file behind the last stored byte to be read; NO_END for all of it."""
        return self._raw.end

    @property
    def common(self) -> bool:
        """True if other programs can be expected to read it: uncompressed or gzip, not zstd."""
        return not self._zstd

    @property
    def bytes_read(self) -> int:
        """Number of stored bytes read so far."""
        return self._raw.count + self._counted()

    @property
    def head(self) -> bytearray:
        """The decompressed bytes that were read and not consumed, not a copy: it must not be changed."""
        return self._head

    def read_ahead(self, size: int = _AHEAD) -> bool:
        """Append the next bytes to `head`, at most `size` of an uncompressed stream; return False at the end.

        Waits for no more than one byte. Raises InputError.
        """
        before = len(self._head)
        self._head += self._guarded(partial(self._stream.read, size)) if self._plain else self._inflated()
        return len(self._head) > before

    def peek(self, size: int = _HEAD) -> bytes:
        """Return at most `size` decompressed bytes from the beginning without consuming them. Raises InputError."""
        while len(self._head) < size and self.read_ahead(size - len(self._head)):
            pass
        with memoryview(self._head) as head:
            return bytes(head[:size])

    def inflate_ahead(self, threads: int) -> None:
        """Inflate ahead of the reader on extra threads, if the file is large enough.

        Several threads share the blocks of a BGZF file; one reads ahead in other compressed files. Pipes are read by
        the caller only, since a thread that waits for a pipe cannot be stopped.
        """
        if threads < 1 or not self.regular or self._plain or (self.size or 0) < _WORTH_THREADS:
            return
        if self._bgzf:
            self._blocks.use(min(threads, _MAX_THREADS))
        else:
            self._stream = io.BufferedReader(Ahead(self._stream), BLOCK)

    def readinto(self, buffer: U8) -> int:
        """Read decompressed bytes into an array; return their number, 0 at the end. Raises InputError."""
        if not self._head and not self._plain and len(buffer) < BLOCK:
            self._head += self._inflated()
        if self._head:
            got = min(len(self._head), len(buffer))
            with memoryview(self._head) as head:
                buffer.data[:got] = head[:got]
            del self._head[:got]
            return got
        view = buffer.data if self._plain else buffer.data[:BLOCK]  # see _inflated
        got = int(self._guarded(lambda: self._readinto(view)))
        if got == 0 and self._misses_end():
            raise InputError(self.path, _NO_END)
        return got

    def check_end(self) -> None:
        """Check what another program will read: raise InputError if the last block of a BGZF file is missing."""
        if self._bgzf and self.regular and not self.remote:
            tail = self._guarded(lambda: self._raw.last(len(BGZF_END)))
            if tail != BGZF_END:
                raise InputError(self.path, _NO_END)

    def keep_places(self) -> None:
        """Let stored_place() know the blocks of a BGZF file; call before anything is consumed. Raises InputError."""
        if not self._bgzf:
            return
        self._stream.close()
        self._head.clear()
        try:
            self._raw = StoredBytes(opened(self.path), None)
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
        self._stream = self._decompressed()  # again, since blocks may have been read to peek at their data
        self._blocks.table = BlockTable()

    def stored_place(self, offset: int) -> tuple[int, int]:
        """Return where a byte of the stream is stored, after keep_places(); offsets must not decrease.

        Args:
            offset: offset of a byte that was read, or of the one behind it, in the decompressed stream.

        Returns:
            (offset in the file, 0) if the file is uncompressed; else (offset of a BGZF block, offset in its data).

        Raises:
            InputError: the file is BGZF only in its beginning.
        """
        if self._plain:
            return offset, 0
        assert self._blocks.table
        if self._blocks.is_mixed:
            raise InputError(self.path, "is BGZF in its beginning and plain gzip after it: zcat FILE | bgzip > NEW")
        return self._blocks.table.find(offset)

    def hand_over(self, counted: Callable[[], int]) -> tuple[bytearray, int, int] | None:
        """Let another reader continue an uncompressed stream from its descriptor.

        Args:
            counted: returns the number of bytes that the other reader has read.

        Returns:
            (bytes already read, descriptor, position or -1); None if the stream is compressed, or a URL.
        """
        if not self._plain or self.remote:
            return None
        self._counted = counted
        again, descriptor, position = self._raw.hand_over()
        head, self._head = self._head, bytearray()
        head += again
        return head, descriptor, position

    def place_of(self, line: int) -> tuple[str, int]:
        """Return (file, line number in it) for a line of the stream, from 1; 0 stands for no line."""
        return self.path, line

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._stream.close()
        self._raw.close()

    def _misses_end(self) -> bool:
        """Return True if a BGZF file that was read to its end lacks the block that marks it."""
        return self._bgzf and self._raw.tail != BGZF_END

    def _decompressed(self) -> Any:
        magic = self._guarded(lambda: self._raw.first(_MAGIC))  # opening a directory succeeds, reading it fails
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
        if isinstance(self._stream, io.BufferedReader):  # its buffer is empty, so its raw stream can fill ours
            return self._stream.raw.readinto(view) or 0
        return int(self._stream.readinto1(view))

    def _inflated(self) -> bytes:
        """Return the next decompressed bytes. The size is fixed: the bytes returned before damage depend on it."""
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
