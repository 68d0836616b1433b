"""Decompression of gzip and BGZF streams, by threads that read ahead if there are any."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from isal import isal_zlib

from .block_table import BlockTable

BLOCK = 1 << 18
_STEP = 1 << 20  # approximate inflated bytes of a step
_GROUP = 1 << 18  # compressed bytes of BGZF blocks in a step
_MAX_BLOCKS = 32
_BLOCK_HEADER = 18
MAX_BLOCK = 1 << 16

_Part = tuple[bytes, BaseException | None]


class _Steps(io.RawIOBase):
    """A stream inflated in steps. Data before a fault is read before the fault is raised."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._ahead = 0
        self._begun: deque[Future[_Part]] = deque()
        self._waiting = memoryview(b"")
        self._fault: BaseException | None = None

    def use(self, threads: int) -> None:
        """Run steps ahead of the reader on `threads` threads."""
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="wfacli-inflate")
        self._ahead = threads + 2

    def _step(self) -> Callable[[], _Part] | None:
        """Return the next step, to be run by any thread; None after the last."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            if self._fault:
                raise self._fault
            part = self._next()
            if part is None:
                return 0
            self._waiting, self._fault = memoryview(part[0]), part[1]
        view = memoryview(buffer)
        count = min(len(view), len(self._waiting))
        view[:count], self._waiting = self._waiting[:count], self._waiting[count:]
        return count

    def _next(self) -> _Part | None:
        if self._pool is None:
            step = self._step()
            return step() if step else None
        while len(self._begun) < self._ahead and (step := self._step()):
            self._begun.append(self._pool.submit(step))
        return self._begun.popleft().result() if self._begun else None

    def close(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        super().close()


class Ahead(_Steps):
    """Another stream, read ahead by one thread."""

    def __init__(self, stream: Any) -> None:
        """Take over a stream that is not read elsewhere any more."""
        super().__init__()
        self._stream = stream
        self._later: BaseException | None = None
        self._ended = False
        self.use(1)

    def _step(self) -> Callable[[], _Part] | None:
        return None if self._ended else self._read

    def _read(self) -> _Part:
        parts: list[bytes] = []
        buffered = 0
        try:
            while buffered < _STEP and (part := self._stream.read1(BLOCK)):
                parts.append(part)
                buffered += len(part)
        except Exception as fault:  # raised in the reading thread
            return b"".join(parts), fault
        self._ended = buffered < _STEP
        return b"".join(parts), None

    def close(self) -> None:
        """Close this stream and the other one."""
        super().close()
        self._stream.close()


class Gunzip(io.RawIOBase):
    """The members of a gzip file, inflated. Data before a fault is read before the fault is raised."""

    def __init__(self, stored: io.BufferedReader[Any], begun: bytes = b"") -> None:
        """Take a stream and the bytes that were already read from it."""
        self._stored = stored
        self._member: Any = None
        self._waiting = begun

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Inflate into a buffer. Raises IsalError or EOFError."""
        view = memoryview(buffer)
        while True:
            if self._member is None and not self._next_member():
                return 0
            data = self._member.decompress(self._waiting, len(view))
            if self._member.eof:
                self._waiting, self._member = self._member.unused_data, None
            else:
                self._waiting = self._member.unconsumed_tail
            if data:
                view[: len(data)] = data
                return len(data)
            if self._member is not None and not self._waiting:
                self._waiting = self._stored.read1(BLOCK)
                if not self._waiting:
                    raise EOFError

    def _next_member(self) -> bool:
        # Zero bytes may pad the end of a file.
        while not (waiting := self._waiting.lstrip(b"\0")):
            self._waiting = self._stored.read1(BLOCK)
            if not self._waiting:
                return False
        self._waiting, self._member = waiting, isal_zlib.decompressobj(wbits=31)
        return True


class Bgunzip(_Steps):
    """The blocks of a BGZF file (SAM specification, 4.1); threads inflate them in parallel, since sizes are known."""

    def __init__(self, stored: io.BufferedReader[Any]) -> None:
        """Take a stream at its beginning."""
        super().__init__()
        self._stored = stored
        self._buffered = b""
        self._ended = False
        self._failed = False
        self._other: Gunzip | None = None  # reads the rest, from the first gzip member that is not a BGZF block
        self.table: BlockTable | None = None  # gets the blocks, if it is set before the first step

    @property
    def is_mixed(self) -> bool:
        """True if a gzip member that is not a BGZF block was found."""
        return self._other is not None

    def _step(self) -> Callable[[], _Part] | None:
        while not self._ended and self._other is None:
            more = self._stored.read1(BLOCK) if len(self._buffered) < _GROUP else b""
            buffered = self._buffered + more
            ended = not more and len(self._buffered) < _GROUP
            ends = _block_ends(buffered)
            if ends:
                self._buffered = buffered[ends[-1] :]
                if self.table:
                    self.table.add(buffered, ends)
                return lambda: _inflated(buffered, ends)
            self._buffered, self._ended = buffered, ended  # small blocks may take several steps after the last bytes
            if len(buffered) >= _BLOCK_HEADER and not block_size(buffered, 0):
                self._other = Gunzip(self._stored, buffered)
        if self._other is not None:
            part = self._rest(self._other)
            return (lambda: part) if any(part) else None
        if self._buffered:
            self._buffered = b""
            return lambda: (b"", EOFError())
        return None

    def _rest(self, other: Gunzip) -> _Part:
        if self._failed:
            return b"", None
        buffer = bytearray(BLOCK)
        try:
            return bytes(buffer[: other.readinto(buffer)]), None
        except Exception as fault:  # raised in the reading thread
            self._failed = True
            return b"", fault


def block_size(buffered: bytes, at: int) -> int:
    """Return the size in bytes of the BGZF block at an offset; 0 if there is none."""
    if buffered[at : at + 4] != b"\x1f\x8b\x08\x04" or buffered[at + 12 : at + 16] != b"BC\x02\x00":
        return 0
    return int.from_bytes(buffered[at + 16 : at + _BLOCK_HEADER], "little") + 1


def _block_ends(buffered: bytes) -> list[int]:
    """Return the ends of the complete blocks of a group."""
    ends: list[int] = []
    at = 0
    while at < _GROUP and len(ends) < _MAX_BLOCKS and at + _BLOCK_HEADER <= len(buffered):
        size = block_size(buffered, at)
        if size <= _BLOCK_HEADER or at + size > len(buffered):
            break
        at += size
        ends.append(at)
    return ends


def _inflated(buffered: bytes, ends: list[int]) -> _Part:
    view, parts, begin = memoryview(buffered), [], 0
    try:
        for end in ends:
            parts.append(isal_zlib.decompress(view[begin:end], 31, MAX_BLOCK))
            begin = end
    except Exception as fault:  # raised in the reading thread
        return b"".join(parts), fault
    return b"".join(parts), None
