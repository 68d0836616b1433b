"""Objects that are written to URLs: none has its name before it is complete."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
from typing import Any

from ...errors import OutputError, UsageError
from ..read.remote import STORES, filesystem, reason_of

_BLOCK = 1 << 25  # bytes of a part of an upload
_PARTS_PER_SIZE = 2000  # parts of one size, then of twice that: a store accepts 10,000, which are then 2 TB
_CHUNK, _WAITING = 1 << 20, 32  # bytes of a chunk, and chunks that wait for the network
_RANDOM = 4  # random bytes in a temporary name
_ENDS_WITHIN = 10.0  # seconds to remove what was sent


class Upload:
    """An upload in progress: a thread sends what write() gets."""

    def __init__(self, url: str) -> None:
        """Begin. Raises OutputError; UsageError: the URL contains credentials."""
        self._url = url
        try:
            self._fs, self._path = filesystem(url, uploads=True)
            # Elsewhere a file is written under another name, and renamed.
            commits = url.partition("://")[0].lower() in STORES
            self._partial = None if commits else f"{self._path}.partial-{secrets.token_hex(_RANDOM)}"
            options: dict[str, Any] = {"autocommit": False, "block_size": _BLOCK} if commits else {}
            self._file = self._fs.open(self._partial or self._path, "wb", **options)
        except UsageError:
            raise
        except Exception as error:  # of any of fsspec's packages
            raise self._failed(error) from None
        self._sent = 0
        self._waiting: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._problem: Exception | None = None
        self._abandoned = self._ended = self._complete = False
        self._thread = threading.Thread(target=self._send, name="wfacli-upload", daemon=True)
        self._thread.start()

    def write(self, data: memoryview) -> None:
        """Add bytes. Raises OutputError if those before could not be sent."""
        for at in range(0, len(data), _CHUNK):
            if self._problem:
                raise self._failed(self._problem) from None
            self._waiting.put(bytes(data[at : at + _CHUNK]))

    def commit(self) -> None:
        """Send the rest; the object then has its name. Raises OutputError."""
        self._end()
        try:
            if self._problem:
                raise self._problem
            self._file.close()
            if self._partial is None:
                self._file.commit()
            else:
                self._fs.mv(self._partial, self._path)
            self._complete = True
        except Exception as error:  # of any of fsspec's packages
            raise self._failed(error) from None
        finally:
            self._fs.invalidate_cache()

    def abandon(self) -> None:
        """Stop, and remove what was sent; an object that has its name stays."""
        if self._complete:
            return
        self._abandoned = True
        # By a thread that ends with the process: where the network is broken, its end is not waited for.
        undoing = threading.Thread(target=self._discard, name="wfacli-discard", daemon=True)
        undoing.start()
        undoing.join(_ENDS_WITHIN)

    def _discard(self) -> None:
        self._end()
        with contextlib.suppress(Exception):  # the error that led here is the one to report
            if self._partial is None:
                self._file.discard()
                self._file.closed = True  # else its destructor would send the rest
            else:
                self._file.close()
                self._fs.rm_file(self._partial)

    def _failed(self, error: Exception) -> OutputError:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such bucket or folder" if missing else reason_of(error)
        return OutputError(f"{self._url}: cannot be written: {reason}")

    def _end(self) -> None:
        """Wait until the thread has ended."""
        if not self._ended:
            self._ended = True
            self._waiting.put(None)
            self._thread.join()

    def _send(self) -> None:
        while (chunk := self._waiting.get()) is not None:
            if self._problem or self._abandoned:
                continue  # write() must not wait for ever
            try:
                self._file.write(chunk)
                self._sent += len(chunk)
                if self._partial is None and self._sent >= _PARTS_PER_SIZE * self._file.blocksize:
                    self._sent, self._file.blocksize = 0, 2 * self._file.blocksize
            except Exception as error:  # raised by write() or commit()
                self._problem = error
