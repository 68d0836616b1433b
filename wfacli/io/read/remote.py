"""Objects that URLs name, such as s3://bucket/reads.fq.gz: read by ranges through fsspec, which is an extra.

Errors are OSErrors whose text (strerror) says what to do, and has no secrets.
"""

from __future__ import annotations

import errno
import io
import os
import queue
import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from ...errors import install
from .urls import check_url, is_url, without_secrets

T = TypeVar("T")

_ATTEMPTS, _FIRST_DELAY = 5, 0.5  # attempts of a request, and seconds before the second one; then twice as many
_ATTEMPTED_FOR = 30.0  # seconds, after which no further attempt is made
_MIN_RANGE, _MAX_RANGE = 1 << 18, 1 << 23  # bytes of a request: they grow while a file is read in order
_IN_FLIGHT = 3  # requests at a time
_AT_ONCE = 16  # requests at a time of ranges that are known before
_S3 = ("s3", "s3a")
# Stores without folders, in which an object appears when its upload is committed.
STORES = (*_S3, "gs", "gcs")
# botocore's own attempts of a request to read, and to write: what is sent in parts is not attempted again here.
_S3_ATTEMPTS, _S3_UPLOAD_ATTEMPTS = 2, 6
_NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError", "ProfileNotFound")
_NO_ACCESS = "access is denied: check the credentials, and what they allow"
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def filesystem(url: str, uploads: bool = False) -> tuple[Any, str]:
    """Return fsspec's file system of a URL, and the path in it.

    Args:
        url: of an object or a folder.
        uploads: True to write an object.

    Raises:
        UsageError: see check_url().
        OSError: no installed package knows such URLs.
    """
    check_url(url)
    protocol = url.partition("://")[0].lower()
    try:
        import fsspec
        from fsspec.config import conf

        options: dict[str, Any] = {}
        if protocol in _S3 and "config_kwargs" not in conf.get("s3", {}):
            attempts = _S3_UPLOAD_ATTEMPTS if uploads else _S3_ATTEMPTS
            options["config_kwargs"] = {"retries": {"mode": "standard", "max_attempts": attempts}}
        fs, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        if getattr(error, "name", None) in ("fsspec", "s3fs") or protocol in _S3:
            reason = f"URLs need fsspec, and s3:// needs s3fs: {install('s3')}"
        else:
            reason = f"{protocol}:// needs a further package: {error}"
        raise OSError(errno.ENOPKG, reason) from None
    except ValueError as error:
        raise OSError(errno.EINVAL, _words(error)) from None
    return fs, path


def attempted(request: Callable[[], T], ended: threading.Event | None = None) -> T:
    """Return the result of a request, which is made again if the network or the store failed.

    Args:
        request: makes the request.
        ended: if it is set, no further attempt is made.

    Raises:
        OSError: all attempts failed, or no other attempt can succeed.
    """
    delay, until = _FIRST_DELAY, time.monotonic() + _ATTEMPTED_FOR
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return request()
        except Exception as error:  # of any of fsspec's packages
            known = _known(error)
            last = attempt == _ATTEMPTS or time.monotonic() > until or (ended and ended.is_set())
            if known or last:
                reason = f"{_words(error)} (after {attempt} attempts)" if attempt > 1 else _words(error)
                raise known or OSError(errno.EIO, reason) from None
        if ended:
            ended.wait(delay)
        else:
            time.sleep(delay)
        delay *= 2
    raise AssertionError


def reason_of(error: Exception) -> str:
    """Return what is wrong, for a message, of an error of any of fsspec's packages."""
    known = _known(error)
    return known.strerror if known and known.strerror else _words(error)


def _known(error: Exception) -> OSError | None:
    """Return the error to raise if another attempt would fail, too; None if it may succeed."""
    name = type(error).__name__
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "there is no such object")
    if name in _NO_CREDENTIALS:
        reason = "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        return PermissionError(errno.EACCES, reason)
    if isinstance(error, PermissionError):
        words = _words(error)
        plain = words.lower() in ("forbidden", "access denied", "permission denied")
        return PermissionError(errno.EACCES, _NO_ACCESS if plain else f"{_NO_ACCESS} ({words})")
    faulty = IsADirectoryError | NotADirectoryError | NotImplementedError | ValueError | ImportError
    if isinstance(error, faulty) or (isinstance(error, OSError) and error.errno == errno.EINVAL):
        return OSError(errno.EINVAL, _words(error))
    return None


def _words(error: Exception) -> str:
    """Return the message of an error, one line without secrets."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    text = re.sub(r"\s+", " ", text).strip() or type(error).__name__
    for secret in filter(None, map(os.environ.get, _SECRETS)):
        text = text.replace(secret, "***")
    return without_secrets(text)


def size_of(url: str) -> int:
    """Return the size of an object in bytes. Raises OSError."""
    fs, path = filesystem(url)

    def request() -> int:
        fs.invalidate_cache()  # a listing may be older than the object
        found = fs.info(path)
        if found.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if found.get("size") is None:
            raise ValueError("the size of the object is not known, so that it cannot be read by ranges")
        return int(found["size"])

    return attempted(request)


class _Threads:
    """Threads that make requests. They end with the process, whose end must not wait for a network that is broken."""

    def __init__(self, count: int) -> None:
        """Start `count` threads."""
        self._waiting: queue.SimpleQueue[tuple[Future[bytes], Callable[[], bytes]] | None] = queue.SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._run, name="wfacli-remote", daemon=True).start()

    def submit(self, request: Callable[[], bytes]) -> Future[bytes]:
        """Have a thread make a request."""
        future: Future[bytes] = Future()
        self._waiting.put((future, request))
        return future

    def close(self) -> None:
        """Let the threads end after what they were given."""
        for _ in range(self._count):
            self._waiting.put(None)

    def _run(self) -> None:
        while waiting := self._waiting.get():
            future, request = waiting
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(request())
            except BaseException as error:  # raised by the reader
                future.set_exception(error)


class RemoteFile(io.RawIOBase):
    """An object that is read by ranges, some of which are requested ahead while it is read in order.

    Attributes:
        size: size in bytes.
        limit: offset behind which nothing is requested ahead.
    """

    def __init__(self, url: str) -> None:
        """Open an object. Raises OSError."""
        self._url = url
        self._ended = threading.Event()
        self._threads: _Threads | None = None
        self._ahead: deque[tuple[int, int, Future[bytes]]] = deque()  # (offset, bytes, request), one after another
        self.size = self.limit = size_of(url)
        self._fs, self._path = filesystem(url)
        self._range = _MIN_RANGE
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position, and return it."""
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read bytes at the position; return their number, 0 at the end. Raises OSError."""
        got = self.read_at(memoryview(buffer).cast("B"), self._position)
        self._position += got
        return got

    def read_at(self, view: memoryview, offset: int) -> int:
        """Read bytes at an offset; return their number, 0 at the end. Raises OSError."""
        if offset >= self.size or not len(view):
            return 0
        while self._ahead and not self._ahead[0][0] <= offset < self._ahead[0][0] + self._ahead[0][1]:
            self._ahead.popleft()[2].cancel()
        if not self._ahead:
            self._range = _MIN_RANGE
            self._request(offset, offset + _MIN_RANGE)
        begin, _, request = self._ahead[0]
        data = request.result()
        self._request_ahead()
        found = memoryview(data)[offset - begin : offset - begin + len(view)]
        view[: len(found)] = found
        return len(found)

    def _request_ahead(self) -> None:
        while len(self._ahead) < _IN_FLIGHT:
            begin = self._ahead[-1][0] + self._ahead[-1][1]
            if begin >= min(self.limit, self.size):
                return
            self._range = min(2 * self._range, _MAX_RANGE)
            self._request(begin, min(begin + self._range, self.limit))

    def _request(self, begin: int, end: int) -> None:
        if self._threads is None:
            self._threads = _Threads(_IN_FLIGHT)
        end = min(end, self.size)
        self._ahead.append((begin, end - begin, self._threads.submit(partial(self._fetched, begin, end))))

    def _fetched(self, begin: int, end: int) -> bytes:
        def request() -> bytes:
            # Only asynchronous file systems are safe to share: others get one for each thread, which fsspec keeps.
            fs = self._fs if self._fs.async_impl else filesystem(self._url)[0]
            data: bytes = fs.cat_file(self._path, start=begin, end=end)
            if len(data) != end - begin:
                raise EOFError(f"{len(data):,} of {end - begin:,} bytes were received: the object may have changed")
            return data

        return attempted(request, self._ended)

    def close(self) -> None:
        """Give up all requests."""
        self._ended.set()
        while self._ahead:
            self._ahead.popleft()[2].cancel()
        if self._threads:
            self._threads.close()
        super().close()


def open_binary(path: str) -> IO[bytes]:
    """Open a file or an object for reading at any offset. Raises OSError."""
    return io.BufferedReader(RemoteFile(path), _MIN_RANGE) if is_url(path) else Path(path).open("rb")


def stored_size(path: str) -> int:
    """Return the size of a file or an object in bytes. Raises OSError."""
    return size_of(path) if is_url(path) else Path(path).stat().st_size


def exists(path: str) -> bool:
    """Return True if there is a file or an object of this name. Raises OSError if that cannot be found out."""
    if not is_url(path):
        return Path(path).exists()
    try:
        size_of(path)
    except (FileNotFoundError, IsADirectoryError):
        return False
    return True


def modified(url: str) -> datetime:
    """Return when an object was written last. Raises OSError, also if the store does not know."""
    fs, inner = filesystem(url)
    found: datetime = attempted(lambda: fs.modified(inner))
    return found


def remove(path: str) -> None:
    """Remove a file or an object, if there is one. Raises OSError."""
    if not is_url(path):
        return Path(path).unlink(missing_ok=True)
    fs, inner = filesystem(path)
    if exists(path):
        attempted(lambda: fs.rm_file(inner))


def create_folder(path: str) -> None:
    """Create a folder, and those above it, unless it exists. Raises OSError."""
    if not is_url(path):
        return Path(path).mkdir(parents=True, exist_ok=True)
    fs, inner = filesystem(path)
    if path.partition("://")[0].lower() not in STORES:  # a store has no folders, and makedirs() might make a bucket
        attempted(lambda: fs.makedirs(inner, exist_ok=True))


def ranges_of(url: str, spans: list[tuple[int, int]]) -> Iterator[bytes]:
    """Yield the bytes of an object between offsets (begin, end), several requests at a time. Raises OSError."""
    fs, inner = filesystem(url)
    for at in range(0, len(spans), _AT_ONCE):
        begins, ends = zip(*spans[at : at + _AT_ONCE], strict=True)

        def request(begins: tuple[int, ...] = begins, ends: tuple[int, ...] = ends) -> list[bytes]:
            found: list[bytes] = fs.cat_ranges([inner] * len(begins), list(begins), list(ends), on_error="raise")
            return found

        yield from attempted(request)


def empty(path: str) -> bool:
    """Return True if there is no folder of this name, or nothing in a store under a URL. Raises OSError."""
    if not is_url(path):
        return not Path(path).exists()
    fs, inner = filesystem(path)

    def request() -> bool:
        fs.invalidate_cache()
        return not fs.exists(inner)

    return attempted(request)


def remove_folder(path: str, only_empty: bool = False) -> None:
    """Remove a folder, or all objects under a URL; with `only_empty`, only if it is empty. Raises OSError."""
    if not is_url(path):
        if only_empty:
            Path(path).rmdir()
        elif Path(path).exists():
            shutil.rmtree(path)
        return
    fs, inner = filesystem(path)
    fs.invalidate_cache()
    if only_empty:
        if path.partition("://")[0].lower() not in STORES:
            attempted(lambda: fs.rmdir(inner))
    elif attempted(lambda: fs.exists(inner)):
        attempted(lambda: fs.rm(inner, recursive=True))
